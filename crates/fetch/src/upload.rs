//! The body that is sent with a request: bytes at hand, or bytes as they are read.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_util::stream::{Stream, StreamExt as _, try_unfold};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::error::Error;

const CHUNK_BYTES: usize = 64 << 10;

/// The body of a request. With a known length, exactly so many bytes are sent or the request fails; without one, the body
/// is sent in chunks.
pub struct Upload {
    body: UnsyncBoxBody<Bytes, Error>,
}

impl Upload {
    #[must_use]
    pub fn empty() -> Upload {
        Upload::from(Bytes::new())
    }

    #[must_use]
    pub fn stream(
        bytes: Option<u64>,
        stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Upload {
        let frames = stream.map(|chunk| {
            chunk.map(Frame::data).map_err(|error| {
                Error::beneath(&error).unwrap_or_else(|| Error::Upload(error.kind().to_string()))
            })
        });
        let body = StreamBody::new(frames).boxed_unsync();
        match bytes {
            None => Upload { body },
            Some(left) => Upload { body: Promised { body, left }.boxed_unsync() },
        }
    }

    /// Reads a file, or whatever else can be read.
    #[must_use]
    pub fn reader(bytes: Option<u64>, reader: impl AsyncRead + Send + Unpin + 'static) -> Upload {
        let chunks = try_unfold(reader, |mut reader| async move {
            let mut chunk = BytesMut::with_capacity(CHUNK_BYTES);
            let read = reader.read_buf(&mut chunk).await?;
            Ok((read > 0).then(|| (chunk.freeze(), reader)))
        });
        Upload::stream(bytes, chunks)
    }

    pub(crate) fn of(body: impl Body<Data = Bytes, Error = Error> + Send + 'static) -> Upload {
        Upload { body: body.boxed_unsync() }
    }

    pub(crate) fn into_body(self) -> UnsyncBoxBody<Bytes, Error> {
        self.body
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("bytes", &self.body.size_hint().exact()).finish_non_exhaustive()
    }
}

impl From<Bytes> for Upload {
    fn from(bytes: Bytes) -> Upload {
        Upload { body: Full::new(bytes).map_err(|never| match never {}).boxed_unsync() }
    }
}

impl From<Vec<u8>> for Upload {
    fn from(bytes: Vec<u8>) -> Upload {
        Upload::from(Bytes::from(bytes))
    }
}

impl From<String> for Upload {
    fn from(text: String) -> Upload {
        Upload::from(Bytes::from(text))
    }
}

impl From<&'static str> for Upload {
    fn from(text: &'static str) -> Upload {
        Upload::from(Bytes::from_static(text.as_bytes()))
    }
}

/// A body of a length that was told, and is kept to: the other side would take what is over for another request, and wait
/// for what is missing.
struct Promised {
    body: UnsyncBoxBody<Bytes, Error>,
    left: u64,
}

impl Body for Promised {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let wrong = |how: &str| Poll::Ready(Some(Err(Error::Upload(format!("it is {how} than it said")))));
        // The end is looked for here: nobody asks a body for more than it promised.
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            None if self.left > 0 => return wrong("shorter"),
            Some(Ok(frame)) => frame,
            end => return Poll::Ready(end),
        };
        let bytes = frame.data_ref().map_or(0, |data| u64::try_from(data.len()).unwrap_or(u64::MAX));
        match self.left.checked_sub(bytes) {
            None => wrong("longer"),
            Some(left) => {
                self.left = left;
                Poll::Ready(Some(Ok(frame)))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
