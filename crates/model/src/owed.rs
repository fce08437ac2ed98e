//! Effects on other submissions: said by a decision, written in its commit, applied once as commands of their own.
//!
//! A commit touches only the submissions it was asked about. Whatever follows for others is owed to them, so that no
//! commit waits for a row it did not choose and nothing deadlocks.

pub use wire::event::Channel;

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wire::address;

use crate::refusal::{Code, Refusal};
use crate::submission::{Status, Submission, SubmissionId};
use crate::{Digest, Json, Name, Time};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    pub to: Recipient,
    pub effect: Effect,
}

/// The submissions that an effect is owed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    Submission(SubmissionId),
    /// Whoever waits longest for a key of a pipeline.
    Key {
        pipeline: Name,
        key: Name,
    },
    /// Whoever is first in line of a lane.
    Lane {
        pipeline: Name,
        lane: Name,
    },
    /// Whatever a hold parked.
    Parked(Name),
    /// The first of what a limit parked.
    FirstParked(Name),
    /// All children of a submission, which are of one pipeline.
    Children {
        of: SubmissionId,
        pipeline: Name,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A key or a lane is free, a hold is gone: look whose turn it is.
    Freed,
    /// A child ended, died or went on.
    Child { before: Status, after: Status },
    /// Somebody is to be told: a submission of the built-in pipeline, under the id it is owed to.
    Deliver(Box<Delivery>),
    /// The parent ended cancelled.
    ParentCancelled,
}

/// The pipeline that messages to the outside are submissions of.
pub const DELIVERY: &str = "delivery";

/// Tells whether a task sends messages to the outside. Such names belong to the pipeline of messages alone.
#[must_use]
pub fn is_delivery_task(name: &str) -> bool {
    name.split_once('.').is_some_and(|(family, _)| family == DELIVERY)
}

/// Shows the payload of a message without what may be a secret in its address. The message itself stays as it is.
#[must_use]
pub fn shown(payload: &Json) -> Json {
    let Ok(serde_json::Value::Object(mut message)) = serde_json::from_str(payload.as_str()) else {
        return payload.clone();
    };
    match message.get_mut("to") {
        Some(serde_json::Value::String(to)) => *to = address::shown(to),
        _ => return payload.clone(),
    }
    Json::from(serde_json::Value::Object(message))
}

/// A message to the outside, as the built-in pipeline takes it: this is its payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The event that asks for it.
    pub cause: Uuid,
    /// The notification.
    pub name: Name,
    pub channel: Channel,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Text for a mail, an object for an endpoint.
    pub body: Json,
    pub submission: SubmissionId,
    pub pipeline: Name,
}

impl Delivery {
    /// The submission it becomes: the same cause, name, channel and address give the same one, however often it is made.
    #[must_use]
    pub fn id(&self, at: Time) -> SubmissionId {
        let parts: [&[u8]; 7] = [
            b"delivery\0",
            self.cause.as_bytes(),
            self.name.as_bytes(),
            b"\0",
            self.channel.as_str().as_bytes(),
            b"\0",
            self.to.as_bytes(),
        ];
        let hash = Digest::of_parts(&parts).0;
        SubmissionId::new(at, std::array::from_fn(|index| hash[index]))
    }

    #[must_use]
    pub fn payload(&self) -> Json {
        Json::from_stored(&serde_json::to_string(self).expect("a delivery has only string keys"))
    }
}

/// The way a message is sent once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The message has stopped: it goes on.
    Redrive,
    /// The message has ended: another like it is made.
    Submit,
}

impl Again {
    /// While a message is on its way there is nothing to send again.
    pub fn of(row: &Submission) -> Result<Again, Refusal> {
        match row.status {
            Status::Dead => Ok(Again::Redrive),
            Status::Open => Err(Refusal::new(
                Code::DuplicateKey,
                format!("delivery {} is still on its way; see why, or wait until it has ended", row.id),
            )
            .with("submission", row.id.to_string())),
            _ if row.erased => {
                Err(Refusal::new(Code::Erased, "what it said was erased; it cannot be sent again"))
            }
            _ => Ok(Again::Submit),
        }
    }
}
