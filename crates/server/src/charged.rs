//! Answers that count for their caller until they are sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use model::Refusal;

use crate::shares::{Share, Shares, Who};

/// Answers up to this size are not counted: the system takes them at once, whether their reader reads or not.
const SMALL: usize = 16 << 10;

/// The most of an answer that is handed to the HTTP library at once: it takes a piece whole, whether the reader reads or not.
const PIECE: usize = 16 << 10;

/// The bytes that a handler has for its answer, on their way to the door with it.
#[derive(Debug, Clone)]
struct SetAside(Arc<Share>);

/// Has an answer take along what was set aside for it.
pub(crate) fn with_share(mut answer: Response, share: Option<Share>) -> Response {
    if let Some(share) = share {
        answer.extensions_mut().insert(SetAside(Arc::new(share)));
    }
    answer
}

/// Takes what a large answer needs for its caller, or refuses it: what nobody reads must not add up.
pub(crate) fn take(answer: &Response, bytes: &Shares, who: &Who) -> Result<Option<Share>, Refusal> {
    let Some(length) = large(answer) else { return Ok(None) };
    let mut share = bytes.count(who, 0);
    share.resize(length).map(|()| Some(share))
}

/// Has a large answer count for the caller until it is sent or given up. `set_aside` is what the caller has for it. An answer
/// to somebody who only looks is refused where the caller has no more; what was done must be told, and is counted whatever
/// the caller has.
pub(crate) fn charged(
    mut answer: Response,
    set_aside: Option<Share>,
    looks: bool,
    (bytes, who): (&Shares, &Who),
) -> Result<Response, Refusal> {
    let taken_along = answer.extensions_mut().remove().and_then(|SetAside(share)| Arc::into_inner(share));
    let Some(length) = large(&answer) else { return Ok(answer) };
    let mut share = set_aside.or(taken_along).unwrap_or_else(|| bytes.count(who, 0));
    match share.resize(length) {
        Ok(()) => {}
        Err(refusal) if looks => return Err(refusal),
        Err(_) => {
            drop(share);
            share = bytes.count(who, length);
        }
    }
    Ok(in_pieces(answer, Some(Arc::new(share))))
}

/// Returns the length of an answer that is large enough to count.
fn large(answer: &Response) -> Option<usize> {
    let length = answer.body().size_hint().exact().and_then(|length| usize::try_from(length).ok());
    length.filter(|length| *length > SMALL)
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

    use model::Code;

    use super::*;
    use crate::shares::Bounds;

    fn answer(length: usize) -> Response {
        Response::new(Body::from(vec![0; length]))
    }

    #[test]
    fn a_large_answer_counts_until_it_is_gone() {
        let bytes = Shares::new("bytes", Bounds::new(1 << 20, 1_000));
        let who = Who { token: Some("ada".into()), ..Who::default() };
        let room = |amount: usize| bytes.take(&who, amount).is_ok();
        let set_aside = bytes.take(&who, 256 << 10).unwrap();
        assert!(!room(1), "a quarter is a token's");
        let looked = charged(answer(200 << 10), Some(set_aside), true, (&bytes, &who)).unwrap();
        assert!(room(56 << 10) && !room(57 << 10));
        drop(looked);
        assert!(room(256 << 10));
        let looked = charged(answer(256 << 10), None, true, (&bytes, &who)).unwrap();
        let pieces = looked.into_body().into_data_stream().map(Result::unwrap).collect::<Vec<_>>();
        let mut pieces = pieces.now_or_never().expect("all of it is there");
        assert!(pieces.len() == 16 && pieces.iter().all(|piece| piece.len() == PIECE));
        pieces.truncate(1);
        assert!(!room(1), "one piece that was not sent keeps the whole");
        pieces.clear();
        assert!(room(256 << 10));
        let small = charged(Response::new(Body::from("small")), None, true, (&bytes, &who)).unwrap();
        assert!(room(256 << 10));
        drop(small);
    }

    #[test]
    fn an_answer_there_is_no_room_for_is_refused_unless_something_was_done() {
        let bytes = Shares::new("bytes", Bounds::new(1 << 20, 1_000));
        let who = Who { token: Some("ada".into()), ..Who::default() };
        let unread = charged(answer(200 << 10), None, true, (&bytes, &who)).unwrap();
        let refused = charged(answer(57 << 10), None, true, (&bytes, &who)).unwrap_err();
        assert_eq!(refused.code, Code::RateLimited);
        assert!(take(&answer(57 << 10), &bytes, &who).is_err(), "and nothing is lent that cannot be told");
        let done = charged(answer(57 << 10), None, false, (&bytes, &who)).unwrap();
        assert!(bytes.take(&who, 1).is_err());
        drop((unread, done));
        let lent = answer(56 << 10);
        let share = take(&lent, &bytes, &who).unwrap();
        let lent = charged(with_share(lent, share), None, false, (&bytes, &who)).unwrap();
        assert!(bytes.take(&who, 200 << 10).is_ok() && bytes.take(&who, 201 << 10).is_err());
        drop(lent);
    }
}
