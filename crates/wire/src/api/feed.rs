//! The feed: every event there was, in sequence, and how far its readers have come.

use serde::{Deserialize, Serialize};

use super::EventView;
use crate::Name;
use crate::time::Time;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedPage {
    pub events: Vec<EventView>,
    /// The value to give as `after` next, whether or not there were events.
    pub next: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CursorBody {
    pub position: u64,
    /// Set if the cursor may go back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rewind: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CursorView {
    pub name: Name,
    /// The subject whose cursor it is; none for one that was made before there were tokens.
    #[serde(default)]
    pub subject: Option<Name>,
    pub position: u64,
    pub moved_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CursorList {
    pub cursors: Vec<CursorView>,
    /// The value to give as `after` for the next page.
    pub next: Option<String>,
}
