//! Decides whether the clock can be believed. Erasing documents, forgetting rows and ending tokens cannot be taken
//! back, so they go by a time that is *known*: the latest the clock told while it could be believed, kept in the
//! registry.
//!
//! A clock that comes back far ahead of that is wrong, or nobody ran the server for long; one that comes back before it
//! is wrong, or was. Which of them only people can tell, so what cannot be taken back waits until the clock is set right
//! or somebody confirms it. Everything else goes on by the clock as it is.

use std::fmt;

use audit::leaf::Entry as Logged;
use model::{Millis, Time};
use serde::{Deserialize, Serialize};
use store::{Changes, Store};

use super::commit::Commit;
use super::{Output, Reply};
use crate::registry::{Entry, EntryKey, OneEntry};

/// The clock may come back so far ahead of what is known: a server that was off over a holiday needs nobody. What a clock
/// that is wrong by less can destroy would have been erased within a week.
pub const AHEAD_MAX: Millis = Millis::from_secs(7 * 24 * 3_600);
/// The clock may come back so far before what is known: clocks are corrected by a little all the time.
pub const BEHIND_MAX: Millis = Millis::from_secs(5 * 60);
/// The clocks of the store and of this machine may be so far apart.
pub const APART_MAX: Millis = Millis::from_secs(24 * 3_600);
/// The longest time between two looks at a clock in doubt: more is a step of the clock.
const PASSES_MAX: Millis = Millis::from_secs(3_600);
/// The age the kept time reaches while there is something to commit anyway, and while there is nothing.
const KEPT_BUSY: Millis = Millis::from_secs(60);
const KEPT_IDLE: Millis = Millis::from_secs(600);

/// The known time.
pub(super) enum KnownTime {}

impl Entry for KnownTime {
    const KIND: &'static str = "clock";
    type Body = Kept;
}

impl OneEntry for KnownTime {
    const NAME: &'static str = "known";
}

/// The reason why the clock is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The clock says `now`, long after the known time.
    Ahead { now: Time, known: Time },
    /// The clock says `now`, which is before the known time.
    Behind { now: Time, known: Time },
    /// The store's says `now`, and this machine's something else.
    Apart { now: Time, here: Time },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Ahead { now, known } => {
                write!(
                    f,
                    "the clock says {now}, {} after {known}, when it was last seen",
                    rough(now.since(*known))
                )
            }
            Doubt::Behind { now, known } => {
                write!(
                    f,
                    "the clock says {now}, and it was {known} already: {} later",
                    rough(known.since(*now))
                )
            }
            Doubt::Apart { now, here } => {
                write!(f, "the store's clock says {now} and this machine's says {here}")
            }
        }?;
        f.write_str(
            "; erasing, forgetting and the end of tokens wait: set the clock right and start again, or, if it is right, \
             confirm it with `milepost clock confirm`",
        )
    }
}

/// Days, or minutes where there are none.
fn rough(span: Millis) -> String {
    let minutes = span.millis() / 60_000;
    match minutes / (24 * 60) {
        0 => format!("{minutes} min"),
        days => format!("{days} days"),
    }
}

/// The entry of the registry that keeps the known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    known: Time,
    /// The number of times somebody has confirmed the clock: so that every server over a shared store hears of it.
    #[serde(default)]
    confirmed: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// False: the clock is always believed, and nothing is kept.
    watches: bool,
    /// The latest time that is certain to have come.
    known: Option<Time>,
    doubt: Option<Doubt>,
    /// The time told last.
    told: Option<Time>,
    /// The known time that is kept in the store.
    kept: Option<Time>,
    confirmed: u64,
    /// This machine's clock, where the store's is another.
    here: Option<fn() -> Time>,
    /// Somebody has confirmed the store's clock, though this machine's differs.
    may_differ: bool,
}

impl Trust {
    /// Watches a store's clock from what is kept; at first, from the newest that was recorded. `here` is this machine's clock, for a
    /// store that has one of its own.
    pub fn over(store: &dyn Store, here: Option<fn() -> Time>) -> Result<Trust, store::Error> {
        let mut trust = Trust { watches: true, here, ..Trust::default() };
        match kept(store)? {
            Some(Kept { known, confirmed }) => {
                (trust.known, trust.kept, trust.confirmed) = (Some(known), Some(known), confirmed);
            }
            None => trust.known = newest_at(store)?,
        }
        Ok(trust)
    }

    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// The latest time that is certain to have come, if any is known.
    #[must_use]
    pub fn known(&self) -> Option<Time> {
        self.known
    }

