//! A tile log over HTTP, as everybody reads it.

use fetch::{Fetch, HeaderMap, Policy, Response, SystemResolver};
use tlog::tiles::{SourceError, TilePath, TileSource};
use tokio::runtime::Handle;

use super::Unreachable;

/// The address of a log. Its reads block: they are for threads that may.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Without a slash at its end.
    base: String,
    fetch: Fetch,
    runtime: Handle,
}

impl Remote {
    /// Reads at an address that the operator chose: whatever port it names is allowed.
    ///
    /// # Errors
    /// When the address is none that may be fetched from.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn new(url: &str, fetch: &Fetch) -> Result<Remote, fetch::Error> {
        let base = fetch::normalized(url)?.trim_end_matches('/').to_owned();
        let policy = Policy { ports: (1..=u16::MAX).collect(), ..fetch.policy().clone() };
        policy.check(&base)?;
        Ok(Remote { base, fetch: fetch.asking(policy, SystemResolver), runtime: Handle::current() })
    }

    pub(super) fn checkpoint(&self) -> Result<Option<String>, Unreachable> {
        let response = self.get("checkpoint").map_err(|error| Unreachable(error.to_string()))?;
        match response.status {
            200 => {
                let text = String::from_utf8(response.body);
                text.map(Some).map_err(|_| Unreachable("its checkpoint is no text".to_owned()))
            }
            404 => Ok(None),
            status => Err(Unreachable(format!("it answers {status} to its checkpoint"))),
        }
    }

    fn get(&self, path: &str) -> Result<Response, fetch::Error> {
        self.runtime.block_on(self.fetch.get(&format!("{}/{path}", self.base), HeaderMap::new()))
    }
}

impl TileSource for Remote {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        let failed = |reason: String| SourceError::Failed { path: *path, reason };
        let response = self.get(&path.to_string()).map_err(|error| failed(error.to_string()))?;
        match response.status {
            200 if response.is_cut => Err(failed("it is too large for a tile".to_owned())),
            200 => Ok(response.body),
            404 => Err(SourceError::Missing(*path)),
            status => Err(failed(format!("the log answers {status}"))),
        }
    }
}
