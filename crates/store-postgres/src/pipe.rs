//! Several statements under way on one connection at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::error::Result;

/// A statement and the look at its answer.
pub(crate) type Step<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Sends all statements in this order before the first answer is awaited, and takes the first fault in this order.
///
/// A statement is sent when its future is first polled, provided that it is prepared: connections prepare everything
/// before they are used. The server runs them one after the other.
pub(crate) async fn in_order(mut steps: Vec<Step<'_>>) -> Result<()> {
    let mut answers: Vec<Option<Result<()>>> = steps.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (step, answer) in steps.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match step.as_mut().poll(context) {
                    Poll::Ready(result) => *answer = Some(result),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::blocking;
    use crate::error::Fault;

    #[test]
    fn steps_begin_in_order_and_the_first_fault_counts() {
        let begun = RefCell::new(Vec::new());
        let step = |no: u32, polls: u32, fault: bool| -> Step<'_> {
            let begun = &begun;
            Box::pin(async move {
                begun.borrow_mut().push(no);
                let mut left = polls;
                poll_fn(|context| {
                    context.waker().wake_by_ref();
                    left -= 1;
                    if left == 0 { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                if fault { Err(Fault::Conflict(no.to_string())) } else { Ok(()) }
            })
        };
        let steps = vec![step(1, 3, false), step(2, 5, true), step(3, 1, true)];
        let outcome = blocking::wait(in_order(steps));
        assert!(matches!(&outcome, Err(Fault::Conflict(no)) if no == "2"), "{outcome:?}");
        assert_eq!(*begun.borrow(), [1, 2, 3]);
    }
}
