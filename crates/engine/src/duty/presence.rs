use std::time::Duration;

use model::{Millis, Name};

use super::{Duty, Look, Pass};
use crate::core::{Ask, SERVERS, Server};

/// Tells the other servers that this one is there.
#[derive(Debug)]
pub struct Presence {
    pub server: Server,
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
        let others = store::registry_all(look.store, SERVERS)?.into_iter();
        let seen = others.filter_map(|(_, body)| serde_json::from_str::<Server>(body.as_str()).ok());
        let gone = seen.filter(|server| server.seen_at.plus(GONE) <= look.now && server.id != self.server.id);
        let gone: Vec<Name> = gone.map(|server| server.id).collect();
        let present = Ask::Present { server: Box::new(self.server.clone()), gone };
        Ok(Pass { inputs: vec![present.into()], again: false })
    }
}
