//! The console's pages, mounted beside the API: the same doors, with sessions in place of headers, and refusals that people
//! read.

use std::convert::Infallible;
use std::sync::Arc;

use app::{App, Query, Visitor};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use console::{Answer, Ask, Handler, Live, SESSION, Visit};
use futures_util::stream;
use model::{Code, Refusal};
use wire::export::Format;

use crate::body;
use crate::charged::in_pieces;
use crate::layers::{self, Door};
use crate::media;
use crate::mounts;
use crate::problem::{Refused, status};
use crate::public;
use crate::rates::Rates;
use crate::routes::export;
use crate::shares::{Share, Who};
use crate::state::Server;

const HTML: &str = "text/html";

/// Adds the pages to a router.
pub(crate) fn mount(mut router: Router<Server>, server: &Server) -> Router<Server> {
    for route in console::TABLE {
        let method = MethodFilter::try_from(route.method.clone()).expect("the table has plain methods only");
        let (need, rate) = mounts::need(route.need);
        let rate = rate.map(|rate| Arc::new(Rates::every(rate.every, rate.burst)));
        let door = Door { server: server.clone(), need, room: mounts::room(route.room), rate, uploads: None };
        let (mounted, handler) = (server.clone(), route.handler);
        let answer = move |parts: RawPathParams, request: Request| async move {
            answered(mounted, handler, &parts, request).await
        };
        let entered = on(method, answer).route_layer(middleware::from_fn_with_state(door, layers::enter));
        let handler = match handler {
            Handler::Public(_) => entered.route_layer(middleware::from_fn(public::welcome)),
            Handler::Open(_) | Handler::Inside(_) => {
                entered.route_layer(middleware::from_fn_with_state(server.clone(), welcome))
            }
        };
        router = router.route(route.path, handler);
    }
    router
}

/// Stands before the door of a page: brings the session that a browser keeps, refuses forms of other sites, and shows
/// refusals as people read them.
pub(crate) async fn welcome(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    let ask = ask(&server, &RawParts::default(), &request);
    if !console::is_from_here(request.method(), request.headers()) && !has_token(request.headers()) {
        let message =
            "this form was not sent from a page of this server; open the page here and send it again";
        return shown(&ask, &Refusal::new(Code::ForbiddenHost, message), 403);
    }
    let session = console::session(request.headers()).filter(|_| !has_token(request.headers()));
    if let Some(value) = session.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok()) {
        request.headers_mut().insert(header::AUTHORIZATION, value);
    }
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Refusal>() {
        Some(refusal) => shown(&ask, &refusal, response.status().as_u16()),
        None => response,
    }
}

type RawParts = Vec<(String, String)>;

fn has_token(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION)
}

fn ask(server: &Server, parts: &RawParts, request: &Request) -> Ask {
    let mut headers = request.headers().clone();
    headers.remove(header::AUTHORIZATION);
    let proxied = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    Ask {
        parts: parts.iter().cloned().collect(),
        uri: request.uri().clone(),
        headers,
        body: body::read(request, body::ONE_MAX).unwrap_or_default(),
        is_form: !request.method().is_safe(),
        secure: server.options.tls.is_some() || proxied,
        base: server.options.base_url.clone(),
    }
}

/// Has a page answer.
async fn answered(server: Server, handler: Handler, parts: &RawPathParams, request: Request) -> Response {
    let parts = parts.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (visitor, who) =
        (request.extensions().get::<Visitor>().cloned(), request.extensions().get::<Who>().cloned());
    let ask = ask(&server, &parts, &request);
    let etag = request.headers().get(header::IF_NONE_MATCH).cloned();
    let answer = match (handler, visitor.clone(), body::read(&request, body::ONE_MAX)) {
        (_, _, Err(refusal)) => Err(refusal),
        (Handler::Open(handler), ..) => handler(ask).await,
        (Handler::Public(handler), ..) => match public::open(&server, ask, &request) {
            Ok(open) => handler(open).await,
            Err(refusal) => Err(refusal),
        },
        (Handler::Inside(handler), Some(visitor), _) => {
            let app = App::new(server.engine.clone(), visitor);
            handler(Visit { app, ask, pages: server.system_pages(), systems: server.systems() }).await
        }
        (Handler::Inside(_), None, _) => {
            Err(Refusal::new(Code::Internal, "this page is open to everybody and asks in nobody's name"))
        }
    };
    match answer {
        Ok(Answer::Live(live)) => match (visitor, who) {
            (Some(visitor), Some(who)) => stream(server, live, visitor, &who),
            _ => Refused(Refusal::new(Code::Internal, "nobody listens to this stream")).into_response(),
        },
        Ok(Answer::Export { query, format }) => exported(server, (visitor, who), *query, format).await,
        Ok(answer) => rendered(answer, etag.as_ref()),
        Err(refusal) => Refused(refusal).into_response(),
    }
}

