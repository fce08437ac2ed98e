//! A way out for programs that look names up and connect on their own, such as git: a proxy on loopback, by the same policy.
//!
//! The proxy takes `CONNECT` and plain HTTP from whoever knows the secret in its address, while the [`Proxy`] lives.
//! Give a program the address by its environment (`http_proxy`, `https_proxy`): everybody on the machine sees its
//! arguments. Inside of a tunnel nothing is looked at, so of the policy it is ports and addresses that count there.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use fetch::proxy::{Limits, Proxy};
//! use fetch::{Fetch, Policy};
//!
//! let proxy = Proxy::start(&Fetch::new(Policy::default()), Limits::default()).await?;
//! let mut git = tokio::process::Command::new("git");
//! git.args(["clone", "https://git.example/a.git"]).env("https_proxy", proxy.url().expose());
//! let status = git.status().await?;
//! if let Some(failure) = proxy.failures().first() {
//!     println!("{status}: {}: {}", failure.host, failure.error);
//! }
//! # Ok(())
//! # }
//! ```

mod caller;
mod forward;
mod secret;
mod tunnel;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::Error;
use crate::fetch::Fetch;
use crate::watched::Budget;
use caller::Caller;
use secret::Secret;

pub use secret::ProxyUrl;

/// Connections that have not shown the secret yet; more wait until one of these has, or has been given up.
const STRANGERS_MAX: usize = 32;
/// Failures that are remembered: the first ones say what went wrong.
const FAILURES_MAX: usize = 16;
/// No name that can be looked up is longer.
const HOST_CHARS_MAX: usize = 253;
/// The time until new connections are taken again after the machine had none to give.
const PAUSE: Duration = Duration::from_millis(100);

/// The limits for all who use one proxy, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The life of the proxy. After this, every connection is closed and none is taken.
    pub within: Duration,
    /// The longest pause of a connection, in which no byte moves either way.
    pub idle: Duration,
    /// The most bytes of all connections in both directions.
    pub bytes_max: u64,
    /// Connections at a time.
    pub connections_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            within: Duration::from_secs(300),
            idle: Duration::from_secs(30),
            bytes_max: 1 << 30,
            connections_max: 16,
        }
    }
}

/// A host that was asked for and not reached, or not to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub host: String,
    pub error: Error,
}

/// A proxy that listens. Dropping it ends the proxy and every connection that goes by it.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    port: u16,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    fetch: Fetch,
    limits: Limits,
    secret: Secret,
    ends_at: Instant,
    budget: Arc<Budget>,
    places: Arc<Semaphore>,
    failures: Mutex<Vec<Failure>>,
}

impl Proxy {
    /// Begins to listen, on a free port of 127.0.0.1 and with a new secret.
    pub async fn start(fetch: &Fetch, limits: Limits) -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let now = Instant::now();
        let shared = Arc::new(Shared {
            fetch: fetch.clone(),
            limits,
            secret: Secret::new()?,
            ends_at: now.checked_add(limits.within).ok_or(io::ErrorKind::InvalidInput)?,
            budget: Budget::new(limits.bytes_max, Error::TooLarge(limits.bytes_max)),
            places: Arc::new(Semaphore::new(limits.connections_max)),
            failures: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Proxy { shared, port, accepting })
    }

    /// Returns the address for `http_proxy` and `https_proxy`.
    #[must_use]
    pub fn url(&self) -> ProxyUrl {
        self.shared.secret.url(self.port)
    }

    /// Returns the first hosts that were refused or could not be reached, each with the reason.
    #[must_use]
    pub fn failures(&self) -> Vec<Failure> {
        self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn failed(&self, host: &str, error: &Error) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let host = host.chars().take(HOST_CHARS_MAX).collect();
        let failure = Failure { host, error: error.clone() };
        if failures.len() < FAILURES_MAX && !failures.contains(&failure) {
            failures.push(failure);
        }
    }
}

/// Takes connections until the proxy's time is over. They are part of this, so that they end with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let strangers = Arc::new(Semaphore::new(STRANGERS_MAX));
    let mut callers = JoinSet::new();
    let accepting = async {
        loop {
            let Ok(stranger) = strangers.clone().acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            while callers.try_join_next().is_some() {}
            callers.spawn(Caller::new(shared.clone(), stranger).serve(stream));
        }
    };
    let _ = timeout_at(shared.ends_at, accepting).await;
    drop(listener);
    while callers.join_next().await.is_some() {}
}
