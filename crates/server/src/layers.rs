//! The layers around every handler: the span, the panic net, the door.

use std::any::Any;
use std::net::IpAddr;
use std::sync::Arc;

use app::Visitor;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::clock;
use model::{Code, Refusal};
use system::Listener;
use tracing::field::Empty;
use tracing::{Instrument, Span, debug_span, info_span};

use crate::access::{self, no_token};
use crate::body;
use crate::charged::charged;
use crate::connection::Line;
use crate::problem::Refused;
use crate::rates::{self, Rates};
use crate::shares::{Share, Shares, Who};
use crate::state::Server;
use crate::table::{Need, Room};
use crate::trace;
use crate::uploads::Uploads;

/// One span a request. Neither query, headers nor bodies: they can hold what is nobody else's business.
pub(crate) async fn observe(State(server): State<Server>, request: Request, next: Next) -> Response {
    let started = clock::instant();
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let line = server.metrics.http.line(request.method(), matched);
    let span = span(&server, &request, matched.unwrap_or("other"));
    let mut response = next.run(request).instrument(span.clone()).await;
    let taken = clock::instant().saturating_duration_since(started);
    server.metrics.http.answered(line, response.status(), taken);
    span.record("status", response.status().as_u16());
    span.record("duration_ms", u64::try_from(taken.as_millis()).unwrap_or(u64::MAX));
    span.in_scope(|| tracing::debug!("answered"));
    protect(response.headers_mut());
    response
}

/// Opens the span of a request. Where the caller follows a trace, what is logged meanwhile says which, at whatever
/// level.
fn span(server: &Server, request: &Request, route: &str) -> Span {
    let (method, path) = (request.method(), request.uri().path());
    let Some(trace) = trace::of(request.headers()) else {
        return debug_span!("request", %method, path, route, status = Empty, duration_ms = Empty);
    };
    let trace_id = trace.id();
    let span = info_span!("request", %method, path, route, trace_id, status = Empty, duration_ms = Empty);
    if let Some(traced) = server.options.traced {
        traced(&span, &trace);
    }
    span
}

/// Sets what browsers are told about every answer: it is what it says it is, loads nothing, is shown in no frame, and
/// tells nobody where its reader came from.
pub(crate) fn protect(headers: &mut HeaderMap) {
    // Answers hold lease tokens and other people's documents.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
}

/// A handler's panic is its request's alone.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands over the box")]
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    tracing::error!(panic = text, "a handler panicked");
    Refused(Refusal::new(Code::Internal, "the server made a mistake with this request")).into_response()
}

/// Words a refusal as the API of this listener does. What a browser is told about every answer stays.
pub(crate) async fn reword(State(listener): State<Listener>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(refusal) = response.extensions_mut().remove::<Refusal>() else { return response };
    let Some(reply) = listener.refuse(response.status(), &refusal) else { return response };
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.extend(reply.headers);
    *response.status_mut() = reply.status;
    *response.body_mut() = Body::from(reply.body);
    response
}

/// The address a request came from; the listener has put it there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The door of one route.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) server: Server,
    pub(crate) need: Need,
    pub(crate) room: Room,
    /// The rate of each address at this door, besides that of the whole server.
    pub(crate) rate: Option<Arc<Rates<IpAddr>>>,
    /// Set where bodies are streamed into files.
    pub(crate) uploads: Option<Uploads>,
}

/// The bytes set aside for an answer that is a page of something, until its length is known: a page, and what the item that
/// reaches past its end may be.
const PAGE_BYTES: usize = 5 << 20;

pub(crate) async fn enter(State(door): State<Door>, request: Request, next: Next) -> Response {
    door.pass(request, next).await.unwrap_or_else(|refusal| Refused(refusal).into_response())
}

impl Door {
    /// Lets a request through: who asks, all of its body, a place, an answer. In this order, so that nobody has a place who
    /// may not ask, or has not said everything yet.
    async fn pass(&self, mut request: Request, next: Next) -> Result<Response, Refusal> {
        let mut who =
            Who { address: request.extensions().get().map(|Peer(address)| *address), ..Who::default() };
        self.address_rate(&who)?;
        // Nothing that comes over a connection brings one.
        let inside = request.extensions().get::<Visitor>().cloned();
        // Who asks from inside is on a thread of their own already, or has time.
        let is_large = matches!(self.room, Room::One | Room::Page) && inside.is_none();
        let visitor = match inside {
            Some(visitor) => access::check(self.need, visitor)?,
            None => {
                let asked = (request.method(), request.uri());
                self.server.access.admit(self.need, asked, request.headers()).await?
            }
        };
        if let Some(visitor) = &visitor {
            self.token_rate(visitor)?;
            connection(&request, visitor)?;
            who.token = visitor.entry.token().cloned();
            who.owner = visitor.is_owner();
            request.extensions_mut().insert(visitor.clone());
        }
        // Few at a time, for a body may take hours; each has a place before it begins.
        let _upload = self.upload(&who, &mut request).await?;
        let received = body::receive(&self.server, &who, &mut request).await;
        let _body = self.counted(received)?;
        let _place = self.place(&who)?;
        let _turn = self.turn(&who).await?;
        let page = self.page(&who).await?;
        request.extensions_mut().insert(who.clone());
        // A long poll that only looks is cut off when its token ends; a claim sees to that itself.
        let looks = request.method() == Method::GET && self.room != Room::Always;
        let waits = looks && self.room == Room::Wait;
        let apart = self.server.apart.clone();
        let making = async move {
            match is_large {
                true => apart.answer(next.run(request)).await,
                false => next.run(request).await,
            }
        };
        let answer = self.answer(making, visitor.filter(|_| waits)).await;
        self.counted(charged(answer, page, looks, (&self.server.bytes, &who)))
    }

