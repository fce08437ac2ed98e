//! Messages to the outside, as whoever looks after them sees them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Failure, Name, Status, SubmissionId, Time};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryView {
    pub id: SubmissionId,
    /// The event that asked for it. What its message says is gone once it was erased.
    pub cause: Option<Uuid>,
    /// The notification.
    pub name: Option<Name>,
    pub channel: Option<Name>,
    pub to: Option<String>,
    /// The submission that the message is about.
    pub submission: Option<Name>,
    pub pipeline: Option<Name>,
    pub state: Name,
    pub status: Status,
    pub attempt: u32,
    pub error: Option<Failure>,
    pub created_at: Time,
    pub finished_at: Option<Time>,
    /// The time of the next try, after a failure.
    pub next_try_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryPage {
    pub deliveries: Vec<DeliveryView>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<SubmissionId>,
}
