//! Reviews that people take on, and notes.

use serde::{Deserialize, Serialize};

use super::SubmissionView;
use crate::Name;
use crate::time::Millis;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewPage {
    pub submissions: Vec<SubmissionView>,
    /// The place to give as `after` for the next page; null at the end.
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimReviewBody {
    /// The time for which the review is the caller's; without one, half an hour.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandOverBody {
    /// The subject who reviews from now on.
    pub to: Name,
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteBody {
    /// The text that others should know, of up to 4,000 bytes.
    pub text: String,
}
