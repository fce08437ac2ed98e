//! Routes of systems: who may ask, what a request counts against, and the code that answers.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use wire::{Refusal, Role};

use crate::call::{Call, Reply};
use crate::upload::Upload;

/// One way in, under an address of the system's own.
#[derive(Clone)]
pub struct Route {
    pub method: Method,
    /// The address, with its named parts in braces: `/NAME/..`, `/compat/..`, or `/console/NAME/..` for a page.
    pub path: &'static str,
    pub need: Need,
    pub room: Room,
    /// The sentence by which the API's description names the route; none where it is described elsewhere, as foreign APIs are.
    pub summary: Option<&'static str>,
    pub handler: Handler,
}

/// The code that answers a call.
pub type Handler =
    Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Result<Reply, Refusal>> + Send>> + Send + Sync>;

/// The right that a caller must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// None: anybody may ask, at this rate. The handler asks the server as a submitter of the system's pipelines.
    Public(Rate),
    /// A token, of whatever role. The handler asks the server in its name.
    AnyRole,
    /// This role, or admin.
    Role(Role),
    /// An admin whose token is for everything.
    Owner,
}

/// The most requests that one address may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The time that one request takes up.
    pub every: Duration,
    /// The requests that an address that was quiet may make at once.
    pub burst: u32,
}

impl Rate {
    /// Allows so many requests a second, and five seconds' worth at once.
    #[must_use]
    pub const fn per_second(requests: u32) -> Rate {
        let requests = if requests == 0 { 1 } else { requests };
        Rate {
            every: Duration::from_nanos(1_000_000_000 / requests as u64),
            burst: requests.saturating_mul(5),
        }
    }

    /// Allows so many requests a minute, and as many of them at once. A form wants no more than a few.
    #[must_use]
    pub const fn per_minute(requests: u32) -> Rate {
        let requests = if requests == 0 { 1 } else { requests };
        Rate { every: Duration::from_nanos(60_000_000_000 / requests as u64), burst: requests }
    }

    /// Sets how many requests an address that was quiet may make at once; at least one.
    #[must_use]
    pub const fn burst(self, requests: u32) -> Rate {
        Rate { burst: if requests == 0 { 1 } else { requests }, ..self }
    }
}

/// The bound that a request counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Request,
    /// A request whose answer is a list or a file, which may be large.
    Page,
    /// A long poll: it mostly waits.
    Wait,
    /// A request whose body is streamed into a file, whatever its size, before the handler is called: [`Call::uploaded`].
    Upload(Upload),
}

/// A route that is not where it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    #[error("the system `{system}` may not have the address `{path}`: its own begin with {own}")]
    Elsewhere { system: String, path: String, own: String },
    #[error(
        "the system `{system}` may not ask for a token at `{path}` of a listener of its own: make the route public, or \
         move it to the server's"
    )]
    NotPublic { system: String, path: String },
}

impl Route {
    /// Makes a route that is described by a sentence.
    pub fn new<F>(
        (method, path): (Method, &'static str),
        (need, room): (Need, Room),
        summary: &'static str,
        handler: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Route
    where
        F: Future<Output = Result<Reply, Refusal>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |call| Box::pin(handler(call)));
        Route { method, path, need, room, summary: Some(summary), handler }
    }

    /// Leaves the route out of the API's description: it is a page, or described elsewhere.
    #[must_use]
    pub fn not_described(mut self) -> Route {
        self.summary = None;
        self
    }

    /// Refuses an address that is not one of the system's routes, or of its pages.
    pub fn check_place(&self, system: &str, is_page: bool) -> Result<(), Misplaced> {
        let own = match is_page {
            true => vec![format!("/console/{system}/"), format!("/{system}/")],
            false => vec![format!("/{system}/"), "/compat/".to_owned()],
        };
        match own.iter().any(|own| self.path.starts_with(own)) {
            true => Ok(()),
            false => Err(Misplaced::Elsewhere {
                system: system.to_owned(),
                path: self.path.to_owned(),
                own: own.join(" or "),
            }),
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Route { method, path, need, room, summary, .. } = self;
        write!(f, "Route({method} {path}, {need:?}, {room:?}, {summary:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_keeps_to_addresses_of_its_own() {
        let at = |path: &'static str| {
            let need = Need::Public(Rate::per_second(1));
            Route::new((Method::GET, path), (need, Room::Request), "", |_| async { Ok(Reply::text("")) })
        };
        for path in ["/skills/badge/{name}", "/compat/cloudflare/x"] {
            assert_eq!(at(path).check_place("skills", false), Ok(()), "{path}");
        }
        for path in ["/v1/submissions", "/skillsets/x", "/console/skills/x", "/", "/livez"] {
            assert!(at(path).check_place("skills", false).is_err(), "{path}");
        }
        assert_eq!(at("/console/skills/list").check_place("skills", true), Ok(()));
        assert!(at("/console/ledger/list").check_place("skills", true).is_err());
    }
}