    /// Has the request answered in time, and while the token of a visitor who waits is good.
    async fn answer(&self, making: impl Future<Output = Response>, waits: Option<Visitor>) -> Response {
        let within = self.server.options.answer_within;
        let over = async {
            match &waits {
                Some(visitor) => self.server.access.over(visitor).await,
                None => std::future::pending().await,
            }
        };
        let answer = async {
            tokio::select! {
                biased;
                answer = making => answer,
                () = over => Refused(no_token()).into_response(),
            }
        };
        tokio::time::timeout(within, answer).await.unwrap_or_else(|_| {
            let message = format!("no answer within {} seconds; look before you repeat", within.as_secs());
            Refused(Refusal::new(Code::OutcomeUnknown, message)).into_response()
        })
    }

    /// Checks the rate of an address before anything else is done. Those who watch the server's health are always answered.
    fn address_rate(&self, who: &Who) -> Result<(), Refusal> {
        match who.address {
            Some(address) if self.room != Room::Always => {
                let (caller, now) = (rates::caller(address), clock::instant());
                let taken = self.server.address_rates.take(caller, now);
                let taken = taken.and_then(|()| match &self.rate {
                    Some(rate) => rate.take(caller, now),
                    None => Ok(()),
                });
                taken.inspect_err(|_| self.server.metrics.http.limited_by_address.add(1))
            }
            _ => Ok(()),
        }
    }

    /// Streams the body into a file, where the route takes uploads.
    async fn upload(&self, who: &Who, request: &mut Request) -> Result<Option<Share>, Refusal> {
        let Some(uploads) = &self.uploads else { return Ok(None) };
        let place = self.counted(self.server.uploads.take(who, 1))?;
        uploads.receive(request).await?;
        Ok(Some(place))
    }

    fn token_rate(&self, visitor: &Visitor) -> Result<(), Refusal> {
        match visitor.entry.token() {
            Some(token) => {
                let taken = self.server.token_rates.take(token.clone(), clock::instant());
                taken.inspect_err(|_| self.server.metrics.http.limited_by_token.add(1))
            }
            None => Ok(()),
        }
    }

    fn place(&self, who: &Who) -> Result<Option<Share>, Refusal> {
        let one = |places: &Shares| self.counted(places.take(who, 1)).map(Some);
        match self.room {
            Room::Always => Ok(None),
            Room::Request | Room::One | Room::Page => one(&self.server.requests),
            Room::Wait => one(&self.server.waits),
        }
    }

    /// Sets bytes aside for an answer that is a page of something. A caller who asks for many at once waits for their own
    /// earlier ones.
    async fn page(&self, who: &Who) -> Result<Option<Share>, Refusal> {
        match self.room {
            Room::Page => self.counted(page(&self.server, who).await).map(Some),
            Room::Always | Room::Request | Room::One | Room::Wait => Ok(None),
        }
    }

    /// Takes a turn to make an answer that shows one thing. It is mostly small and may be large: few are made at a time, and
    /// each counts once its length is known.
    async fn turn(&self, who: &Who) -> Result<Option<Share>, Refusal> {
        match self.room {
            Room::One => {
                let turn = self.server.turns.wait(who, 1, self.server.options.page_within).await;
                self.counted(turn).map(Some)
            }
            Room::Always | Room::Request | Room::Page | Room::Wait => Ok(None),
        }
    }

    /// Counts what is refused to a caller for the caller's own sake.
    fn counted<T>(&self, taken: Result<T, Refusal>) -> Result<T, Refusal> {
        taken.inspect_err(|refusal| {
            if refusal.code == Code::RateLimited {
                self.server.metrics.http.limited_by_share.add(1);
            }
        })
    }
}

/// Counts the connection as its token's while the request is under way.
fn connection(request: &Request, visitor: &Visitor) -> Result<(), Refusal> {
    match (request.extensions().get::<Line>(), visitor.entry.token()) {
        (Some(line), Some(token)) => line.belongs_to(token),
        _ => Ok(()),
    }
}

/// Sets bytes aside for reading a page, as soon as the caller has that many left.
pub(crate) async fn page(server: &Server, who: &Who) -> Result<Share, Refusal> {
    room(server, who, PAGE_BYTES).await
}

/// Sets bytes aside for an answer, as soon as the caller has that many left.
pub(crate) async fn room(server: &Server, who: &Who, bytes: usize) -> Result<Share, Refusal> {
    server.bytes.wait(who, bytes, server.options.page_within).await
}
