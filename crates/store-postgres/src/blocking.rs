//! Waiting for the database on the caller's thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end here. Sockets are served by the store's own runtime, so this may be called from anywhere,
/// a thread of another runtime included, and the future may borrow from the caller.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    // On a thread of another runtime the task that called has a budget, which only its return would renew: once it is
    // used up, everything in here would be pending for ever.
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
