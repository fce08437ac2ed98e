//! What can happen to a submission.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Submitted,
    Moved,
    /// An attempt failed and will be made again.
    Retried,
    /// A lease ended without a word from its worker.
    Crashed,
    /// It became a dead letter.
    Died,
    /// An action was granted; its task runs before the move.
    Requested,
    /// A granted action's task failed for good; the submission waits for a person again.
    Abandoned,
    /// Its payload was amended.
    Amended,
    /// A dead letter was set going again.
    Redriven,
    /// Its children are all made.
    Sealed,
    /// Its documents were erased; what was proven of them stays.
    Erased,
    /// Its row was removed; its events stay.
    Forgotten,
    /// A service level was missed.
    Late,
    /// Somebody agreed to an action that needs several.
    Approved,
    /// Somebody has looked into how it ended.
    Acknowledged,
    /// It follows another version of its pipeline from here on.
    Migrated,
    /// What was sent never became a submission.
    Refused,
    /// What was sent never became a submission: one that was there stands for it.
    Merged,
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Submitted => "submitted",
            Kind::Moved => "moved",
            Kind::Retried => "retried",
            Kind::Crashed => "crashed",
            Kind::Died => "died",
            Kind::Requested => "requested",
            Kind::Abandoned => "abandoned",
            Kind::Amended => "amended",
            Kind::Redriven => "redriven",
            Kind::Sealed => "sealed",
            Kind::Erased => "erased",
            Kind::Forgotten => "forgotten",
            Kind::Late => "late",
            Kind::Approved => "approved",
            Kind::Acknowledged => "acknowledged",
            Kind::Migrated => "migrated",
            Kind::Refused => "refused",
            Kind::Merged => "merged",
        }
    }

    /// Whether it is the only event there is under its id, because there never was a submission.
    #[must_use]
    pub fn is_unborn(self) -> bool {
        matches!(self, Kind::Refused | Kind::Merged)
    }
}
