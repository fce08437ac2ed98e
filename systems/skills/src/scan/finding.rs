//! Findings, and what they add up to.

use serde::{Deserialize, Serialize};

/// The most characters of a skill that a finding quotes.
const MATCH_CHARS_MAX: usize = 160;
/// The most findings of one rule in one file. One is enough to fail; the rest would only be noise.
const FINDINGS_OF_RULE_MAX: usize = 10;
/// The most findings of a report: the gravest ones.
const FINDINGS_MAX: usize = 500;

/// The weight of a finding. A high or critical one fails the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

/// The kind of danger that a rule looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    Structure,
    Concealment,
    CommandInjection,
    DataExfiltration,
    PrivilegeEscalation,
    CredentialTheft,
    PromptInjection,
    FileSystem,
    Network,
    CodeExecution,
    DynamicContext,
}

/// Something that a scan has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: String,
    pub category: Category,
    pub severity: Severity,
    /// The path within the skill's folder; empty for the folder as a whole.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// The text that the rule has met, shortened.
    #[serde(rename = "match")]
    pub matched: String,
    pub message: String,
}

impl Finding {
    /// Makes a finding about a file as a whole.
    pub(super) fn of_file(rule: &str, severity: Severity, file: &str, message: String) -> Finding {
        Finding {
            rule: rule.to_owned(),
            category: Category::Structure,
            severity,
            file: file.to_owned(),
            line: 0,
            matched: String::new(),
            message,
        }
    }

    /// Sets the line and the text that was met, of which only the beginning is kept, on one line and without controls.
    pub(super) fn at(mut self, line: u32, matched: &str) -> Finding {
        self.line = line;
        self.matched = quoted(matched);
        self
    }
}

/// Returns a text as a finding quotes it.
pub(super) fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    match plain.char_indices().nth(MATCH_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    Pass,
    Fail,
}

/// The result of a scan, as `milepost skills scan -o json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub verdict: Verdict,
    /// 100 without findings, less for each by its severity, never below 0.
    pub score: u32,
    /// Set if the skill asks for rights that a person should look at, however good it looks otherwise.
    pub high_privilege: bool,
    /// The gravest first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Makes the report of a folder that has no skill, with the reason.
    #[must_use]
    pub fn without_skill(reason: String) -> Report {
        Report::of(vec![Finding::of_file("STR-001", Severity::High, "", reason)], false)
    }

    /// Adds findings up. Verdict and score count all of them, the report shows the gravest.
    #[must_use]
    pub fn of(mut findings: Vec<Finding>, high_privilege: bool) -> Report {
        findings.sort_by(|a, b| {
            let place = |finding: &Finding| (finding.file.clone(), finding.rule.clone(), finding.line);
            b.severity.cmp(&a.severity).then_with(|| place(a).cmp(&place(b)))
        });
        findings.dedup_by(|a, b| (&a.rule, &a.file, a.line) == (&b.rule, &b.file, b.line));
        let mut of_rule = 0;
        let mut last = (String::new(), String::new());
        findings.retain(|finding| {
            let this = (finding.rule.clone(), finding.file.clone());
            of_rule = if this == last { of_rule + 1 } else { 1 };
            last = this;
            of_rule <= FINDINGS_OF_RULE_MAX
        });
        let lost: u32 = findings.iter().map(|finding| points(finding.severity)).sum();
        let fails = findings.iter().any(|finding| finding.severity >= Severity::High);
        findings.truncate(FINDINGS_MAX);
        Report {
            verdict: if fails { Verdict::Fail } else { Verdict::Pass },
            score: 100u32.saturating_sub(lost),
            high_privilege,
            findings,
        }
    }
}

/// Returns what a finding takes from the score.
fn points(severity: Severity) -> u32 {
    match severity {
        Severity::Info => 0,
        Severity::Low => 3,
        Severity::Medium => 8,
        Severity::High => 15,
        Severity::Critical => 25,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, line: u32) -> Finding {
        Finding::of_file("R", severity, "a", String::new()).at(line, "x")
    }

    #[test]
    fn the_score_falls_by_severity_and_never_below_nothing() {
        use Severity::{Critical, High, Info, Low, Medium};
        for (severities, score, verdict) in [
            (vec![], 100, Verdict::Pass),
            (vec![Info, Low, Medium], 89, Verdict::Pass),
            (vec![High], 85, Verdict::Fail),
            (vec![Critical, High, Medium, Low], 49, Verdict::Fail),
            (vec![Critical; 5], 0, Verdict::Fail),
        ] {
            let findings = (1..).zip(&severities).map(|(line, severity)| finding(*severity, line));
            let report = Report::of(findings.collect(), false);
            assert_eq!((report.score, report.verdict), (score, verdict), "{severities:?}");
        }
    }

    #[test]
    fn one_rule_counts_ten_times_in_a_file_and_once_in_a_line() {
        let many = (1..=50).map(|line| finding(Severity::Low, line));
        let report = Report::of(many.collect(), false);
        assert_eq!((report.findings.len(), report.score), (10, 70));
        let twice = vec![finding(Severity::Low, 1), finding(Severity::Low, 1)];
        assert_eq!(Report::of(twice, false).findings.len(), 1);
    }

    #[test]
    fn a_quotation_is_short_and_on_one_line() {
        let long = quoted(&"a\n\u{1b}b ".repeat(200));
        assert!(long.starts_with("a b a b") && long.ends_with('…') && long.chars().count() == 161, "{long}");
    }
}
