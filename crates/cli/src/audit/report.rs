//! The results of a verification, for people and for programs.

use audit::leaf::{Forked, Record};
use audit::note::Opened;
use audit::verify::{EvidenceReport, Fault, Finding, LogReport};
use model::{SubmissionId, Time};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{self, Format, Table, plain};

/// The thing that was looked at, and what came of that.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// As it was named on the command line.
    pub(crate) source: &'a str,
    /// The number of leaves under the checkpoint of --since.
    pub(crate) since: Option<u64>,
}

impl Told<'_> {
    pub(crate) fn evidence(&self, report: &EvidenceReport, format: Format) -> anyhow::Result<Exit> {
        if format == Format::Json {
            let mut told = self.document("evidence", &report.checkpoint);
            told["submission"] = json!(report.submission);
            told["state"] = json!(report.state);
            told["events"] = json!(report.events);
            told["last_leaf"] = json!(report.tip);
            told["documents"] = json!(report.documents);
            told["guards"] = json!({ "checked": report.guards_checked, "unknown": report.guards_unknown });
            output::print_json(&told)?;
            return Ok(Exit::Fine);
        }
        let mut lines = self.heading(&report.checkpoint);
        lines.row(["submission".to_owned(), report.submission.to_string()]);
        lines.row([
            "state".to_owned(),
            format!("{}, after {}", report.state, counted(report.events, "event")),
        ]);
        lines.row([
            "checked".to_owned(),
            "signatures, inclusion, order, chain, definitions, moves, triggers, rights".to_owned(),
        ]);
        let documents = match report.documents {
            0 => "none revealed".to_owned(),
            count => format!("{count} revealed, each the event's own"),
        };
        lines.row(["documents".to_owned(), documents]);
        lines.row(["guards".to_owned(), guards(report.guards_checked, report.guards_unknown)]);
        lines.row(["last leaf".to_owned(), report.tip.to_string()]);
        output::print(&format!("{} holds\n{}", plain(self.source), indented(&lines)))?;
        Ok(Exit::Fine)
    }

    pub(crate) fn log(
        &self,
        report: &LogReport,
        wanted: Option<SubmissionId>,
        format: Format,
    ) -> anyhow::Result<Exit> {
        let absent = wanted.filter(|_| report.tips.is_empty());
        if format == Format::Json {
            output::print_json(&self.log_document(report, absent))?;
            return Ok(if absent.is_none() { Exit::Fine } else { Exit::Negative });
        }
        let mut lines = self.heading(&report.checkpoint);
        let count = format!("{}, in {}", report.events, counted(report.submissions, "submission"));
        lines.row(["events".to_owned(), count]);
        lines.row(["definitions".to_owned(), report.definitions.to_string()]);
        lines.row([
            "checked".to_owned(),
            "signatures, every entry, chains, completeness, definitions, moves, triggers, rights".to_owned(),
        ]);
        let guards = "not looked at: what they read is in the evidence about a submission";
        lines.row(["guards".to_owned(), guards.to_owned()]);
        if report.pruned_below > 0 {
            let pruned = format!("entries below {}, as the log says they may be", report.pruned_below);
            lines.row(["gone".to_owned(), pruned]);
        }
        if report.administered > 0 {
            lines.row(["administered".to_owned(), format!("{}, none left out", report.administered)]);
        }
        for (index, act) in &report.acts {
            let told = told_act(*index, act, report.forks_kept.contains(index));
            lines.row(["act".to_owned(), format!("{told} (log index {index})")]);
        }
        for tip in &report.tips {
            let end = format!("{} at revision {}, in {}", tip.submission, tip.revision, tip.state);
            lines.row(["submission".to_owned(), end]);
            lines.row(["last leaf".to_owned(), tip.leaf.to_string()]);
        }
        let verdict = absent
            .map_or_else(|| "holds".to_owned(), |id| format!("holds, and has no event of submission {id}"));
        output::print(&format!("{} {verdict}\n{}", plain(self.source), indented(&lines)))?;
        Ok(if absent.is_none() { Exit::Fine } else { Exit::Negative })
    }

    /// The first thing wrong.
    pub(crate) fn wrong(&self, finding: &Finding, format: Format) -> anyhow::Result<Exit> {
        let Finding { fault, place, message } = finding;
        if format == Format::Json {
            output::print_json(&json!({
                "ok": false,
                "source": self.source,
                "fault": fault.as_str(),
                "message": message,
                "index": place.index,
                "submission": place.submission,
                "revision": place.revision,
            }))?;
            return Ok(Exit::Negative);
        }
        let mut lines = Table::bare();
        lines.row(["fault".to_owned(), format!("{} ({})", fault.as_str(), meaning(*fault))]);
        if let Some(index) = place.index {
            lines.row(["log index".to_owned(), index.to_string()]);
        }
        if let Some(submission) = place.submission {
            lines.row(["submission".to_owned(), submission.to_string()]);
        }
        if let Some(revision) = place.revision {
            lines.row(["revision".to_owned(), revision.to_string()]);
        }
        lines.row(["what".to_owned(), message.clone()]);
        output::print(&format!("{} is wrong\n{}", plain(self.source), indented(&lines)))?;
        Ok(Exit::Negative)
    }

    fn document(&self, kind: &str, opened: &Opened) -> Value {
        let cosigned = opened.cosigned_by.iter();
        json!({
            "ok": true,
            "source": self.source,
            "kind": kind,
            "origin": opened.checkpoint.origin,
            "size": opened.checkpoint.size,
            "root": root(opened),
            "signed_by": opened.signed_by,
            "cosigned_by": cosigned
                .map(|witness| json!({ "name": witness.name, "at": utc(witness.at) }))
                .collect::<Vec<_>>(),
            "since": self.since,
        })
    }

    fn log_document(&self, report: &LogReport, absent: Option<SubmissionId>) -> Value {
        let mut told = self.document("log", &report.checkpoint);
        told["ok"] = json!(absent.is_none());
        if let Some(id) = absent {
            told["message"] = json!(format!("the log has no event of submission {id}"));
        }
        told["events"] = json!(report.events);
        told["submissions"] = json!(report.submissions);
        told["definitions"] = json!(report.definitions);
        told["pruned_below"] = json!(report.pruned_below);
        told["administered"] = json!(report.administered);
        let acts = report.acts.iter().map(|(index, act)| json!({ "index": index, "act": act }));
        told["acts"] = acts.collect();
        told["forks_kept"] = json!(report.forks_kept);
        let tips = report.tips.iter().map(|tip| {
            json!({
                "submission": tip.submission,
                "revision": tip.revision,
                "state": tip.state,
                "last_leaf": tip.leaf,
            })
        });
        told["ends"] = tips.collect();
        told
    }

    fn heading(&self, opened: &Opened) -> Table {
        let mut lines = Table::bare();
        let checkpoint = &opened.checkpoint;
        lines.row([
            "log".to_owned(),
            format!("{}, {} leaves, root {}", checkpoint.origin, checkpoint.size, root(opened)),
        ]);
        lines.row(["signed by".to_owned(), opened.signed_by.join(", ")]);
        for witness in &opened.cosigned_by {
            lines.row(["seen by".to_owned(), format!("{} at {}", witness.name, utc(witness.at))]);
        }
        if let Some(size) = self.since {
            lines.row(["since".to_owned(), format!("it begins with the {size} leaves you have seen")]);
        }
        lines
    }
}

