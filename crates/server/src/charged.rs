//! Answers that count for their caller until they are sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use crate::shares::{Share, Shares, Who};

/// Answers up to this size are not counted: the system takes them at once, whether their reader reads or not.
const SMALL: usize = 16 << 10;

/// The most of an answer that is handed to the HTTP library at once: it takes a piece whole, whether the reader reads or not.
const PIECE: usize = 16 << 10;

/// Has a large answer count for the caller until it is sent or given up. It is there already, so it is counted whatever the
/// caller has; `set_aside` is what the caller had for it.
pub(crate) fn charged(answer: Response, set_aside: Option<Share>, bytes: &Shares, who: &Who) -> Response {
    let length = answer.body().size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let Some(length) = length.filter(|length| *length > SMALL) else { return answer };
    drop(set_aside);
    let share = Arc::new(bytes.count(who, length));
    in_pieces(answer, Some(share))
}

/// Has an answer handed over in small pieces.
pub(crate) fn in_pieces(answer: Response, share: Option<Arc<Share>>) -> Response {
    answer.map(|body| Body::new(Pieces { body, ready: Bytes::new(), share }))
}

struct Pieces {
    body: Body,
    /// Taken from the body, and not handed on yet.
    ready: Bytes,
    share: Option<Arc<Share>>,
}

/// Bytes of an answer. They count until the last piece is gone, not until it is handed over: a piece keeps the whole.
struct Counted {
    bytes: Bytes,
    _share: Arc<Share>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ready.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                other => return Poll::Ready(other),
            };
            match frame.into_data() {
                Ok(bytes) => {
                    self.ready = match self.share.clone() {
                        Some(_share) => Bytes::from_owner(Counted { bytes, _share }),
                        None => bytes,
                    }
                }
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let piece = PIECE.min(self.ready.len());
        Poll::Ready(Some(Ok(Frame::data(self.ready.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, ready) = (self.body.size_hint(), self.ready.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + ready);
        }
        hint.set_lower(hint.lower() + ready);
        hint
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};

    use super::*;
    use crate::shares::Bounds;

    #[test]
    fn a_large_answer_counts_until_it_is_gone() {
        let bytes = Shares::new("bytes", Bounds::new(1 << 20, 1_000));
        let who = Who { token: Some("ada".into()), ..Who::default() };
        let room = |amount: usize| bytes.take(&who, amount).is_ok();
        let set_aside = bytes.take(&who, 256 << 10).unwrap();
        assert!(!room(1), "a quarter is a token's");
        let answer = charged(Response::new(Body::from(vec![0; 200 << 10])), Some(set_aside), &bytes, &who);
        assert!(room(56 << 10) && !room(57 << 10));
        drop(answer);
        assert!(room(256 << 10));
        let answer = charged(Response::new(Body::from(vec![0; 256 << 10])), None, &bytes, &who);
        let pieces = answer.into_body().into_data_stream().map(Result::unwrap).collect::<Vec<_>>();
        let mut pieces = pieces.now_or_never().expect("all of it is there");
        assert!(pieces.len() == 16 && pieces.iter().all(|piece| piece.len() == PIECE));
        pieces.truncate(1);
        assert!(!room(1), "one piece that was not sent keeps the whole");
        pieces.clear();
        assert!(room(256 << 10));
        let small = charged(Response::new(Body::from("small")), None, &bytes, &who);
        assert!(room(256 << 10));
        drop(small);
    }
}
