//! Schedules: each of their times is served at most once, and of those that were missed the last is made up for.

use engine::Pipelines;
use engine::core::{SCHEDULES, Scheduled};
use model::pipeline::Schedule;
use model::{Right, SubmissionId, Time};

use super::law::Book;
use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::faults::Commit;
use crate::finding::{Finding, finding};
use crate::report::Report;

/// The caller that submits for schedules, and nobody else does.
const CALLER: &str = "schedule";

impl Ledger {
    /// Takes a commit into the book; its rows are there already.
    pub(super) fn take_schedules(&mut self, commit: &Commit, report: &mut Report) -> Checked {
        let mut named: Vec<SubmissionId> = Vec::new();
        for change in commit.changes.registry.iter().filter(|change| change.key.kind == SCHEDULES) {
            let name = &change.key.name;
            let body = change.body.as_ref().ok_or("a schedule was forgotten")?;
            let now: Scheduled = serde_json::from_str(body.as_str())
                .map_err(|error| finding!("a schedule does not parse: {error}"))?;
            let schedule = self.schedule(name)?;
            match self.schedules.get(name) {
                None => {
                    ensure!(now.submission.is_none(), "{name} submitted before it began");
                    report.count("schedule/began");
                }
                Some(last) => {
                    ensure!(now.at > last.at, "{name} served {} after {}", now.at, last.at);
                    ensure!(schedule.cron.until(now.at) == Some(now.at), "{name} has no time {}", now.at);
                    let missed = schedule.cron.after(last.at).is_some_and(|next| next < now.at);
                    report.count(if missed { "schedule/made-up" } else { "schedule/served" });
                    ensure!(
                        now.submission.is_some() != now.refused.is_some(),
                        "{name} served {} by nothing: {now:?}",
                        now.at
                    );
                }
            }
            named.extend(now.submission);
            self.schedules.insert(name.clone(), now);
        }
        for change in commit.changes.rows.iter().filter(|change| change.before.is_none()) {
            let by_clock = *change.after.submitter == *CALLER;
            let is_named = named.contains(&change.after.id);
            ensure!(by_clock == is_named, "{} was submitted by no time of a schedule", change.after.id);
            let mut events = commit.changes.events.iter().map(|event| &event.leaf);
            let first = events.find(|leaf| leaf.submission == change.after.id);
            let by_machine = first.is_some_and(|leaf| leaf.right == Right::Rule);
            ensure!(by_clock == by_machine, "{} was submitted in another's name", change.after.id);
        }
        Ok(())
    }

    fn schedule(&self, name: &str) -> Result<&Schedule, Finding> {
        let (pipeline, id) = name.split_once('/').ok_or("a schedule without a pipeline")?;
        let asks = |book: &&Book| book.pipeline.schedules.iter().any(|schedule| *schedule.id == *id);
        let book = self.law.versions(pipeline).find(asks);
        let schedules = book.into_iter().flat_map(|book| &book.pipeline.schedules);
        let mut found = schedules.filter(|schedule| *schedule.id == *id);
        found.next().ok_or_else(|| finding!("no pipeline asks for {name}"))
    }

    /// Right after a pass whose ticks were all taken: nothing is left to be served.
    pub(crate) fn nothing_missed(&self, pipelines: &Pipelines, now: Time) -> Checked {
        for pipeline in pipelines.current().all() {
            for schedule in &pipeline.schedules {
                let name = format!("{}/{}", pipeline.name, schedule.id);
                let served = self.schedules.get(&name).ok_or_else(|| finding!("{name} never began"))?;
                let due = schedule.cron.until(now);
                ensure!(due.is_none_or(|due| due <= served.at), "{name} missed {due:?}: {served:?}");
            }
        }
        Ok(())
    }
}