    /// Returns the latest time that is certain to have come when the store tells a time.
    pub(super) fn certain(&self, now: Time) -> Time {
        let mut trust = self.clone();
        trust.see(now);
        trust.known.unwrap_or(now)
    }

    /// The store tells a time.
    pub(super) fn see(&mut self, now: Time) {
        if !self.watches {
            self.known = Some(now);
            return;
        }
        let told = self.told.replace(now);
        let known = self.known.unwrap_or(now);
        self.doubt = far(now, known);
        self.known = Some(match self.doubt {
            None => known.max(now),
            Some(_) => {
                // What passes, passes for a clock in doubt, too.
                let passed = told.map_or(Millis::ZERO, |told| now.since(told));
                let known = if passed <= PASSES_MAX { known.plus(passed) } else { known };
                self.doubt = far(now, known);
                known
            }
        });
        if let Some(here) = self.here {
            let here = here();
            let apart = now.since(here).max(here.since(now)) > APART_MAX;
            self.may_differ &= apart;
            if apart && !self.may_differ {
                self.doubt.get_or_insert(Doubt::Apart { now, here });
            }
        }
    }

    /// Somebody says that the clock is right.
    fn confirm(&mut self, now: Time) {
        (self.known, self.doubt, self.may_differ) = (Some(now), None, true);
        self.keep_next();
        self.confirmed += 1;
    }

    /// Another server over the same store may have heard that.
    pub(super) fn catch_up(&mut self, store: &dyn Store) -> Result<(), store::Error> {
        if !self.watches {
            return Ok(());
        }
        if let Some(Kept { known, confirmed }) = kept(store)?
            && confirmed != self.confirmed
        {
            (self.known, self.kept) = (Some(known), Some(known));
            (self.confirmed, self.may_differ) = (confirmed, true);
        }
        Ok(())
    }

    /// Has the next commit keep what is known.
    pub(super) fn keep_next(&mut self) {
        self.kept = None;
    }

    /// Has what is known kept with this commit, if it is time to.
    pub(super) fn keep(&mut self, changes: &mut Changes) {
        let Some(known) = self.known.filter(|_| self.watches) else { return };
        let after = if changes.is_empty() { KEPT_IDLE } else { KEPT_BUSY };
        if self.kept.is_some_and(|kept| known.since(kept) < after) {
            return;
        }
        let kept = Kept { known, confirmed: self.confirmed };
        changes.registry.push(EntryKey::<KnownTime>::one().change(Some(&kept)));
        self.kept = Some(known);
    }
}

fn far(now: Time, known: Time) -> Option<Doubt> {
    if now.since(known) > AHEAD_MAX {
        return Some(Doubt::Ahead { now, known });
    }
    (known.since(now) > BEHIND_MAX).then_some(Doubt::Behind { now, known })
}

fn kept(store: &dyn Store) -> Result<Option<Kept>, store::Error> {
    EntryKey::<KnownTime>::one().readable(store)
}

/// The time of the newest event or act.
fn newest_at(store: &dyn Store) -> Result<Option<Time>, store::Error> {
    let Some(before) = store::newest(store)?.checked_sub(1) else { return Ok(None) };
    let newest = store.leaves(before, 1)?.leaves.pop();
    Ok(newest.and_then(|leaf| Logged::read(&leaf).ok().map(|entry| entry.at())))
}

