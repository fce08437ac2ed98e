//! Who asks, and whether they may.
//!
//! With no token created yet, a server on loopback is open: every caller is this machine's user, and may do all. What a
//! browser on this machine could be tricked into sending is refused by its `Host` and `Origin`.

mod local;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Method, Uri, header};
use engine::{Engine, clock};
use model::{Caller, Code, Name, Refusal, Role};
use tokio::sync::Mutex;

use crate::table::Need;
use tokens::Tokens;
pub use tokens::{TOKENS, token_name};

/// The name of whoever asks an open server.
const LOCAL: &str = "local";
/// How long a revoked token may still be taken, and a new one be unknown.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Who comes through the door of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doors {
    /// Everybody on this machine: there is no token yet.
    Open,
    /// Whoever has a token.
    Tokens,
}

/// How a server at this address would be guarded. Without any token, one that others can reach must not start.
pub async fn doors(engine: &Engine, listen: SocketAddr) -> Result<Doors, Refusal> {
    let tokens = Tokens::read(engine).await?;
    match (tokens.is_empty(), is_loopback(listen)) {
        (false, _) => Ok(Doors::Tokens),
        (true, true) => Ok(Doors::Open),
        (true, false) => Err(Refusal::new(
            Code::Unauthorized,
            format!(
                "{listen} can be reached from other machines and there is no token yet; listen on 127.0.0.1"
            ),
        )),
    }
}

fn is_loopback(listen: SocketAddr) -> bool {
    listen.ip().to_canonical().is_loopback()
}

/// A caller who was let in.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    /// The pipelines the token is for; `None` is all.
    pub(crate) pipelines: Option<Vec<Name>>,
}

impl Visitor {
    /// The name a worker is recorded under. It calls itself what it likes, below the name its token gives it.
    pub(crate) fn worker(&self, called: String) -> Name {
        let subject = &self.caller.name;
        if &**subject == LOCAL { called.into() } else { format!("{subject}/{called}").into() }
    }

    pub(crate) fn sees(&self, pipeline: &str) -> bool {
        self.pipelines.as_ref().is_none_or(|list| list.iter().any(|name| &**name == pipeline))
    }

    pub(crate) fn check_sees(&self, pipeline: &str) -> Result<(), Refusal> {
        if self.sees(pipeline) { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// Brings a choice of pipelines within those the token is for; none chosen is all of them.
    pub(crate) fn narrow(&self, chosen: Vec<Name>) -> Result<Vec<Name>, Refusal> {
        match &self.pipelines {
            // To the engine, none is all: a token for none must not become one for all.
            Some(scope) if scope.is_empty() => Err(self.elsewhere()),
            Some(scope) if chosen.is_empty() => Ok(scope.clone()),
            _ if chosen.iter().all(|name| self.sees(name)) => Ok(chosen),
            _ => Err(self.elsewhere()),
        }
    }

    fn elsewhere(&self) -> Refusal {
        let list: Vec<&str> = self.pipelines.iter().flatten().map(|name| &**name).collect();
        Refusal::new(Code::RoleRequired, format!("this token is for the pipelines {} only", list.join(", ")))
            .with("pipelines", list)
    }
}

#[derive(Debug)]
pub(crate) struct Access {
    engine: Engine,
    listen: SocketAddr,
    known: Mutex<Option<(Instant, Arc<Tokens>)>>,
}

impl Access {
    pub(crate) fn new(engine: Engine, listen: SocketAddr) -> Self {
        Access { engine, listen, known: Mutex::default() }
    }

    /// Lets a request in, or says why not.
    pub(crate) async fn admit(
        &self,
        need: Need,
        (method, uri): (&Method, &Uri),
        headers: &HeaderMap,
    ) -> Result<Option<Visitor>, Refusal> {
        let role = match need {
            Need::Nothing => return Ok(None),
            Need::AnyRole => None,
            Need::Role(role) => Some(role),
        };
        let tokens = self.tokens().await?;
        if tokens.is_empty() && is_loopback(self.listen) {
            local::check(method, uri, headers)?;
            return Ok(Some(Visitor { caller: Caller::new(LOCAL, Role::Admin), pipelines: None }));
        }
        let visitor = bearer(headers).and_then(|token| tokens.visitor(token)).ok_or_else(|| {
            Refusal::new(Code::Unauthorized, "send a valid token as `Authorization: Bearer TOKEN`")
        })?;
        match role {
            Some(wanted) if !visitor.caller.role.covers(wanted) => Err(Refusal::new(
                Code::RoleRequired,
                format!("this needs the role {wanted}; your token's is {}", visitor.caller.role),
            )
            .with("role", wanted.as_str())),
            _ => Ok(Some(visitor)),
        }
    }

    /// One reader at a time, and only once in a while: a flood of requests is not a flood of reads.
    async fn tokens(&self) -> Result<Arc<Tokens>, Refusal> {
        let mut known = self.known.lock().await;
        let now = clock::instant();
        if let Some((read_at, tokens)) = &*known
            && now.saturating_duration_since(*read_at) < FRESH_FOR
        {
            return Ok(tokens.clone());
        }
        let (read_at, tokens) = match (Tokens::read(&self.engine).await, known.take()) {
            (Ok(tokens), _) => (now, Arc::new(tokens)),
            // While the store cannot be reached nobody can have changed a token either. It may take seconds to find
            // out that it cannot, and everybody waits here: not once for each of them.
            (Err(_), Some((_, tokens))) => (clock::instant(), tokens),
            (Err(refusal), None) => return Err(refusal),
        };
        *known = Some((read_at, tokens.clone()));
        Ok(tokens)
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
