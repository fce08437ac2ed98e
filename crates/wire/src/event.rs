//! Events as they are told: the kinds there are, and whom each one notified.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::submission::SubmissionId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Submitted,
    Moved,
    /// An attempt failed and will be made again.
    Retried,
    /// A lease ended without a word from its worker.
    Crashed,
    /// The submission became a dead letter.
    Died,
    /// An action was granted; its task runs before the move.
    Requested,
    /// A granted action's task failed for good; the submission waits for a person again.
    Abandoned,
    /// The submission's payload was amended.
    Amended,
    /// A dead letter was set going again.
    Redriven,
    /// The submission's children are all made.
    Sealed,
    /// The submission's documents were erased; what was proven of them stays.
    Erased,
    /// The submission's row was removed; its events stay.
    Forgotten,
    /// A service level was missed.
    Late,
    /// Somebody agreed to an action that needs several.
    Approved,
    /// Somebody has looked into how it ended.
    Acknowledged,
    /// A review became one person's, for a while.
    Assigned,
    /// A review is nobody's any more.
    Released,
    /// Somebody wrote something down.
    Noted,
    /// The submission follows another version of its pipeline from here on.
    Migrated,
    /// A request to submit was refused and never became a submission.
    Refused,
    /// A request to submit never became a submission: one that was there stands for it.
    Merged,
}

impl Kind {
    /// Every kind, in the order they are declared.
    pub const ALL: [Kind; 21] = [
        Kind::Submitted,
        Kind::Moved,
        Kind::Retried,
        Kind::Crashed,
        Kind::Died,
        Kind::Requested,
        Kind::Abandoned,
        Kind::Amended,
        Kind::Redriven,
        Kind::Sealed,
        Kind::Erased,
        Kind::Forgotten,
        Kind::Late,
        Kind::Approved,
        Kind::Acknowledged,
        Kind::Assigned,
        Kind::Released,
        Kind::Noted,
        Kind::Migrated,
        Kind::Refused,
        Kind::Merged,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
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
            Kind::Assigned => "assigned",
            Kind::Released => "released",
            Kind::Noted => "noted",
            Kind::Migrated => "migrated",
            Kind::Refused => "refused",
            Kind::Merged => "merged",
        }
    }

    /// Tells whether the event is the only one under its id, because there never was a submission.
    #[must_use]
    pub fn is_unborn(self) -> bool {
        matches!(self, Kind::Refused | Kind::Merged)
    }
}

/// The result of one channel of a notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notified {
    pub name: Name,
    pub channel: Channel,
    /// The deliveries it makes, one for each address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<SubmissionId>,
    /// The reason why there are no deliveries, or what is missing from them. Never a value of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Mail,
    Webhook,
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Channel::Mail, Channel::Webhook]
            .into_iter()
            .find(|channel| channel.as_str() == text)
            .ok_or_else(|| "a channel is `mail` or `webhook`".to_owned())
    }
}

impl Channel {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Channel::Mail => "mail",
            Channel::Webhook => "webhook",
        }
    }
}
