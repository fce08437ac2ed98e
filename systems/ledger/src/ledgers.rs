//! The ledgers of a deployment, and the one that a service is of.

use std::fmt;
use std::sync::Arc;

use fetch::Fetch;
use tokio::sync::Semaphore;
use worker::Failure;

use crate::adapter::{self, Adapter, Link};
use crate::poller::Poller;
use crate::settings::{LedgerSettings, Table};

/// All ledgers, as one worker reaches them.
#[derive(Debug)]
pub(crate) struct Ledgers {
    ledgers: Vec<(LedgerSettings, Result<Ledger, String>)>,
}

/// One ledger.
pub(crate) struct Ledger {
    pub(crate) settings: LedgerSettings,
    pub(crate) adapter: Arc<dyn Adapter>,
    pub(crate) poller: Poller,
    /// Places for tasks: one ledger that does not answer takes no more than half of all.
    pub(crate) places: Semaphore,
}

impl Ledgers {
    /// Makes ready for a table of settings. A ledger that cannot be reached as it is set up says so to each of its batches.
    pub(crate) fn new(table: &Table, fetch: &Fetch) -> Ledgers {
        let ready = table.ledgers.iter().map(|settings| {
            let ledger =
                Link::new(fetch, settings).map(|link| Ledger::new(settings, link, table.at_once / 2));
            let ledger = ledger.map_err(|fault| {
                tracing::error!(ledger = settings.name, %fault, "cannot use a ledger: its batches wait");
                format!("the settings of the ledger `{}`: {fault}", settings.name)
            });
            (settings.clone(), ledger)
        });
        Ledgers { ledgers: ready.collect() }
    }

    /// Returns the ledger of a service.
    pub(crate) fn of(&self, service: &str) -> Result<&Ledger, Failure> {
        match self.ledgers.iter().find(|(settings, _)| settings.has(service)) {
            Some((_, Ok(ledger))) => Ok(ledger),
            Some((_, Err(fault))) => Err(Failure::new("settings", fault.as_str())),
            None => Err(Failure::new(
                "no-ledger",
                format!(
                    "no ledger has the service `{service}`: name it under `services` of one in [[system.ledger.ledgers]]"
                ),
            )),
        }
    }
}

impl Ledger {
    fn new(settings: &LedgerSettings, link: Link, places: usize) -> Ledger {
        let adapter: Arc<dyn Adapter> = Arc::from(adapter::of(settings, link));
        let poller = Poller::start(settings.name.clone(), adapter.clone(), settings.unknown_after);
        Ledger { settings: settings.clone(), adapter, poller, places: Semaphore::new(places) }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("name", &self.settings.name).finish_non_exhaustive()
    }
}
