use std::time::Duration;

use super::{Duty, Look, Pass};
use crate::core::{Ask, LogDeed};
use crate::log::{Follower, Published, acts};

/// Publishes what was committed, and sees to it that the log knows which keys sign it.
#[derive(Debug)]
pub struct Log {
    pub(crate) follower: Follower,
    pub(crate) every: Duration,
}

impl Duty for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn every(&self) -> Duration {
        self.every
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let published = self.follower.step(look.store, look.now).map_err(store::Error::unavailable)?;
        let again = matches!(published, Published::Done { more: true } | Published::Elsewhere);
        let inputs = self.keys(look)?.into_iter().map(|deed| Ask::Log(Box::new(deed)).into()).collect();
        Ok(Pass { inputs, again })
    }
}

impl Log {
    /// Returns what the log does not know yet of the keys in the file. Over a shared store a file elsewhere may have
    /// others.
    fn keys(&self, look: Look<'_>) -> Result<Vec<LogDeed>, store::Error> {
        let keys = self.follower.state.keys.verifiers();
        let keys = keys.map_err(|error| store::Error::unavailable(error.to_string()))?;
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let known = acts(look.store)?.keys;
        if known.is_empty() {
            return Ok(vec![LogDeed::KnowKeys(keys)]);
        }
        let added = keys.iter().filter(|key| !known.contains(key)).cloned().map(LogDeed::AddKey);
        let gone = known.iter().filter(|key| !look.store.is_shared() && !keys.contains(key));
        Ok(added.chain(gone.cloned().map(LogDeed::RetireKey)).collect())
    }
}
