//! What the demo says.

use super::pipeline::NAME;
use super::samples::Walked;
use super::workers::RULES;
use crate::output::Table;
use crate::remote::{program, server_option};

pub(super) fn opening(server: &str) -> String {
    format!(
        "\
Milepost walks submissions through pipelines. Here six skills were submitted for review: workers have scanned
them, the pipeline `{NAME}` has decided where each result leads, and every move is on record.

  API   {server}/v1
  Data  in a temporary folder, removed when the demo ends

"
    )
}

pub(super) fn table(rested: &[Walked]) -> String {
    let mut table = Table::new(["SKILL", "ID", "STATE", "HOW IT GOT THERE"]);
    for Walked { sample, submission, events } in rested {
        let triggers: Vec<&str> = events.iter().skip(1).map(|event| &*event.trigger).collect();
        table.row([
            sample.skill.to_owned(),
            submission.id.to_string(),
            submission.state.to_string(),
            triggers.join(", "),
        ]);
    }
    table.render()
}

/// Commands that work when they are pasted into another terminal.
pub(super) fn what_to_try(server: &str, rested: &[Walked]) -> String {
    let checklist = "{\"intent\":true,\"scope\":true,\"permissions\":true,\"security_notes\":true,\
                     \"scripts\":true,\"dependencies\":true,\"edge_cases\":true}";
    let own = "{\"repo_url\":\"https://github.com/you/skills\",\"skill_name\":\"my-notes\"}";
    let (run, at) = (program(), server_option(server));
    let waiting = rested.iter().find(|walked| !walked.submission.status.is_final());
    let mut text = String::from("\nTry this in another terminal:\n\n");
    let mut add =
        |what: &str, command: String| text.push_str(&format!("  # {what}\n  {run} {command}{at}\n\n"));
    add("what there is", format!("list --pipeline {NAME}"));
    if let Some(Walked { sample, submission, .. }) = waiting {
        let id = submission.id;
        add(&format!("{} waits for a person: see why", sample.skill), format!("show {id}"));
        add("approving it from here is refused: it must be escalated first", format!("act {id} approve"));
        add("so escalate it", format!("act {id} escalate"));
        add(
            "then approve it with a checklist; it is published",
            format!("act {id} approve --wait --data '{checklist}'"),
        );
    }
    add("submit a skill of your own", format!("submit {NAME} --wait --data '{own}'"));
    text.push_str(&format!("{RULES}\n\nCtrl-C ends the demo.\n"));
    text
}
