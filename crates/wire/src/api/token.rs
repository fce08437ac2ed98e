//! Tokens: who may ask for what, and until when. The token itself is shown once, to whoever made it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::role::Role;
use crate::time::{Millis, Time};

/// The rights of a token to be made. All that is given as scope must fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBody {
    /// The token's owner: the name on every event made with it.
    pub subject: String,
    pub role: Role,
    /// The pipelines it is for; left out: all, also those to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipelines: Option<Vec<String>>,
    /// The labels a submission must have for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenView {
    pub id: Name,
    pub subject: Name,
    pub role: Role,
    pub pipelines: Option<Vec<Name>>,
    pub labels: BTreeMap<Name, Name>,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    /// The last use, to the minute; the token may have been used a little later.
    pub last_used_at: Option<Time>,
}

/// The one answer that has the token itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenGiven {
    pub token: Secret,
    #[serde(flatten)]
    pub about: TokenView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenList {
    pub tokens: Vec<TokenView>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotateBody {
    /// The time the old token stays good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Millis>,
}

/// Text that gives its holder rights. It is sent and shown on purpose, never by printing what it is part of.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_shows_in_debug_output() {
        assert!(!format!("{:?}", Secret("hunter2".to_owned())).contains("hunter2"));
    }
}
