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
    ledgers: Vec<Ledger>,
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
    /// Makes ready for a table of settings. A ledger whose files cannot be read is left out, and told of in the log.
    pub(crate) fn new(table: &Table, fetch: &Fetch) -> Ledgers {
        let ready = table.ledgers.iter().filter_map(|settings| match Link::new(fetch, settings) {
            Ok(link) => Some(Ledger::new(settings, link, table.at_once / 2)),
            Err(fault) => {
                tracing::error!(ledger = settings.name, %fault, "cannot use a ledger: its batches wait");
                None
            }
        });
        Ledgers { ledgers: ready.collect() }
    }

    /// Returns the ledger of a service.
    pub(crate) fn of(&self, service: &str) -> Result<&Ledger, Failure> {
        let found = self.ledgers.iter().find(|ledger| ledger.settings.has(service));
        found.ok_or_else(|| {
            let message = format!(
                "no ledger has the service `{service}`: name it under `services` of one in [[system.ledger.ledgers]]"
            );
            Failure::new("no-ledger", message)
        })
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
