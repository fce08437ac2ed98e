//! The inbox: what applications submitted in a transaction of their own. It is decided after that was committed, in a
//! commit that also takes it out of the inbox.

use model::{Name, SubmissionId, Time};

use crate::take::{LaneKey, OpenKey};

/// Something to be submitted, nothing of which was looked at yet. No text in it has a NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The id the submission will have: whoever sent it was told.
    pub id: SubmissionId,
    pub submitter: Name,
    pub pipeline: Name,
    /// The payload as it was sent, which may be no JSON.
    pub payload: String,
    pub key: Option<String>,
    pub priority: Option<i64>,
    pub not_before: Option<Time>,
    pub reason: Option<String>,
}

/// The key and the lane that a submission would stand in once it is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrival {
    pub key: Option<OpenKey>,
    pub lane: Option<LaneKey>,
}

/// A take brings no more of the inbox once it has this many bytes of payloads.
pub const INBOX_BYTES_MAX: usize = 8 << 20;

/// Returns the number of these sizes that fit a take: at least one, so that a large one gets its turn.
#[must_use]
pub fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut bytes: usize = 0;
    sizes
        .take_while(|size| {
            let fits = bytes < INBOX_BYTES_MAX;
            bytes = bytes.saturating_add(*size);
            fits
        })
        .count()
}
