//! Answers that count for their caller until they are sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use crate::shares::{Share, Shares, Who};

/// Answers up to this size are not counted: the system takes them at once, whether their reader reads or not.
const SMALL: usize = 16 << 10;

/// Has a large answer count for the caller until it is sent or given up. It is there already, so it is counted whatever the
/// caller has; `set_aside` is what the caller had for it.
pub(crate) fn charged(answer: Response, set_aside: Option<Share>, bytes: &Shares, who: &Who) -> Response {
    let length = answer.body().size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let Some(length) = length.filter(|length| *length > SMALL) else { return answer };
    drop(set_aside);
    let share = bytes.count(who, length);
    answer.map(|body| Body::new(Charged { body, _share: share }))
}

struct Charged {
    body: Body,
    _share: Share,
}

impl HttpBody for Charged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
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
        let small = charged(Response::new(Body::from("small")), None, &bytes, &who);
        assert!(room(256 << 10));
        drop(small);
    }
}
