//! The bounds on what all callers share: how much there is, the share of it that one subject may have, and the reserve that
//! is kept for owners.
//!
//! An owner is an admin whose token is for everything: whoever has to act when somebody else has filled what there is. They
//! are checked where things are committed, so that requests that come together cannot pass them together.

use model::{Code, Refusal};

/// The bound of one kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The word for several of them.
    what: &'static str,
    /// The most there may be.
    pub all: usize,
    /// The most of one subject, unless it is an owner.
    pub each: usize,
    /// The number of those that only owners make.
    pub reserve: usize,
    /// The advice for whoever is refused.
    advice: &'static str,
}

/// Holds in force. All of them are looked at with every decision.
pub const HOLDS: Bound = Bound {
    what: "holds",
    all: 1_000,
    each: 200,
    reserve: 100,
    advice: "release some, or hold more at once by a label",
};

/// Operations that run, besides the engine's own. Each takes its turn with every pass.
pub const OPERATIONS: Bound = Bound {
    what: "running operations",
    all: 100,
    each: 20,
    reserve: 20,
    advice: "wait for some to end or stop them, or do more at once with a wider filter",
};

/// Cursors of the feed. Names come from callers: without a bound, one that makes a new name each time would fill the store.
pub const CURSORS: Bound = Bound {
    what: "cursors",
    all: 10_000,
    each: 100,
    reserve: 100,
    advice: "move one of those, or delete some",
};

/// The number of answers to an `Idempotency-Key` that are kept for one subject in the time they are kept, unless it is an
/// owner. Each server counts those it gave since it started.
pub const ANSWERS_EACH: usize = 1_000_000;

/// The part of something bounded that a caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A subject's share, and nothing of the reserve.
    Share,
    /// All there is: for owners.
    Whole,
}

/// The number of things there are, and of those the caller has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub all: usize,
    pub own: usize,
}

impl Bound {
    /// Checks that there may be one more.
    pub fn check(&self, taken: Taken, part: Part) -> Result<(), Refusal> {
        let Bound { what, all, each, reserve, advice } = *self;
        let open = all - reserve;
        let (message, max) = match part {
            Part::Whole if taken.all >= all => (format!("there are {all} {what} already; {advice}"), all),
            Part::Share if taken.own >= each => {
                (format!("you have {each} {what} already, which is the share of one subject; {advice}"), each)
            }
            Part::Share if taken.all >= open => {
                let rest = format!("the last {reserve} are kept for admins whose token is for everything");
                (format!("there are {open} {what} already, and {rest}; {advice}"), open)
            }
            Part::Share | Part::Whole => return Ok(()),
        };
        Err(Refusal::new(Code::TooLarge, message).with("max", max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_its_share_and_owners_have_the_reserve() {
        let passes = |all, own, part| HOLDS.check(Taken { all, own }, part).is_ok();
        assert!(passes(199, 199, Part::Share) && !passes(200, 200, Part::Share));
        assert!(passes(899, 0, Part::Share) && !passes(900, 0, Part::Share));
        assert!(passes(900, 900, Part::Whole) && passes(999, 0, Part::Whole));
        assert!(!passes(1_000, 0, Part::Whole));
        let refusal = HOLDS.check(Taken { all: 900, own: 0 }, Part::Share).unwrap_err();
        assert_eq!((refusal.code, &refusal.details["max"]), (Code::TooLarge, &serde_json::json!(900)));
    }

    #[test]
    fn no_subject_can_have_all_that_is_not_reserved() {
        for bound in [HOLDS, OPERATIONS, CURSORS] {
            assert!(bound.each < bound.all - bound.reserve, "{bound:?}");
        }
    }
}
