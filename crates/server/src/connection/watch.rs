//! The watch over a connection: whoever does not do their part in time is not waited for.

use std::pin::Pin;
use std::task::{Context, Poll};

use engine::clock;
use tokio::time::{Sleep, sleep_until};

use super::exchange::Times;
use super::line::Line;
use super::register::Seat;

#[derive(Debug)]
pub(super) struct Watch {
    times: Times,
    /// Set to the time that is due, or to one before it: that it is later now is seen when it is over. So a caller who
    /// asks again and again costs no change of a timer.
    alarm: Pin<Box<Sleep>>,
}

impl Watch {
    pub(super) fn new(times: Times) -> Self {
        Watch { times, alarm: Box::pin(sleep_until((clock::instant() + times.head).into())) }
    }

    /// Looks at the connection, after whatever has just been done for it. Ends when the caller's time is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, line: &Line, seat: &mut Seat) -> Poll<()> {
        let now = clock::instant();
        let (due, working, moves) = {
            let exchange = line.exchange();
            (exchange.due(&self.times), exchange.is_working(), exchange.moves())
        };
        seat.note(working, moves, now);
        let Some(due) = due else { return Poll::Pending };
        if due <= now {
            return Poll::Ready(());
        }
        if self.alarm.is_elapsed() || self.alarm.deadline() > due.into() {
            self.alarm.as_mut().reset(due.into());
        }
        // It may have been set to a time before this one.
        while self.alarm.as_mut().poll(cx).is_ready() {
            if self.alarm.deadline() >= due.into() {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(due.into());
        }
        Poll::Pending
    }
}