/// In the checkpoint's own spelling, for whoever compares.
fn root(opened: &Opened) -> &str {
    opened.note.text.lines().nth(2).unwrap_or_default()
}

/// A witness's clock, as everything else writes times.
fn utc(seconds: u64) -> String {
    let millis = i64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000));
    Time::from_millis(millis.unwrap_or(i64::MAX)).to_string()
}

fn indented(lines: &Table) -> String {
    lines.render().lines().map(|line| format!("  {line}\n")).collect()
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn guards(checked: u64, unknown: u64) -> String {
    match unknown {
        0 => format!("{checked} checked"),
        _ => format!("{checked} checked, {unknown} unknown: the evidence does not reveal what they read"),
    }
}

/// `is_kept`: of a fork that gave up nothing it names.
fn told_act(index: u64, act: &Record, is_kept: bool) -> String {
    match act {
        Record::Forked(Forked { size, at, reason, .. }) if is_kept => format!(
            "{at}: the log went on from a state that others may have seen more of; the last checkpoint it knew had \
             {size} leaves, which it still has: {reason}"
        ),
        Record::Forked(Forked { size, at, reason, .. }) => {
            format!(
                "{at}: the log gave up a signed state of {size} leaves and went on from {index}: {reason}"
            )
        }
        Record::KeyAdded(change) => format!("{}: a key was added: {}", change.at, change.key),
        Record::KeyRetired(change) => format!("{}: a key was retired: {}", change.at, change.key),
        Record::Pruned(pruned) => {
            format!("{}: entries below {} may go: {}", pruned.at, pruned.minimum_index, pruned.reason)
        }
        Record::Applied(applied) => {
            format!("{}: {} version {} was applied", applied.at, applied.pipeline, applied.version)
        }
        Record::Administered(act) => format!("{}: {} of {}", act.at, act.deed, act.of),
    }
}

fn meaning(fault: Fault) -> &'static str {
    match fault {
        Fault::Malformed => "not a document, leaf or proof of a known form",
        Fault::Signature => "not signed by a key you trust, or not by that key",
        Fault::Witness => "too few of the witnesses you ask for",
        Fault::Consistency => "not the log you saw before, or older than what you saw",
        Fault::Tile => "a tile or entry the signed root does not vouch for",
        Fault::Inclusion => "a leaf that is not where it is said to be",
        Fault::Order => "events that are not in the order they were logged in",
        Fault::Chain => "an event that does not follow the one before",
        Fault::Revision => "a revision that is missing or repeated",
        Fault::Definition => "a definition that was not logged before it was used, or is another",
        Fault::Document => "a document that is not the event's",
        Fault::Move => "a move no edge allows, or not now",
        Fault::Trigger => "a move under another name",
        Fault::Right => "a move by somebody who may not make it",
        Fault::Guard => "a guard that says otherwise",
        Fault::Incomplete => "less than what is claimed",
        Fault::Pruned => "entries that are gone without an act that allows it",
        Fault::Spelling => "the same content written otherwise",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_explained_as_the_documentation_does() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/audit.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        for fault in Fault::ALL {
            let row = format!("| `{}` | {} |", fault.as_str(), meaning(fault));
            assert!(page.contains(&row), "docs/audit.md has no row `{row}`");
        }
    }

    #[test]
    fn times_of_witnesses_read_like_all_others() {
        assert_eq!(utc(1_700_000_000), "2023-11-14T22:13:20.000Z");
    }
}
