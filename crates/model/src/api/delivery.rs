//! Messages to the outside, as whoever looks after them sees them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::submission::{Cause, Failure, Wait};
use crate::{Delivery, Documents, Name, Status, Submission, SubmissionId, Time};

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

impl DeliveryView {
    #[must_use]
    pub fn new(row: &Submission, documents: &Documents) -> Self {
        let label = |name: &str| row.labels.get(name).cloned();
        // An operator's own version may carry messages of another shape.
        let message: Option<Delivery> = serde_json::from_str(documents.payload.as_str()).ok();
        let message = message.as_ref();
        DeliveryView {
            id: row.id,
            cause: message.map(|message| message.cause),
            name: message.map(|message| message.name.clone()),
            channel: label("channel"),
            to: message.map(|message| message.to.clone()),
            submission: label("submission"),
            pipeline: message.map(|message| message.pipeline.clone()),
            state: row.state.clone(),
            status: row.status,
            attempt: row.attempt,
            error: row.error.clone(),
            created_at: row.created_at,
            finished_at: row.finished_at,
            next_try_at: match row.wait {
                Wait::Delay { until, cause: Cause::Retry } => Some(until),
                _ => None,
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryPage {
    pub deliveries: Vec<DeliveryView>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<SubmissionId>,
}
