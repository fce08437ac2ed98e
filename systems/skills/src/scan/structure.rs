//! Rules on the folder of a skill, whatever its texts say.

use super::finding::{Finding, Severity};
use super::folder::{Folder, Kind, TOTAL_BYTES_MAX};
use super::front_matter::FrontMatter;

/// The characters that a description may have.
const DESCRIPTION_CHARS: std::ops::RangeInclusive<usize> = 10..=1024;
/// The size from which a file is worth a word.
const LARGE_BYTES: u64 = 100_000;

/// The endings that files of skills usually have.
const USUAL: &[&str] = &[
    "md", "markdown", "mdx", "txt", "rst", "py", "sh", "bash", "zsh", "js", "mjs", "cjs", "ts", "tsx", "jsx",
    "rb", "pl", "go", "rs", "java", "kt", "php", "lua", "r", "sql", "ps1", "bat", "json", "jsonl", "yaml",
    "yml", "toml", "ini", "cfg", "conf", "csv", "tsv", "xml", "xsd", "html", "htm", "css", "scss", "svg",
    "tex", "tmpl", "tpl", "j2", "jinja", "hbs", "ejs", "graphql", "proto", "lock", "example", "template",
    "cls", "sty", "bib", "mmd", "dot", "ipynb",
];
/// Names without an ending that are usual, too.
const USUAL_NAMES: &[&str] =
    &["LICENSE", "README", "NOTICE", "AUTHORS", "Makefile", "Dockerfile", "CHANGELOG"];

/// The name of the file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// Checks the folder as a whole and each of its files, without reading their texts.
pub(super) fn check_files(folder: &Folder, findings: &mut Vec<Finding>) {
    let total = folder.total_bytes();
    if total >= TOTAL_BYTES_MAX {
        let message =
            format!("all files together have {total} bytes: less than {TOTAL_BYTES_MAX} are allowed");
        findings.push(Finding::of_file("STR-004", Severity::High, "", message));
    }
    if folder.is_cut {
        let message = "there are too many files, too deep folders or too long paths: make the skill smaller";
        findings.push(Finding::of_file("STR-008", Severity::High, "", message.to_owned()));
    }
    if folder.file(SKILL_FILE).is_none() {
        let message = format!("there is no {SKILL_FILE}: a skill is a folder with one");
        findings.push(Finding::of_file("STR-001", Severity::High, "", message));
    }
    for file in &folder.files {
        let mut say = |rule: &str, severity: Severity, message: &str| {
            findings.push(Finding::of_file(rule, severity, &file.path, message.to_owned()));
        };
        match file.kind {
            Kind::Symlink => {
                say(
                    "STR-005",
                    Severity::High,
                    "a symlink may lead out of the skill: put the file here itself",
                );
                continue;
            }
            Kind::Other => {
                say("STR-005", Severity::High, "this is neither a file nor a folder: remove it");
                continue;
            }
            Kind::Executable if !file.path.contains('/') => {
                say("STR-101", Severity::Low, "an executable in the skill's root: put it into scripts/");
            }
            Kind::Plain | Kind::Executable => {}
        }
        if file.size > LARGE_BYTES {
            say(
                "STR-104",
                Severity::Medium,
                "the file has over 100 KB: an agent that reads it reads little else",
            );
        }
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if file.path.split('/').any(|part| part.starts_with('.')) {
            say("STR-103", Severity::Low, "a hidden file: nobody who looks at the skill sees it");
        } else if !is_usual(name) {
            say("STR-102", Severity::Low, "files of this kind are unusual in skills");
        }
    }
}

fn is_usual(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, ending)) => USUAL.iter().any(|usual| ending.eq_ignore_ascii_case(usual)),
        None => USUAL_NAMES.contains(&name),
    }
}

/// Checks the front matter of a skill's text, and returns it where it can be read.
pub(super) fn check_front_matter(text: &str, findings: &mut Vec<Finding>) -> Option<FrontMatter> {
    let mut say = |rule: &str, message: String| {
        findings.push(Finding::of_file(rule, Severity::High, SKILL_FILE, message).at(1, ""));
    };
    let front_matter = match FrontMatter::read(text) {
        Ok(front_matter) => front_matter,
        Err(reason) => {
            say("STR-002", reason);
            return None;
        }
    };
    let description = front_matter.description.as_deref().unwrap_or_default().trim();
    let length = description.chars().count();
    if !DESCRIPTION_CHARS.contains(&length) {
        let (least, most) = DESCRIPTION_CHARS.into_inner();
        say("STR-003", format!("`description` has {length} characters: {least} to {most} are allowed"));
    }
    Some(front_matter)
}

/// Returns whether the front matter asks for any command there is.
pub(super) fn asks_for_every_command(front_matter: &FrontMatter) -> Option<String> {
    let mut tools = front_matter.tools().into_iter();
    tools.find(|tool| ["Bash", "Bash(*)", "Bash(*:*)", "*"].contains(&tool.as_str()))
}
