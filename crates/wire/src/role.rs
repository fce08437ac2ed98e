//! Roles: what a token may do. The same five words in pipeline files, tokens and events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Viewer,
    Submitter,
    Worker,
    Reviewer,
    Admin,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Viewer, Role::Submitter, Role::Worker, Role::Reviewer, Role::Admin];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Submitter => "submitter",
            Role::Worker => "worker",
            Role::Reviewer => "reviewer",
            Role::Admin => "admin",
        }
    }

    /// Tells whether someone with this role has the rights of `wanted`: the role itself, or admin, who may do all.
    #[must_use]
    pub fn covers(self, wanted: Role) -> bool {
        self == wanted || self == Role::Admin
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Role::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| {
            let known: Vec<_> = Role::ALL.iter().map(|role| role.as_str()).collect();
            format!("unknown role `{text}`; one of {}", known.join(", "))
        })
    }
}
