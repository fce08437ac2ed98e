use std::time::Duration;

use model::{Millis, Name};

use super::{Duty, Look, Pass};
use crate::core::{self, Ask, Server};

/// Tells the other servers that this one is there.
pub struct Presence {
    /// Asked at every pass: where a server listens is not known from the beginning.
    pub server: Box<dyn Fn() -> Server + Send>,
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Presence").finish_non_exhaustive()
    }
}

/// A server that has said nothing for so long is taken off the list.
const GONE: Millis = Millis::from_secs(60);

impl Duty for Presence {
    fn name(&self) -> &'static str {
        "presence"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(3)
    }

    fn is_for_one(&self) -> bool {
        false
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let this = (self.server)();
        let seen = core::servers(look.store)?.into_iter();
        let gone = seen.filter(|server| server.seen_at.plus(GONE) <= look.now && server.id != this.id);
        let gone: Vec<Name> = gone.map(|server| server.id).collect();
        let present = Ask::Present { server: Box::new(this), gone };
        Ok(Pass { inputs: vec![present.into()], again: false })
    }
}
