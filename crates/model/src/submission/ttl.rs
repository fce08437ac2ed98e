//! A time to live waits for a live lease: whoever works may finish, however late it has become.
//!
//! The lease is not prolonged for that. Once the time is over no lease is renewed and none is granted, so a submission
//! outlives its time by one lease at most.

use super::Submission;
use crate::time::Time;

/// The standing of a submission's times to live at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeToLive {
    /// Neither of them is over, or none runs.
    Lasts,
    /// One is over, and a lease in force is awaited.
    AwaitsLease,
    /// One is over, and nothing is awaited: the submission leaves along the edge that its file declares for this.
    Over,
}

impl Submission {
    /// Returns the time at which the nearer of the submission's two times to live ends.
    #[must_use]
    pub fn expires_at(&self) -> Option<Time> {
        if self.request.as_ref().is_some_and(|request| request.ended) {
            return None;
        }
        [self.ttl_at, self.state_ttl_at].into_iter().flatten().min()
    }

    pub(crate) fn time_to_live(&self, now: Time) -> TimeToLive {
        match self.expires_at().filter(|_| !self.status.is_final()) {
            Some(at) if at <= now && self.lease().is_some() => TimeToLive::AwaitsLease,
            Some(at) if at <= now => TimeToLive::Over,
            _ => TimeToLive::Lasts,
        }
    }

    /// Returns when the time to live will be over, unless a lease is awaited first.
    pub(super) fn over_at(&self) -> Option<Time> {
        self.expires_at().filter(|at| self.time_to_live(*at) == TimeToLive::Over)
    }
}
