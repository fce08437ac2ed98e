//! Tries: counted per visit, by rule, never more and never fewer than the rule says; a crash is not one of them.

use std::collections::BTreeMap;

use engine::core::Ask;
use model::command::Fail;
use model::decide::CRASHES_MAX;
use model::event::{Change, Kind};
use model::pipeline::{Backoff, Every, RetryRule, Times};
use model::{Command, Millis, Name, Right};

use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::Finding;
use crate::report::Report;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) attempt: u32,
    pub(super) retried: BTreeMap<Name, u32>,
    pub(super) crashes: u32,
}

impl Default for Visit {
    fn default() -> Self {
        Visit { attempt: 1, retried: BTreeMap::new(), crashes: 0 }
    }
}

impl Visit {
    /// The visit after an event, if the event is one the rules allow.
    pub(super) fn after(&self, moment: &Moment<'_>, report: &mut Report) -> Result<Visit, Finding> {
        let leaf = &moment.event.leaf;
        ensure!(leaf.attempt == self.attempt, "it is attempt {} and not {}", self.attempt, leaf.attempt);
        let mut visit = self.clone();
        match &moment.event.detail.change {
            Change::Retried { error, rule, until } => {
                let (counted, retry) = self.rule(moment, &error.code)?;
                ensure!(*counted == **rule, "a failure counts under `{counted}`, not under `{rule}`");
                let failed = self.retried.get(rule).copied().unwrap_or(0);
                let allowed = match retry.times {
                    Times::AtMost(times) => failed < times,
                    Times::Forever => true,
                };
                ensure!(allowed, "tried again although {failed} retries of `{rule}` were used up");
                let waits = until.since(leaf.at);
                match asked_pauses(moment).contains(&waits) {
                    true => report.count("moment/paused-as-asked"),
                    false => check_delay(&retry, failed, waits)?,
                }
                *visit.retried.entry(rule.clone()).or_default() += 1;
                visit.attempt += 1;
                visit.crashes = 0;
            }
            Change::Crashed { .. } => {
                visit.crashes += 1;
                ensure!(
                    visit.crashes < CRASHES_MAX,
                    "it crashed {} times and was not set aside",
                    visit.crashes
                );
            }
            Change::Died { .. } | Change::Abandoned { .. } => self.check_end(moment, report)?,
            Change::Moved(_) => {
                if moment.book.ways(moment.event)?.iter().all(|by| by.may_end_dead()) {
                    self.check_end(moment, report)?;
                }
            }
            Change::Submitted(_)
            | Change::Requested { .. }
            | Change::Amended(_)
            | Change::Redriven { .. }
            | Change::Sealed
            | Change::Erased
            | Change::Forgotten
            | Change::Late { .. }
            | Change::Approved(_)
            | Change::Acknowledged { .. }
            | Change::Assigned(_)
            | Change::Released
            | Change::Noted
            | Change::Migrated(_)
            | Change::Refused { .. }
            | Change::Merged { .. } => {}
        }
        let goes_on = match (&moment.event.detail.change, leaf.kind) {
            (Change::Migrated(migrated), _) => migrated.stays,
            (_, Kind::Retried | Kind::Crashed | Kind::Died | Kind::Amended) => true,
            (_, kind) => {
                matches!(kind, Kind::Late | Kind::Approved | Kind::Assigned | Kind::Released | Kind::Noted)
            }
        };
        Ok(if goes_on { visit } else { Visit::default() })
    }

    fn rule(&self, moment: &Moment<'_>, code: &str) -> Result<(String, RetryRule), Finding> {
        let task = moment.book.task(moment.stood()).ok_or("an attempt failed where there is no task")?;
        let (counted, rule) = task.retry.rule_for(code);
        Ok((counted.to_owned(), rule.clone()))
    }

    /// Giving up is right only when nothing is left to try.
    fn check_end(&self, moment: &Moment<'_>, report: &mut Report) -> Checked {
        let code = moment.failure().ok_or("it gave up without an error")?;
        match &moment.event.detail.change {
            Change::Died { spent: Some(_), .. } => report.count("moment/ttl-edge-failed"),
            Change::Abandoned { status, .. } if status.is_final() => report.count("moment/ended-again"),
            _ => {}
        }
        let leaf = &moment.event.leaf;
        match code {
            "guard-error" => {
                report.count("moment/guard-error");
                return Ok(());
            }
            "crashing" => {
                ensure!(self.crashes + 1 == CRASHES_MAX, "set aside after {} crashes", self.crashes + 1);
                report.count("moment/quarantine");
                return Ok(());
            }
            _ => {}
        }
        let may_go_on = match leaf.right {
            Right::Lease(no) => !said_never(moment, no),
            _ => true,
        };
        let (counted, rule) = self.rule(moment, code)?;
        let failed = self.retried.get(&*counted).copied().unwrap_or(0);
        let used_up = match rule.times {
            Times::AtMost(times) => failed == times,
            Times::Forever => false,
        };
        ensure!(used_up || !may_go_on, "it gave up on `{code}` after {failed} retries, with more allowed");
        report.count(if used_up { "moment/retries-used-up" } else { "moment/not-retryable" });
        Ok(())
    }
}

/// Lists the pauses that the worker of the lease asked for in this step: it may have asked twice.
fn asked_pauses(moment: &Moment<'_>) -> Vec<Millis> {
    let leaf = &moment.event.leaf;
    let Right::Lease(lease_no) = leaf.right else { return Vec::new() };
    let pause = |fail: &Fail| (fail.token.lease_no == lease_no).then_some(fail.after).flatten();
    let asked = moment.told.seen.inputs.iter().filter_map(|input| match &input.ask {
        Ask::Tell(to, Command::Fail(fail)) if *to == leaf.submission => pause(fail),
        _ => None,
    });
    asked.collect()
}

/// Tells whether the worker of a lease said in this step that trying again is of no use.
fn said_never(moment: &Moment<'_>, lease_no: u64) -> bool {
    let id = moment.event.leaf.submission;
    moment.told.seen.inputs.iter().any(|input| match &input.ask {
        Ask::Tell(to, Command::Fail(fail)) => *to == id && fail.token.lease_no == lease_no && !fail.retryable,
        _ => false,
    })
}

fn check_delay(rule: &RetryRule, failed: u32, delay: Millis) -> Checked {
    let base = match &rule.delay {
        Every::Each(spans) => {
            spans.get(failed as usize).or(spans.last()).copied().unwrap_or(Millis::ZERO).millis()
        }
        Every::Same(span) => match rule.backoff {
            Backoff::Constant => span.millis(),
            Backoff::Linear => span.millis().saturating_mul(u64::from(failed) + 1),
            Backoff::Exponential => {
                span.millis().saturating_mul(1_u64.checked_shl(failed).unwrap_or(u64::MAX))
            }
        },
    };
    let base = rule.max.map_or(base, |max| base.min(max.millis()));
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "delays of the simulated pipelines are minutes, far below where a double loses a millisecond"
    )]
    let slack = (base as f64 * rule.jitter) as u64 + 1;
    ensure!(delay.millis().abs_diff(base) <= slack, "a retry waits {delay} instead of about {base} ms");
    Ok(())
}
