//! Tier 1: the deterministic scan of a skill. It reads files and decides; it asks nobody and runs nothing.

mod context;
mod disguise;
mod finding;
mod folder;
mod front_matter;
mod mention;
mod rules;
mod sarif;
mod structure;
mod text;

pub use finding::{Category, Finding, Report, Severity, Verdict};
pub use folder::{DEPTH_MAX, ENTRIES_MAX, File, Folder, Kind, PATH_BYTES_MAX, TOTAL_BYTES_MAX};
pub use front_matter::{FrontMatter, Tools};
pub use rules::RULES;
pub use sarif::sarif;
pub use structure::SKILL_FILE;

use rules::SHIPPED;

/// Scans a skill.
#[must_use]
pub fn scan(folder: &Folder) -> Report {
    let mut findings = Vec::new();
    structure::check_files(folder, &mut findings);
    let mut is_high = note_scripts(folder, &mut findings);
    for file in folder.files.iter().filter(|file| !file.bytes.is_empty()) {
        let Some(text) = text::decode(&file.path, &file.bytes, &mut findings) else { continue };
        text::look_for_concealment(&file.path, &text, &mut findings);
        if file.path == SKILL_FILE
            && let Some(front_matter) = structure::check_front_matter(&text, &mut findings)
            && let Some(tool) = structure::asks_for_every_command(&front_matter)
        {
            is_high = true;
            let message =
                format!("`allowed-tools` has `{tool}`: every command may be run without a question");
            findings.push(Finding::of_file("STR-106", Severity::Info, SKILL_FILE, message));
        }
        for segment in context::segments(&file.path, &text) {
            is_high |= SHIPPED.look(&file.path, &segment, &mut findings);
        }
    }
    if folder.file(SKILL_FILE).is_some_and(|file| file.bytes.is_empty()) {
        structure::check_front_matter("", &mut findings);
    }
    Report::of(findings, is_high)
}

/// Compiles the rules, which would else be done by the first scan.
pub fn prepare() {
    std::sync::LazyLock::force(&SHIPPED);
}

/// Returns whether a skill brings scripts: a person should look at them, however good they look.
fn note_scripts(folder: &Folder, findings: &mut Vec<Finding>) -> bool {
    let script = folder.files.iter().find(|file| file.path.starts_with("scripts/"));
    if let Some(script) = script {
        let message = "the skill brings scripts, which run with the rights of who uses it".to_owned();
        findings.push(Finding::of_file("STR-105", Severity::Info, &script.path, message));
    }
    script.is_some()
}

#[cfg(test)]
mod tests;
