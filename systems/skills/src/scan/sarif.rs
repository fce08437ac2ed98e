//! Reports as SARIF 2.1.0, which code hosts and editors show beside the lines.

use serde_json::{Value, json};

use super::finding::{Category, Finding, Report, Severity};

/// Returns a report as a SARIF document. Paths are put behind `prefix`, so that they are those of the repository.
#[must_use]
pub fn sarif(report: &Report, prefix: &str) -> Value {
    let mut rules: Vec<&Finding> = Vec::new();
    for finding in &report.findings {
        if !rules.iter().any(|known| known.rule == finding.rule) {
            rules.push(finding);
        }
    }
    let results = report.findings.iter().map(|finding| {
        let rule_index = rules.iter().position(|known| known.rule == finding.rule);
        json!({
            "ruleId": finding.rule,
            "ruleIndex": rule_index,
            "level": level(finding.severity),
            "message": { "text": message(finding) },
            "locations": [location(finding, prefix)],
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "milepost skills scan",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|finding| rule(finding)).collect::<Vec<_>>(),
            } },
            "results": results.collect::<Vec<_>>(),
            "properties": {
                "verdict": report.verdict,
                "score": report.score,
                "high_privilege": report.high_privilege,
            },
        }],
    })
}

fn rule(finding: &Finding) -> Value {
    let mut properties = json!({ "tags": [finding.category] });
    if finding.category != Category::Structure {
        properties["security-severity"] = json!(weight(finding.severity));
    }
    json!({ "id": finding.rule, "shortDescription": { "text": finding.message }, "properties": properties })
}

fn message(finding: &Finding) -> String {
    match finding.matched.is_empty() {
        true => finding.message.clone(),
        false => format!("{}: {}", finding.message, finding.matched),
    }
}

/// Returns the place of a finding; one of the folder as a whole is at its SKILL.md, for there must be a file.
fn location(finding: &Finding, prefix: &str) -> Value {
    let file = if finding.file.is_empty() { super::SKILL_FILE } else { &finding.file };
    let escaped: String = file.split('/').map(escape).collect::<Vec<_>>().join("/");
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": format!("{prefix}{escaped}") },
        "region": { "startLine": finding.line.max(1) },
    } })
}

/// Escapes what may not stand in a URI as it is.
fn escape(part: &str) -> String {
    let escaped = part.bytes().map(|byte| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    escaped.collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info | Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

/// Returns the number by which code hosts sort security findings.
fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "0.0",
        Severity::Low => "3.0",
        Severity::Medium => "5.5",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_a_sarif_document() {
        let finding = Finding {
            rule: "NET-001".to_owned(),
            category: Category::Network,
            severity: Severity::Medium,
            file: "references/a b.md".to_owned(),
            line: 7,
            matched: "http://203.0.113.9".to_owned(),
            message: "an address without a name".to_owned(),
        };
        let whole = Finding::of_file("STR-001", Severity::High, "", "there is no SKILL.md".to_owned());
        let document = sarif(&Report::of(vec![finding, whole], true), "skills/pdf/");
        let run = &document["runs"][0];
        assert_eq!((&document["version"], &run["properties"]["score"]), (&json!("2.1.0"), &json!(77)));
        let of = |index: usize| &run["results"][index];
        assert_eq!(of(0)["level"], "error");
        let place = |index: usize| &of(index)["locations"][0]["physicalLocation"];
        assert_eq!(place(0)["artifactLocation"]["uri"], "skills/pdf/SKILL.md");
        assert_eq!(place(0)["region"]["startLine"], 1);
        assert_eq!(place(1)["artifactLocation"]["uri"], "skills/pdf/references/a%20b.md");
        assert_eq!(of(1)["message"]["text"], "an address without a name: http://203.0.113.9");
        assert_eq!(run["tool"]["driver"]["rules"][1]["properties"]["security-severity"], "5.5");
        let index = of(1)["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], of(1)["ruleId"]);
    }
}
