//! Finding a submission by what somebody has at hand.

use serde::{Deserialize, Serialize};

use super::SubmissionView;
use crate::submission::SubmissionId;

/// The submissions that a text may mean: an id or the beginning of one, a key, or `PIPELINE/KEY`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindAnswer {
    /// The one that is meant, where no other can be: the only one, or the holder of the key.
    pub meant: Option<SubmissionId>,
    /// The first candidates, newest first.
    pub submissions: Vec<SubmissionView>,
    /// Set if there are more than are shown.
    pub more: bool,
}
