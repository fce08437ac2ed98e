//! The servers over a store, and what is gone when they are.

use std::sync::Arc;

use engine::core::Core;
use engine::{Holds, Pipelines};

use crate::faults::Faulty;
use crate::finding::{Finding, finding};
use crate::pipelines;

/// Everything that is gone when the machine is: several servers over one store, of which one steps at a time. What
/// one of them is told, the others have to find out.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) servers: Vec<Server>,
    /// The server whose turn it is.
    pub(crate) turn: usize,
    pub(crate) store: Arc<Faulty>,
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) core: Core,
    pub(crate) pipelines: Pipelines,
}

impl Server {
    /// Makes a server that knows which definitions there are, for reading them takes long; and nothing else.
    pub(crate) fn new(store: &Arc<Faulty>, secret: [u8; 32]) -> Result<Self, Finding> {
        let pipelines = Pipelines::default();
        pipelines
            .catch_up_by(store.truth(), &pipelines::stored)
            .map_err(|error| finding!("the store cannot be read: {error}"))?;
        let core = Core::new(store.clone(), pipelines.clone(), Holds::default(), secret);
        Ok(Server { core, pipelines })
    }
}

impl Process {
    pub(crate) fn server(&self) -> &Server {
        &self.servers[self.turn]
    }
}
