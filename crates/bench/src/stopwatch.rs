//! The one place where this crate looks at a clock.

use std::time::Instant;

/// Now, for measuring alone.
#[allow(clippy::disallowed_methods, reason = "how long something takes on this machine is what is measured")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
