//! Finds out who asks, and whether they may.
//!
//! With no token created yet, a server on loopback is open: every caller is this machine's user, and may do all. What a
//! browser on this machine could be tricked into sending is refused by its `Host` and `Origin`.

mod local;
mod tokens;
mod used;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::{Entry, LOCAL, Visitor};
use axum::http::{HeaderMap, Method, Uri, header};
use engine::{Engine, clock};
use model::{Caller, Code, Refusal, Role};
use tokio::sync::{Mutex, watch};

use crate::table::Need;
use tokens::Tokens;
use used::Used;

/// The time for which a token that was revoked elsewhere may still be taken here, and one made there be unknown.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// The callers that a server lets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doors {
    /// Everybody on this machine: there is no token yet.
    Open,
    /// Whoever has a token.
    Tokens,
}

/// Returns how a server at this address would be guarded. Without any token, one that others can reach must not start.
pub async fn doors(engine: &Engine, listen: SocketAddr) -> Result<Doors, Refusal> {
    let tokens = Tokens::read(engine).await?;
    match (tokens.is_empty(), is_loopback(listen)) {
        (false, _) => Ok(Doors::Tokens),
        (true, true) => Ok(Doors::Open),
        (true, false) => Err(Refusal::new(
            Code::Unauthorized,
            format!(
                "{listen} can be reached from other machines and there is no token yet; make the first with \
                 `milepost serve --listen {listen} --first-token FILE`, or listen on 127.0.0.1"
            ),
        )),
    }
}

fn is_loopback(listen: SocketAddr) -> bool {
    listen.ip().to_canonical().is_loopback()
}

#[derive(Debug)]
pub(crate) struct Access {
    engine: Engine,
    listen: SocketAddr,
    known: Mutex<Option<(Instant, Arc<Tokens>)>>,
    /// Told when tokens were changed here.
    news: watch::Sender<()>,
    used: Used,
}

impl Access {
    pub(crate) fn new(engine: Engine, listen: SocketAddr) -> Self {
        Access {
            engine,
            listen,
            known: Mutex::default(),
            news: watch::Sender::default(),
            used: Used::default(),
        }
    }

    /// Lets a request in, or says why not.
    pub(crate) async fn admit(
        &self,
        need: Need,
        (method, uri): (&Method, &Uri),
        headers: &HeaderMap,
    ) -> Result<Option<Visitor>, Refusal> {
        if need == Need::Nothing {
            return Ok(None);
        }
        let tokens = self.tokens().await?;
        if tokens.is_empty() && is_loopback(self.listen) {
            local::check(method, uri, headers)?;
            return Ok(Some(Visitor {
                caller: Caller::new(LOCAL, Role::Admin),
                pipelines: None,
                labels: BTreeMap::new(),
                entry: Entry::Open,
            }));
        }
        // A token ends for good: by a clock that is far off, not before it is confirmed, and never to come back.
        let now = self.engine.known_time();
        let visitor = bearer(headers).and_then(|token| tokens.visitor(token, now)).ok_or_else(no_token)?;
        self.used.note(&self.engine, visitor.entry.token());
        check(need, visitor)
    }

    /// Has the tokens read again before the next request: they were changed here.
    pub(crate) async fn changed(&self) {
        *self.known.lock().await = None;
        self.news.send_replace(());
    }

    /// Tells whether the token that let a visitor in is still good; where nobody needed one, whether nobody does yet.
    pub(crate) async fn holds(&self, visitor: &Visitor) -> bool {
        match self.tokens().await {
            Ok(tokens) => tokens.lets_in(visitor, self.engine.known_time()),
            // Nobody can have changed a token either.
            Err(_) => true,
        }
    }

    /// Ends when the visitor's token is revoked, replaced or over: whoever waits or reads along is sent away then.
    pub(crate) async fn over(&self, visitor: &Visitor) {
        let mut news = self.news.subscribe();
        while self.holds(visitor).await {
            tokio::select! {
                _ = news.changed() => {}
                () = tokio::time::sleep(FRESH_FOR) => {}
            }
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

/// Lets a visitor in who has what a door needs, or says why not.
pub(crate) fn check(need: Need, visitor: Visitor) -> Result<Option<Visitor>, Refusal> {
    let role = match need {
        Need::Nothing => return Ok(None),
        Need::AnyRole => None,
        Need::Role(role) => Some(role),
        Need::Owner => Some(Role::Admin),
    };
    match role {
        Some(wanted) if !visitor.caller.role.covers(wanted) => Err(Refusal::new(
            Code::RoleRequired,
            format!("this needs the role {wanted}; your token's is {}", visitor.caller.role),
        )
        .with("role", wanted.as_str())),
        _ if need == Need::Owner && !visitor.is_unlimited() => Err(visitor.elsewhere()),
        _ => Ok(Some(visitor)),
    }
}

pub(crate) fn no_token() -> Refusal {
    Refusal::new(Code::Unauthorized, "send a valid token as `Authorization: Bearer TOKEN`")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
