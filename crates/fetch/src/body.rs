//! The body of an answer, as it comes.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::Sleep;

use crate::driver::Driver;
use crate::error::Error;

/// The bytes of an answer's body, within the request's limits. The connection is part of it: dropping it ends the request,
/// and while nobody asks for bytes, none are read. Bytes come as they were sent: nothing is decompressed.
pub struct Body {
    incoming: Incoming,
    driver: Driver,
    deadline: Pin<Box<Sleep>>,
    bytes_max: u64,
    left: u64,
    /// Bytes of a part that are yet to come, where the answer is one.
    promised: Option<u64>,
    is_over: bool,
}

/// Bounds of one body.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) deadline: Pin<Box<Sleep>>,
    pub(crate) bytes_max: u64,
    pub(crate) promised: Option<u64>,
}

impl Body {
    /// Refuses a body that says that it is too large, or of another size than its part, before any of it is read.
    pub(crate) fn new(incoming: Incoming, driver: Driver, bounds: Bounds) -> Result<Body, Error> {
        let Bounds { deadline, bytes_max, promised } = bounds;
        let told = HttpBody::size_hint(&incoming).exact();
        if told.is_some() && promised.is_some() && told != promised {
            return Err(Error::OtherPart("its length is another"));
        }
        if promised.or(told).is_some_and(|bytes| bytes > bytes_max) {
            return Err(Error::TooLarge(bytes_max));
        }
        Ok(Body { incoming, driver, deadline, bytes_max, left: bytes_max, promised, is_over: false })
    }

    /// Returns the next bytes, and `None` once all have come. An error is the last word.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// Returns how many bytes are yet to come, where the other side has said so.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.promised.or_else(|| HttpBody::size_hint(&self.incoming).exact())
    }

    /// Reads on up to a number of bytes, and returns whether there was more.
    pub(crate) async fn read_into(&mut self, read: &mut Vec<u8>, bytes_max: usize) -> Result<bool, Error> {
        while let Some(chunk) = self.chunk().await? {
            let room = bytes_max - read.len();
            read.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        // Asked first: a body that never pauses would never come to it.
        let next = if self.deadline.as_mut().poll(cx).is_ready() {
            Some(Err(Error::Timeout))
        } else {
            match ready!(self.poll_incoming(cx)) {
                Some(Ok(bytes)) => Some(self.count(bytes)),
                Some(Err(error)) => Some(Err(error)),
                None => self.end(cx).err().map(Err),
            }
        };
        self.is_over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }

    fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let mut polled = Pin::new(&mut self.incoming).poll_frame(cx);
            if polled.is_pending() {
                // What the connection reads now may be there at once.
                self.driver.drive(cx);
                polled = Pin::new(&mut self.incoming).poll_frame(cx);
            }
            match ready!(polled) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(self.driver.reason(&error)))),
                // Trailers say nothing that anybody here would believe.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) if !bytes.is_empty() => return Poll::Ready(Some(Ok(bytes))),
                    _ => {}
                },
            }
        }
    }

    fn count(&mut self, bytes: Bytes) -> Result<Bytes, Error> {
        let came = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(came).ok_or(Error::TooLarge(self.bytes_max))?;
        if let Some(promised) = &mut self.promised {
            *promised = promised.checked_sub(came).ok_or(Error::Overlong)?;
        }
        Ok(bytes)
    }

    /// Checks that all has come, and nothing more.
    fn end(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        self.driver.drive(cx);
        match self.promised {
            Some(1..) => Err(Error::Closed),
            _ if self.driver.has_more() => Err(Error::Overlong),
            _ => Ok(()),
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.poll_chunk(cx).map_ok(Frame::data)
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
