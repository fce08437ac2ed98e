//! The facts of a submission that rows, events and answers have in common.

mod assignment;
mod failure;
mod fingerprint;
mod id;
mod investigation;
mod progress;
mod status;

pub use assignment::Assignment;
pub use failure::Failure;
pub use fingerprint::Fingerprint;
pub use id::SubmissionId;
pub use investigation::{Investigation, InvestigationStatus};
pub use progress::{Progress, Reported};
pub use status::Status;

use serde::{Deserialize, Serialize};

use crate::Name;

/// The number of submissions that one made, and how they fare. A dead one counts as failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Children {
    pub total: u64,
    pub open: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub cancelled: u64,
}

impl Children {
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.total == 0
    }

    /// The counter a status counts under.
    pub fn of(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Open => &mut self.open,
            Status::Dead | Status::Failed => &mut self.failed,
            Status::Succeeded => &mut self.succeeded,
            Status::Cancelled => &mut self.cancelled,
        }
    }
}

/// One person's yes to an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub action: Name,
    pub to: Name,
    pub by: Name,
}
