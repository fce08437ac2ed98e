//! The one place where this crate looks at a clock, or waits for one.

use std::time::Instant;

/// Now, for measuring alone.
#[allow(clippy::disallowed_methods, reason = "how long something takes on this machine is what is measured")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[allow(
    clippy::disallowed_methods,
    reason = "a pace is what is wanted, and there is no other thing to wait for"
)]
pub(crate) fn wait_until(moment: Instant) {
    std::thread::sleep(moment.saturating_duration_since(now()));
}
