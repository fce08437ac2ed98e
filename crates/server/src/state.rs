//! The state that every handler is given.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use engine::Engine;
use model::Name;
use tokio::sync::watch;

use crate::access::Access;
use crate::apart::Apart;
use crate::metrics::{Http, Metrics};
use crate::mounts::Mounts;
use crate::options::Options;
use crate::public::Turns;
use crate::rates::Rates;
use crate::running::Running;
use crate::shares::{Bounds, Shares};

/// Answers that show one thing and are made at a time: each may be some megabytes.
const TURNS_MAX: usize = 64;

/// Uploads at a time.
const UPLOADS_MAX: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct Server(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) access: Access,
    pub(crate) options: Options,
    pub(crate) token_rates: Rates<Name>,
    pub(crate) address_rates: Rates<IpAddr>,
    pub(crate) public: Turns,
    pub(crate) metrics: Metrics,
    pub(crate) mounts: Vec<Mounts>,
    pub(crate) running: Running,
    pub(crate) requests: Shares,
    pub(crate) waits: Shares,
    pub(crate) streams: Shares,
    /// Bodies that are streamed into files.
    pub(crate) uploads: Shares,
    /// Turns of those who look at one thing.
    pub(crate) turns: Shares,
    /// Those who make answers that may be large.
    pub(crate) apart: Apart,
    /// Bytes of bodies that arrive or are worked on, and of answers that are made or sent.
    pub(crate) bytes: Shares,
    stopping: watch::Receiver<bool>,
}

impl Server {
    pub(crate) fn new(
        engine: Engine,
        options: Options,
        mounts: Vec<Mounts>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let of_systems = mounts.iter().flat_map(Mounts::names);
        let pages = console::TABLE.iter().map(|route| (route.method.clone(), route.path));
        let routes = pages.chain(of_systems);
        let of_address =
            options.connections_per_address_max.saturating_mul(1_000) / options.connections_max.max(1);
        let shares = |name, all| Shares::new(name, Bounds::new(all, of_address));
        let metrics = Metrics::new(Http::new(routes));
        Server(Arc::new(Inner {
            access: Access::new(engine.clone(), options.listen),
            engine,
            token_rates: Rates::new(options.rate_per_token),
            address_rates: Rates::new(options.rate_per_address),
            public: Turns::of(&options.public),
            metrics,
            mounts,
            running: Running::default(),
            requests: shares("requests", options.requests_max),
            waits: shares("long polls", options.waits_max),
            streams: shares("streams", options.streams_max),
            uploads: shares("uploads", UPLOADS_MAX),
            turns: shares("large answers", TURNS_MAX),
            apart: Apart::default(),
            bytes: shares("bytes", options.bytes_max),
            options,
            stopping,
        }))
    }

    /// Returns the pages of systems, by title and address.
    pub(crate) fn system_pages(&self) -> Vec<(String, String)> {
        self.mounts.iter().flat_map(|mounts| mounts.entries.iter().cloned()).collect()
    }

    /// Returns the systems that have routes or pages here, each with its pipelines.
    pub(crate) fn systems(&self) -> Vec<(String, Vec<String>)> {
        self.mounts.iter().map(Mounts::with_pipelines).collect()
    }

    /// Tells whether the server has begun to stop: nobody should be kept waiting any more.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Ends when the server begins to stop.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        if stopping.wait_for(|stopping| *stopping).await.is_err() {
            // Nobody is left to say so: it never stops.
            std::future::pending::<()>().await;
        }
    }
}

impl Deref for Server {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