async fn exported(
    server: Server,
    whose: (Option<Visitor>, Option<Who>),
    query: Query,
    format: Format,
) -> Response {
    let (Some(visitor), Some(who)) = whose else {
        return Refused(Refusal::new(Code::Internal, "nobody asks for this export")).into_response();
    };
    let app = App::new(server.engine.clone(), visitor);
    export::send(server, &who, &app, query, format).await.into_response()
}

fn shown(ask: &Ask, refusal: &Refusal, number: u16) -> Response {
    let wants_html = ask
        .headers
        .get(header::ACCEPT)
        .is_some_and(|accept| accept.to_str().is_ok_and(|accept| accept.contains(HTML)));
    match wants_html {
        true => rendered(console::refused(ask, refusal, number), None),
        false => Refused(refusal.clone()).with_status(number),
    }
}

pub(crate) fn rendered(answer: Answer, known: Option<&HeaderValue>) -> Response {
    let mut response = match answer {
        Answer::Page { status: number, html } => {
            (status(number), [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
        }
        Answer::Json { status: number, body } => {
            (status(number), [(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Answer::Elsewhere { to, cookies } => elsewhere(&to, &cookies),
        Answer::Asset { kind, body, etag } => asset(kind, body, &etag, known),
        Answer::File { kind, name, body } => {
            let disposition = format!("attachment; filename=\"{name}\"");
            let headers =
                [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
            (headers, Body::from(body)).into_response()
        }
        // Streams have ways of their own.
        Answer::Live(_) | Answer::Export { .. } => StatusCode::NO_CONTENT.into_response(),
    };
    let policy = HeaderValue::from_static(console::POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn elsewhere(to: &str, cookies: &[String]) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(to).unwrap_or(HeaderValue::from_static("/console"));
    headers.insert(header::LOCATION, location);
    for cookie in cookies.iter().filter_map(|cookie| HeaderValue::try_from(cookie).ok()) {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// Gives a file of the program. Pages ask for it by the version they were made for, so it may be kept.
fn asset(kind: &'static str, body: &'static [u8], etag: &str, known: Option<&HeaderValue>) -> Response {
    let mut response = match known.is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, kind)], body).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

/// A stream that is being sent.
struct Sending {
    server: Server,
    live: Live,
    visitor: Visitor,
    _place: Share,
}

fn stream(server: Server, live: Live, visitor: Visitor, who: &Who) -> Response {
    let place = match server.streams.take(who, 1) {
        Ok(place) => place,
        Err(refusal) => return Refused(refusal).into_response(),
    };
    let beat = KeepAlive::new().interval(server.options.heartbeat);
    let sending = Sending { server, live, visitor, _place: place };
    let events = stream::unfold(sending, |mut sending| async {
        let event = sending.next().await?;
        Some((Ok::<_, Infallible>(event), sending))
    });
    in_pieces(Sse::new(events).keep_alive(beat).into_response(), None)
}

impl Sending {
    /// Returns the next message. Nothing when the server stops or the reader's token ends: the page comes again, and goes on
    /// from there or is told why not.
    async fn next(&mut self) -> Option<Event> {
        if self.server.is_stopping() || !self.server.access.holds(&self.visitor).await {
            return None;
        }
        let piece = tokio::select! {
            piece = self.live.next() => piece?,
            () = self.server.stopped() => return None,
            () = self.server.access.over(&self.visitor) => return None,
        };
        let event = Event::default().data(piece.data);
        let event = match piece.event {
            Some(name) => event.event(name),
            None => event,
        };
        Some(match piece.id {
            Some(id) => event.id(id),
            None => event,
        })
    }
}

/// Returns headers without what is the door's business alone.
pub(crate) fn without_session(headers: &mut HeaderMap) {
    let kept: Vec<String> = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .map(str::trim)
        .filter(|pair| !pair.starts_with(SESSION))
        .map(str::to_owned)
        .collect();
    headers.remove(header::COOKIE);
    if let Ok(value) = HeaderValue::try_from(kept.join("; ")) {
        headers.insert(header::COOKIE, value);
    }
}

/// Tells whether somebody with a browser asks.
pub(crate) fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains(HTML))
        && media::preferred(headers, &["application/json", HTML]) == HTML
}
