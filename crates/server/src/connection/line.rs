//! One connection, as its requests know it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use engine::clock;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use model::{Code, Name, Refusal};

use super::exchange::Exchange;
use crate::tally::{Crowd, Place};

/// A connection, shared by its reader and writer, its handlers and its watch. Every request carries it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    exchange: Mutex<Exchange>,
    tokens: Crowd<Name>,
    /// The place among the token's connections that the request under way has.
    token: Mutex<Option<Place<Name>>>,
}

impl Line {
    pub(super) fn new(tokens: Crowd<Name>) -> Self {
        let exchange = Mutex::new(Exchange::new(clock::instant()));
        Line { shared: Arc::new(Shared { exchange, tokens, token: Mutex::default() }) }
    }

    /// Counts this connection as the token's until its answer was sent, however slowly. Refused when the token has as
    /// many under way as it may.
    pub(crate) fn belongs_to(&self, token: &Name) -> Result<(), Refusal> {
        let place = self.shared.tokens.enter(token.clone()).ok_or_else(|| {
            let message =
                "this token has too many connections under way; use fewer, or wait for their answers";
            Refusal::new(Code::Overloaded, message)
        })?;
        *self.shared.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        Ok(())
    }

    pub(super) fn exchange(&self) -> MutexGuard<'_, Exchange> {
        self.shared.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that nothing is left to be written. Returns true if that ends an exchange.
    pub(super) fn flushed(&self) -> bool {
        let ends = self.exchange().flushed(clock::instant());
        if ends {
            self.shared.token.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        ends
    }

    /// Takes a handler's answer, to be sent.
    pub(super) fn answered(&self, answer: Response) -> Response<Sending> {
        self.exchange().answered(is_endless(answer.headers()));
        answer.map(|body| Sending { body, line: self.clone() })
    }
}

fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// An answer's body on its way. Dropped, it has been handed over, or nobody wants it any more.
#[derive(Debug)]
pub(super) struct Sending {
    body: Body,
    line: Line,
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.line.exchange().given();
    }
}
