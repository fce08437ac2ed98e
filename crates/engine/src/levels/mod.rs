//! Service levels as they are kept to: how long stays and legs took lately, of all servers together.
//!
//! Each server collects what its commits measured ([`Levels`]) and adds it every few seconds to what is registered, one
//! entry for each level ([`LevelRecord`]), so that the numbers are of the fleet, and still there after a restart. A server
//! that is killed loses what it measured in those seconds.

mod record;
pub(crate) mod report;
mod tally;

pub use record::{LevelRecord, Window};
pub use report::{LevelReport, Verdict, WindowReport};
pub use tally::{Kept, Tally};

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::Name;
use model::measured::{Level, Measured};
use store::Store;

use crate::registry::{self, Entry, EntryKey};

/// Levels that are told apart by one server. Files declare few; the rest is not measured.
const LEVELS_MAX: usize = 1_000;

/// The measurements that are registered, by level.
pub(crate) enum Registered {}

impl Entry for Registered {
    const KIND: &'static str = "level";
    type Body = LevelRecord;
}

/// A level of a pipeline, whatever the version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelKey {
    pub pipeline: Name,
    pub level: Level,
}

impl LevelKey {
    pub(crate) fn registered(&self) -> EntryKey<Registered> {
        EntryKey::new(format!("{}/{}/{}", self.pipeline, self.level.kind(), self.level.name()))
    }
}

/// Measurements, by level.
pub type News = BTreeMap<LevelKey, LevelRecord>;

/// The measurements of this server that are not registered yet.
#[derive(Debug, Default)]
pub struct Levels(Mutex<Unregistered>);

#[derive(Debug, Default)]
struct Unregistered {
    news: News,
    /// On its way into the store; added again if it does not get there.
    sent: News,
}

impl Levels {
    fn with<T>(&self, look: impl FnOnce(&mut Unregistered) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(&self, pipeline: &Name, measured: &Measured) {
        let key = LevelKey { pipeline: pipeline.clone(), level: measured.level.clone() };
        self.with(|all| {
            if all.news.len() < LEVELS_MAX || all.news.contains_key(&key) {
                all.news.entry(key).or_default().note(measured);
            }
        });
    }

    /// Returns all measurements to register, with those that were sent before and did not get there.
    pub(crate) fn send(&self) -> News {
        self.with(|all| {
            let news = std::mem::take(&mut all.news);
            add(&mut all.sent, &news);
            all.sent.clone()
        })
    }

    /// Drops the measurements that were sent: they are registered.
    pub(crate) fn sent(&self) {
        self.with(|all| all.sent.clear());
    }

    /// Returns the measurements that are not registered yet.
    fn unregistered(&self) -> News {
        self.with(|all| {
            let mut news = all.sent.clone();
            add(&mut news, &all.news);
            news
        })
    }

    /// Everything that was measured lately: by all servers, and by this one until now.
    pub fn read(&self, store: &dyn Store) -> Result<Measurements, store::Error> {
        // One that another release wrote in another way says nothing here.
        let mut all: BTreeMap<String, LevelRecord> =
            registry::readable::<Registered>(store)?.into_iter().collect();
        for (key, record) in self.unregistered() {
            all.entry(key.registered().raw().name).or_default().add(&record);
        }
        Ok(Measurements(all))
    }
}

fn add(all: &mut News, news: &News) {
    news.iter().for_each(|(key, record)| all.entry(key.clone()).or_default().add(record));
}

/// The recent measurements of every level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measurements(BTreeMap<String, LevelRecord>);

impl Measurements {
    #[must_use]
    pub fn of(&self, level: &LevelKey) -> Option<&LevelRecord> {
        self.0.get(&level.registered().raw().name)
    }
}

#[cfg(test)]
mod tests {
    use model::{Millis, Time};

    use super::*;

    fn took(state: &str) -> Measured {
        let level = Level::State(state.into());
        Measured { level, at: Time::EPOCH, took: Millis::new(7), target: None, p95: None }
    }

    fn count(news: &News, state: &str) -> u64 {
        let key = LevelKey { pipeline: "p".into(), level: Level::State(state.into()) };
        news.get(&key).map_or(0, |record| record.read(Window::Hour, Time::EPOCH).count())
    }

    #[test]
    fn what_does_not_get_there_is_sent_again() {
        let levels = Levels::default();
        levels.note(&"p".into(), &took("A"));
        assert_eq!(count(&levels.send(), "A"), 1);
        levels.note(&"p".into(), &took("A"));
        assert_eq!(count(&levels.unregistered(), "A"), 2);
        assert_eq!(count(&levels.send(), "A"), 2, "the first did not get there");
        levels.sent();
        assert!(levels.send().is_empty() && levels.unregistered().is_empty());
    }

    #[test]
    fn levels_beyond_the_bound_are_not_measured() {
        let levels = Levels::default();
        for index in 0..=LEVELS_MAX {
            levels.note(&"p".into(), &took(&format!("S{index}")));
        }
        levels.note(&"p".into(), &took("S0"));
        let news = levels.send();
        assert_eq!((news.len(), count(&news, "S0")), (LEVELS_MAX, 2));
    }
}
