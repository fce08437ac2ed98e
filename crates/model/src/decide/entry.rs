//! Entering a state: how the submission waits there, for how long, and with which priority.

use std::borrow::Cow;

use super::guard_view::Moment;
use super::moves::Walk;
use crate::admit::PRIORITY_MAX;
use crate::event::Entry;
use crate::expr::{Expr, GuardError, Out};
use crate::pipeline::{After, Clock, Kind, LaneRule, State, Stretch, Task};
use crate::submission::{Seat, Stand, Status, Submission, Wait};
use crate::time::Time;

impl Walk<'_> {
    /// Returns what entering a state means for a submission.
    pub(super) fn entry(
        &self,
        state: &State,
        row: &Submission,
        moment: Moment<'_>,
    ) -> Result<Entry, GuardError> {
        self.entry_with(state, row, self.priority(row, moment)?)
    }

    /// Returns the same as `entry`, with a priority that is known.
    pub(super) fn entry_with(
        &self,
        state: &State,
        row: &Submission,
        priority: i64,
    ) -> Result<Entry, GuardError> {
        let now = self.context.now;
        let state_ttl_at = match &state.ttl {
            None => None,
            Some(ttl) => Some(self.after(&ttl.after, row, now)?),
        };
        let status = match &state.kind {
            Kind::Final { outcome, .. } => outcome.status(),
            _ => Status::Open,
        };
        let mut seat = self.seat(state, row.seat.as_ref());
        if row.key_waits && !state.is_final() {
            // Wherever it is sent meanwhile, it gets on there once it has its key.
            seat = seat.map(|seat| seat.standing(Stand::Away));
        }
        let seen = if seat == row.seat {
            Cow::Borrowed(row)
        } else {
            Cow::Owned(Submission { seat: seat.clone(), ..row.clone() })
        };
        let wait = self.turn(state, &seen, now, priority)?;
        let erase_at = state.retention.map(|span| now.plus(span));
        let forget_at = state.forget.map(|span| now.plus(span));
        let clocks = self.clocks(state, row, now);
        let investigate = state.investigate().is_some();
        Ok(Entry { wait, status, priority, state_ttl_at, seat, erase_at, forget_at, clocks, investigate })
    }

    /// Returns the priority that the pipeline computes, or that was set with the submission.
    pub(super) fn priority(&self, row: &Submission, moment: Moment<'_>) -> Result<i64, GuardError> {
        match self.pipeline.priority.decides(row.priority_given) {
            None => Ok(row.priority_given.unwrap_or(0)),
            Some(expr) => Ok(self.sight.number(row, moment, expr)?.clamp(-PRIORITY_MAX, PRIORITY_MAX)),
        }
    }

    /// Returns what a submission waits for in a state: its key, its lane, and only then what the state waits for.
    pub(super) fn turn(
        &self,
        state: &State,
        row: &Submission,
        entered: Time,
        priority: i64,
    ) -> Result<Wait, GuardError> {
        if row.key_waits && !state.is_final() {
            return Ok(Wait::Key);
        }
        if row.seat.as_ref().is_some_and(Seat::waits) && stops_for_lane(state) {
            return Ok(Wait::Line);
        }
        self.wait(state, row, entered, priority)
    }

    /// Returns what a submission waits for in a state that it entered at `entered`.
    pub(super) fn wait(
        &self,
        state: &State,
        row: &Submission,
        entered: Time,
        priority: i64,
    ) -> Result<Wait, GuardError> {
        Ok(match &state.kind {
            Kind::Pass { .. } => Wait::Guard,
            Kind::Task { task, .. } => self.queued(task, priority),
            Kind::Wait { clock, .. } => Wait::Clock { until: self.until(clock, row, entered)? },
            Kind::Human { .. } => Wait::Person,
            // Its task makes the children; one that has made them all waits for them.
            Kind::Join { task: Some(task), .. } if !row.sealed => self.queued(task, priority),
            Kind::Join { .. } => Wait::Children,
            Kind::Final { .. } => Wait::Nothing,
        })
    }

    /// In the queue of its task, from now on.
    pub(super) fn queued(&self, task: &Task, priority: i64) -> Wait {
        let rank = self.pipeline.ageing.rank(self.queued_at, priority);
        Wait::Worker { task: task.name.clone(), rank }
    }

    pub(super) fn after(&self, after: &After, row: &Submission, since: Time) -> Result<Time, GuardError> {
        match after {
            After::Fixed(span) => Ok(self.pipeline.over(*span, None, since)),
            After::Computed(expr) => self.computed(expr, row, since),
        }
    }

    fn until(&self, clock: &Clock, row: &Submission, since: Time) -> Result<Time, GuardError> {
        match clock {
            Clock::For(span) => Ok(self.pipeline.over(*span, None, since)),
            Clock::Until(time) => Ok(*time),
            Clock::Computed(expr) => self.computed(expr, row, since),
        }
    }

    fn computed(&self, expr: &Expr, row: &Submission, since: Time) -> Result<Time, GuardError> {
        let out = self.sight.out(row, Moment::default(), expr)?;
        clock_time(&out, |span| self.pipeline.over(span, None, since)).ok_or_else(|| no_time(expr))
    }
}

/// Tells whether only the holder of the lane gets anywhere in a state.
fn stops_for_lane(state: &State) -> bool {
    match state.kind {
        Kind::Task { .. } | Kind::Wait { .. } | Kind::Join { .. } => true,
        Kind::Pass { .. } => state.lane == LaneRule::Wait,
        _ => false,
    }
}

/// Reads a span, which `over` counts from where it begins, or a time: `7d`, `5bd`, `duration(..)`, `2026-02-15T18:00:00Z`.
pub(crate) fn clock_time(out: &Out, over: impl Fn(Stretch) -> Time) -> Option<Time> {
    let text = match out {
        Out::Duration(span) => return Some(over(Stretch::Time(*span))),
        Out::Json(value) => value.as_str()?,
    };
    text.parse().map(over).or_else(|_: String| text.parse()).ok()
}

fn no_time(expr: &Expr) -> GuardError {
    let source = expr.source();
    GuardError {
        reads_output: false,
        message: format!(
            "`{source}` gives neither a duration such as \"7d\" or \"5bd\" nor an RFC 3339 time"
        ),
    }
}
