//! Ends that somebody should look into.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::time::Time;

/// The investigation of an end whose state declares `investigate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Investigation {
    /// Nobody has looked into it yet.
    Open,
    /// Somebody has, and said so.
    Acknowledged {
        by: Name,
        at: Time,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl Investigation {
    #[must_use]
    pub fn status(&self) -> InvestigationStatus {
        match self {
            Investigation::Open => InvestigationStatus::Open,
            Investigation::Acknowledged { .. } => InvestigationStatus::Acknowledged,
        }
    }
}

/// The progress of an investigation: what submissions are filtered and counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvestigationStatus {
    Open,
    Acknowledged,
}

impl InvestigationStatus {
    pub const ALL: [InvestigationStatus; 2] = [InvestigationStatus::Open, InvestigationStatus::Acknowledged];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            InvestigationStatus::Open => "open",
            InvestigationStatus::Acknowledged => "acknowledged",
        }
    }
}

impl FromStr for InvestigationStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        InvestigationStatus::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            let known = InvestigationStatus::ALL.map(InvestigationStatus::as_str).join(" or ");
            format!("unknown status `{text}` of an investigation; {known}")
        })
    }
}