impl Commit<'_> {
    /// Looks at the clock, before anything is decided by it.
    pub(super) fn watch_clock(&mut self, trust: &Trust) {
        self.trust = trust.clone();
        self.trust.see(self.now);
    }

    /// Leaves what has ended as it is while the clock is in doubt: nothing is erased or forgotten, and nobody is woken for
    /// it.
    pub(super) fn spare_idle(&mut self) {
        if self.trust.doubt().is_some() {
            self.taken.idle.clear();
            self.taken.next_idle = None;
        }
    }

    /// Believes the clock as it is from now on, on every server. Nothing to do where nobody doubts it.
    pub(super) fn confirm_clock(&mut self) -> Reply {
        if let Some(doubt) = self.trust.doubt() {
            let known = match doubt {
                Doubt::Ahead { known, .. } | Doubt::Behind { known, .. } => ("known", known),
                Doubt::Apart { here, .. } => ("here", here),
            };
            let now = self.now;
            let detail = [("now", now.to_string()), (known.0, known.1.to_string())];
            self.administered("clock-confirmed", "clock", &detail);
            self.trust.confirm(now);
            self.next_epoch();
        }
        Ok(Output::Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Millis = Millis::from_secs(24 * 3_600);

    fn at(day: u64) -> Time {
        Time::EPOCH.plus(DAY.times(day))
    }

    fn watching(known: Option<Time>) -> Trust {
        Trust { watches: true, known, ..Trust::default() }
    }

    fn seen(trust: &mut Trust, now: Time) -> Option<Doubt> {
        trust.see(now);
        trust.doubt()
    }

    #[test]
    fn a_clock_that_nothing_is_known_of_is_believed() {
        let mut trust = watching(None);
        assert_eq!(seen(&mut trust, at(100)), None);
        assert_eq!(trust.known(), Some(at(100)));
    }

    #[test]
    fn a_week_off_is_nothing_and_more_is_in_doubt_until_it_is_confirmed() {
        let mut trust = watching(Some(at(100)));
        assert_eq!(seen(&mut trust, at(107)), None);
        let doubt = Doubt::Ahead { now: at(160), known: at(107) };
        assert_eq!(seen(&mut trust, at(160)), Some(doubt));
        trust.confirm(at(160));
        assert_eq!((seen(&mut trust, at(160)), trust.known()), (None, Some(at(160))));
    }

    #[test]
    fn what_is_known_grows_as_time_passes_though_the_clock_is_in_doubt() {
        let mut trust = watching(Some(at(100)));
        for minute in 0..120 {
            trust.see(at(160).plus(Millis::from_secs(60 * minute)));
        }
        assert_eq!(trust.known(), Some(at(100).plus(Millis::from_secs(60 * 119))));
        trust.see(at(163));
        assert_eq!(trust.known(), Some(at(100).plus(Millis::from_secs(60 * 119))), "a step is no passing");
    }

    #[test]
    fn a_clock_that_goes_back_does_not_take_what_is_known_with_it() {
        let mut trust = watching(Some(at(100)));
        let little = at(100).minus(Millis::from_secs(200));
        assert_eq!((seen(&mut trust, little), trust.known()), (None, Some(at(100))));
        assert!(matches!(seen(&mut trust, at(40)), Some(Doubt::Behind { .. })));
        assert_eq!(trust.known(), Some(at(100)));
        assert_eq!(seen(&mut trust, at(100).plus(DAY)), None, "set right while it runs");
        trust.see(at(40));
        trust.confirm(at(40));
        assert_eq!((seen(&mut trust, at(40)), trust.known()), (None, Some(at(40))));
    }

    #[test]
    fn two_clocks_far_apart_are_in_doubt() {
        let mut trust = Trust { here: Some(|| at(100)), ..watching(Some(at(101))) };
        assert_eq!(seen(&mut trust, at(101)), None);
        let now = at(101).plus(Millis::new(1));
        assert_eq!(seen(&mut trust, now), Some(Doubt::Apart { now, here: at(100) }));
        trust.confirm(now);
        assert_eq!(seen(&mut trust, now), None);
        assert_eq!(seen(&mut trust, at(101)), None);
        assert!(seen(&mut trust, now).is_some(), "once they have agreed, they may not differ again");
    }

    #[test]
    fn it_is_kept_at_once_then_with_commits_and_rarely_without() {
        let mut trust = watching(None);
        let mut keeps = |now: Time, busy: bool| {
            let mut changes = Changes { retired_before: busy.then_some(1), ..Changes::default() };
            trust.see(now);
            trust.keep(&mut changes);
            !changes.registry.is_empty()
        };
        let minutes = |count: u64| at(1).plus(Millis::from_secs(60 * count));
        assert!(keeps(at(1), false));
        assert!(!keeps(minutes(1), false) && keeps(minutes(1), true) && !keeps(minutes(1), true));
        assert!(!keeps(minutes(10), false) && keeps(minutes(11), false));
    }
}
