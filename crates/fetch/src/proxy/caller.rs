//! One connection to the proxy, and what is asked for on it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout_at;

use super::tunnel::Tunnel;
use super::{Shared, forward, tunnel};
use crate::error::Error;
use crate::watched::Watched;

const HEAD_WITHIN: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 100;
const REALM: HeaderValue = HeaderValue::from_static("Basic realm=\"milepost\"");

pub(super) type Answer = Response<UnsyncBoxBody<Bytes, Error>>;

/// The reason why a request gets no further, with the status that says so.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) reason: String,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        let status = match &error {
            Error::InvalidUrl(_) => StatusCode::BAD_REQUEST,
            error if error.is_refusal() => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_GATEWAY,
        };
        Refused { status, reason: error.to_string() }
    }
}

pub(super) struct Caller {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    /// One of the places of those who have not shown the secret; after that, one of the others.
    place: OwnedSemaphorePermit,
    is_known: bool,
    /// The host that the last request was for.
    host: String,
    tunnel: Option<Tunnel>,
}

impl Caller {
    pub(super) fn new(shared: Arc<Shared>, stranger: OwnedSemaphorePermit) -> Caller {
        let state = State { place: stranger, is_known: false, host: String::new(), tunnel: None };
        Caller { shared, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn serve(self, stream: TcpStream) {
        let shared = self.shared.clone();
        let _ = timeout_at(shared.ends_at, self.requests(stream)).await;
    }

    /// Answers requests until one becomes a tunnel, and then is that tunnel: nothing goes on by itself.
    async fn requests(self, stream: TcpStream) {
        let limits = self.shared.limits;
        // The other side's pauses are found first, so that there is somebody left to be told.
        let stream = Watched::new(stream, limits.idle.saturating_mul(2))
            .reading(self.shared.budget.clone())
            .writing(self.shared.budget.clone());
        let service = service_fn(async |request| Ok::<_, Infallible>(self.answer(request).await));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let ended = connection.with_upgrades().await;
        if let Err(error) = ended
            && let Some(spent @ Error::TooLarge(_)) = Error::beneath(&error)
        {
            self.shared.failed(&self.state().host, &spent);
        }
        let tunnel = self.state().tunnel.take();
        if let Some(tunnel) = tunnel {
            tunnel.run(&self.shared).await;
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let answered = match self.admit(&request) {
            Err(refused) => Err(refused),
            Ok(()) if request.method() == Method::CONNECT => {
                let dug = tunnel::dig(&self.shared, request).await;
                dug.map(|tunnel| {
                    self.state().tunnel = Some(tunnel);
                    Response::new(said(String::new()))
                })
            }
            Ok(()) => forward::forward(&self.shared, request).await,
        };
        answered.unwrap_or_else(refusal)
    }

    /// Lets in who has the secret, while there is a place.
    fn admit(&self, request: &Request<Incoming>) -> Result<(), Refused> {
        if !self.shared.secret.is_in(request.headers()) {
            let reason = "the proxy's address has a user name and a password: send them".to_owned();
            return Err(Refused { status: StatusCode::PROXY_AUTHENTICATION_REQUIRED, reason });
        }
        let mut state = self.state();
        if !state.is_known {
            state.place = self.shared.places.clone().try_acquire_owned().map_err(|_| Refused {
                status: StatusCode::SERVICE_UNAVAILABLE,
                reason: "there are too many connections at a time".to_owned(),
            })?;
            state.is_known = true;
        }
        state.host = request.uri().host().unwrap_or_default().to_owned();
        Ok(())
    }
}

fn refusal(refused: Refused) -> Answer {
    let mut answer = Response::new(said(format!("{}\n", refused.reason)));
    *answer.status_mut() = refused.status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if refused.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        headers.insert(PROXY_AUTHENTICATE, REALM);
    }
    answer
}

fn said(text: String) -> UnsyncBoxBody<Bytes, Error> {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
}
