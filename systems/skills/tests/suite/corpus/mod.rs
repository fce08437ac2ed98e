//! Skills with the verdicts that they must get.

use std::collections::BTreeSet;

use skills::scan::{File, Folder, Kind, Report, Severity, Verdict, scan};

const BENIGN: &str = include_str!("benign.txt");
const MALICIOUS: &str = include_str!("malicious.txt");

struct Case {
    name: String,
    /// The text behind the name.
    note: String,
    folder: Folder,
}

fn cases(text: &str) -> Vec<Case> {
    let mut parts = text.split("\n=== ");
    parts.next();
    parts.map(case).collect()
}

fn case(text: &str) -> Case {
    let (head, rest) = text.split_once('\n').unwrap();
    let (name, note) = head.split_once(' ').unwrap_or((head, ""));
    let mut pieces = rest.split("\n--- ");
    let skill = unescape(pieces.next().unwrap());
    let skill = match skill.starts_with("---\n") {
        true => skill,
        false => {
            let (description, body) = skill.split_once('\n').unwrap_or((&skill, ""));
            format!("---\nname: {name}\ndescription: \"{description}\"\n---\n{body}")
        }
    };
    let mut files = vec![file("SKILL.md", &skill)];
    for piece in pieces {
        let (path, content) = piece.split_once('\n').unwrap();
        files.push(file(path, &unescape(content)));
    }
    Case { name: name.to_owned(), note: note.to_owned(), folder: Folder::of(files) }
}

fn file(path: &str, text: &str) -> File {
    let bytes = text.as_bytes().to_vec();
    File { path: path.to_owned(), kind: Kind::Plain, size: bytes.len() as u64, bytes }
}

fn unescape(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        plain.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        plain.push_str(rest);
    }
    plain
}

/// The rules that fail a skill, for a message of a test.
fn grave(report: &Report) -> Vec<String> {
    let grave = report.findings.iter().filter(|finding| finding.severity >= Severity::High);
    grave
        .map(|finding| format!("{} {}:{} {:?}", finding.rule, finding.file, finding.line, finding.matched))
        .collect()
}

#[test]
fn no_benign_skill_fails() {
    let cases = cases(BENIGN);
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let report = scan(&case.folder);
        if report.verdict != Verdict::Pass || report.high_privilege != (case.note == "high") {
            let high: Vec<&String> = report.findings.iter().map(|finding| &finding.rule).collect();
            wrong.push(format!("{}: {:?} {} {high:?}", case.name, grave(&report), report.high_privilege));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_malicious_skill_passes() {
    let cases = cases(MALICIOUS);
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let report = scan(&case.folder);
        let rules: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule.as_str()).collect();
        if report.verdict != Verdict::Fail || !rules.contains(case.note.as_str()) {
            wrong.push(format!("{} ({}): {rules:?}", case.name, case.note));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_skill_of_the_corpus_has_a_name_of_its_own() {
    let cases: Vec<Case> = cases(BENIGN).into_iter().chain(cases(MALICIOUS)).collect();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
}
