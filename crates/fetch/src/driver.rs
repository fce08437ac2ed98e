//! The connection beneath a request. Nobody else drives it, so it ends with the request, whatever happens.

use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper_util::rt::TokioIo;

use crate::connect::Stream;
use crate::error::Error;
use crate::watched::Watched;

pub(crate) type Sent = UnsyncBoxBody<Bytes, Error>;
type Http = Connection<TokioIo<Watched<Box<dyn Stream>>>, Sent>;

pub(crate) struct Driver {
    connection: Option<Http>,
    /// Kept because a connection whose sender is gone takes that for its end.
    _sender: SendRequest<Sent>,
    failure: Option<Error>,
    has_more: bool,
}

impl Driver {
    pub(crate) fn new(connection: Http, sender: SendRequest<Sent>) -> Driver {
        Driver { connection: Some(connection), _sender: sender, failure: None, has_more: false }
    }

    /// Lets the connection do what it can for now, until it has ended.
    pub(crate) fn drive(&mut self, cx: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        let Poll::Ready(ended) = connection.poll_without_shutdown(cx) else { return };
        self.failure = ended.err().map(|error| broken(&error));
        self.has_more = self.connection.take().is_some_and(|ended| !ended.into_parts().read_buf.is_empty());
    }

    /// Returns whether bytes came after the end of the answer, as far as any were read along with it.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns why there is no answer, or no more of it. The connection's own reason says more than its followers do.
    pub(crate) fn reason(&mut self, error: &hyper::Error) -> Error {
        self.failure.take().unwrap_or_else(|| broken(error))
    }
}

pub(crate) fn broken(error: &hyper::Error) -> Error {
    if let Some(ours) = Error::beneath(error) {
        ours
    } else if error.is_parse_too_large() {
        Error::HeadTooLarge
    } else if error.is_parse() {
        Error::Garbled
    } else {
        Error::Closed
    }
}
