//! Priorities: what ranks the submissions of a pipeline in the queues of their tasks, and who may say so.

use crate::expr::Expr;
use crate::role::Role;
use crate::time::{Millis, Time};

/// The time by which a submission must be older to go before one of the next better priority, unless its pipeline says
/// otherwise.
pub const AGE_STEP: Millis = Millis::from_secs(60);

/// The distance between the ranks of two neighbouring priorities that do not age: further than any two times, until the
/// year 2248, and near enough that a million of them fit a rank.
const CLASS_STEP: i64 = 1 << 43;

/// The priority of a pipeline's submissions. Lower goes first.
#[derive(Debug, Clone, Default)]
pub struct Priority {
    /// Evaluated on every move; 0 where there is none.
    pub value: Option<Expr>,
    /// The roles that may set a priority with a submission. An admin may in any case.
    pub set_by: Vec<Role>,
}

impl Priority {
    /// Tells whether somebody with this role may set a priority with a submission.
    #[must_use]
    pub fn may_be_set_by(&self, role: Role) -> bool {
        role == Role::Admin || self.set_by.contains(&role)
    }

    /// The expression that decides, given what was set with the submission. One that names `given` decides in any case;
    /// any other is replaced by what was set.
    pub(crate) fn decides(&self, given: Option<i64>) -> Option<&Expr> {
        self.value.as_ref().filter(|value| given.is_none() || value.reads("given"))
    }
}

/// The worth of waiting against a better priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ageing {
    /// Nothing: whoever has the better priority goes first, however long the others have waited.
    Never,
    /// One step of priority for each such span: nothing waits forever.
    Every(Millis),
}

impl Default for Ageing {
    fn default() -> Self {
        Ageing::Every(AGE_STEP)
    }
}

impl Ageing {
    /// The place in a queue, fixed on joining it: nothing is reordered later, so one index serves.
    #[must_use]
    pub fn rank(self, ready_at: Time, priority: i64) -> i64 {
        ready_at.millis().saturating_add(self.offset(priority))
    }

    /// Returns the time at which a submission with this rank and priority joined its queue.
    #[must_use]
    pub fn ready_at(self, rank: i64, priority: i64) -> Time {
        Time::from_millis(rank.saturating_sub(self.offset(priority)))
    }

    fn offset(self, priority: i64) -> i64 {
        let step = match self {
            Ageing::Never => CLASS_STEP,
            Ageing::Every(span) => i64::try_from(span.millis()).unwrap_or(i64::MAX),
        };
        priority.saturating_mul(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::PRIORITY_MAX;

    #[test]
    fn ranks_that_do_not_age_go_by_priority_then_by_age_and_fit() {
        let time = |text: &str| text.parse::<Time>().expect("a time");
        let (old, new) = (time("2026-01-01T00:00:00Z"), time("2247-01-01T00:00:00Z"));
        let ordered = [-PRIORITY_MAX, -1, 0, 1, PRIORITY_MAX].map(|priority| {
            [old, new].map(|at| {
                let rank = Ageing::Never.rank(at, priority);
                assert_eq!(Ageing::Never.ready_at(rank, priority), at, "nothing was cut off");
                rank
            })
        });
        assert!(ordered.as_flattened().is_sorted_by(|one, other| one < other), "{ordered:?}");
    }

    #[test]
    fn a_step_of_priority_is_worth_a_span() {
        let at = Time::from_millis(1_800_000_000_000);
        let every = Ageing::Every(Millis::from_secs(600));
        assert!(every.rank(at, 0) < every.rank(at, 1));
        assert_eq!(every.rank(at.plus(Millis::from_secs(600)), 0), every.rank(at, 1));
        assert_eq!(every.ready_at(every.rank(at, -7), -7), at);
    }
}
