//! Listeners of systems: addresses beside the server's own, for foreign APIs whose clients expect them at `/`.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use http::StatusCode;
use wire::Refusal;

use crate::call::Reply;
use crate::route::{Misplaced, Need, Route};

/// The wording of a refusal: its status, and its reason.
type Wording = Arc<dyn Fn(StatusCode, &Refusal) -> Reply + Send + Sync>;

/// An address at which a system listens for itself. Its routes pass the same doors, bounds and rates as all others, and may
/// be anywhere, `/` included. Nothing else of the server answers there.
#[derive(Clone)]
pub struct Listener {
    /// The address to listen at; port 0 takes a free one.
    pub address: SocketAddr,
    /// The routes, all of them public: whoever comes here knows no tokens of this server.
    pub routes: Vec<Route>,
    refusals: Option<Wording>,
}

impl Listener {
    #[must_use]
    pub fn new(address: SocketAddr, routes: Vec<Route>) -> Listener {
        Listener { address, routes, refusals: None }
    }

    /// Words all refusals as this API does: unknown addresses and methods, rates and bounds, mistakes of the server. Without
    /// it, they are problems of RFC 9457.
    #[must_use]
    pub fn refusing(
        mut self,
        wording: impl Fn(StatusCode, &Refusal) -> Reply + Send + Sync + 'static,
    ) -> Listener {
        self.refusals = Some(Arc::new(wording));
        self
    }

    /// Words a refusal. None: as the server does.
    #[must_use]
    pub fn refuse(&self, status: StatusCode, refusal: &Refusal) -> Option<Reply> {
        self.refusals.as_ref().map(|wording| wording(status, refusal))
    }

    /// Refuses a route that asks for a token. Tokens belong to the server's own address, which is closed while there is none.
    pub fn check(&self, system: &str) -> Result<(), Misplaced> {
        let is_public = |route: &&Route| matches!(route.need, Need::Public(_));
        match self.routes.iter().find(|route| !is_public(route)) {
            None => Ok(()),
            Some(route) => {
                Err(Misplaced::NotPublic { system: system.to_owned(), path: route.path.to_owned() })
            }
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Listener { address, routes, .. } = self;
        f.debug_struct("Listener").field("address", address).field("routes", routes).finish_non_exhaustive()
    }
}
