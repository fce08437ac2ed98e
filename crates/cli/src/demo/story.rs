//! The texts of the demo.

use model::Status;
use wire::api::{PipelineList, StateView};

use super::answers::RULES;
use super::pipelines::{SITES, SKILLS};
use super::samples::Walked;
use crate::output::Table;
use crate::remote::{program, server_option};

pub(super) fn opening(server: &str) -> String {
    format!(
        "\
Milepost walks submissions through pipelines: workers do the tasks, the pipelines decide where each result leads, and
every move is on record. Submissions went through every pipeline that ships.

  Console  {server}/console
  API      {server}/v1
  Data     in a temporary folder, removed when the demo ends

"
    )
}

/// Tells of the samples of the skills; nothing where there are none.
pub(super) fn skills(rested: &[Walked]) -> String {
    if of(rested, SKILLS).next().is_none() {
        return String::new();
    }
    let mut table = Table::new(["SKILL", "ID", "STATE", "HOW IT GOT THERE"]);
    for Walked { sample, submission, events } in of(rested, SKILLS) {
        let triggers: Vec<&str> = events.iter().skip(1).map(|event| &*event.trigger).collect();
        table.row([
            sample.name.to_owned(),
            submission.id.to_string(),
            submission.state.to_string(),
            triggers.join(", "),
        ]);
    }
    table.render()
}

/// Tells how many submissions every pipeline has, and in which states.
pub(super) fn everything(list: &PipelineList) -> String {
    let mut table = Table::new(["PIPELINE", "SUBMISSIONS", "WHERE THEY ARE"]);
    for pipeline in &list.pipelines {
        let counts = pipeline.states.iter().flat_map(|state| &state.counts);
        let total: u64 = counts.map(|counted| counted.count).sum();
        let places: Vec<String> = pipeline.states.iter().flat_map(places).collect();
        table.row([pipeline.name.to_string(), total.to_string(), places.join(", ")]);
    }
    format!("\n{}", table.render())
}

fn places(state: &StateView) -> impl Iterator<Item = String> {
    state.counts.iter().filter(|counted| counted.count > 0).map(|counted| {
        let dead = if counted.status == Status::Dead { " (dead)" } else { "" };
        format!("{} {}{dead}", counted.count, state.name)
    })
}

/// Tells what is wrong with where a sample rests, if something is.
pub(super) fn astray(Walked { sample, submission, .. }: &Walked) -> Option<String> {
    let dead = submission.status == Status::Dead;
    (dead || &*submission.state != sample.rests_in).then(|| {
        let status = submission.status.as_str();
        format!(
            "{} of {} is in {} ({status}), not in {}",
            sample.name, sample.pipeline, submission.state, sample.rests_in
        )
    })
}

fn of<'a>(rested: &'a [Walked], pipeline: &'a str) -> impl Iterator<Item = &'a Walked> {
    rested.iter().filter(move |walked| walked.sample.pipeline == pipeline)
}

fn open<'a>(rested: &'a [Walked], pipeline: &'a str) -> Option<&'a Walked> {
    of(rested, pipeline).find(|walked| !walked.submission.status.is_final())
}

/// Commands that work when they are pasted into another terminal.
pub(super) fn what_to_try(server: &str, rested: &[Walked]) -> String {
    let checklist = "{\"intent\":true,\"scope\":true,\"permissions\":true,\"security_notes\":true,\
                     \"scripts\":true,\"dependencies\":true,\"edge_cases\":true}";
    let own = "{\"repo_url\":\"https://github.com/you/skills\",\"skill_name\":\"my-notes\"}";
    let (run, at) = (program(), server_option(server));
    let mut text = String::from("\nTry this in another terminal:\n\n");
    let mut add =
        |what: &str, command: String| text.push_str(&format!("  # {what}\n  {run} {command}{at}\n\n"));
    let skills_are_sampled = of(rested, SKILLS).next().is_some();
    if skills_are_sampled {
        add("what there is", format!("list --pipeline {SKILLS}"));
    } else {
        add("what there is", "list".to_owned());
    }
    if let Some(Walked { sample, submission, .. }) = open(rested, SKILLS) {
        let id = submission.id;
        add(&format!("{} waits for a person: see why", sample.name), format!("show {id}"));
        add("approving it from here is refused: it must be escalated first", format!("act {id} approve"));
        add("so escalate it", format!("act {id} escalate"));
        add(
            "then approve it with a checklist; it is published",
            format!("act {id} approve --wait --data '{checklist}'"),
        );
    }
    if skills_are_sampled {
        add("submit a skill of your own", format!("submit {SKILLS} --wait --data '{own}'"));
    }
    if let Some(Walked { sample, submission, .. }) = open(rested, SITES) {
        let what = format!("{} waits for a clock: see until when", sample.name);
        add(&what, format!("why {}", submission.id));
    }
    let rules = if skills_are_sampled { format!("{RULES}\n\n") } else { String::new() };
    text.push_str(&format!("{rules}Ctrl-C ends the demo.\n"));
    text
}
