//! Actors: who did something, and who asks for something.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::role::Role;

/// The kind an event records. A person is recorded under the role used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    System,
    Worker,
    Submitter,
    Reviewer,
    Admin,
}

impl ActorKind {
    pub const ALL: [ActorKind; 5] =
        [ActorKind::System, ActorKind::Worker, ActorKind::Submitter, ActorKind::Reviewer, ActorKind::Admin];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ActorKind::System => "system",
            ActorKind::Worker => "worker",
            ActorKind::Submitter => "submitter",
            ActorKind::Reviewer => "reviewer",
            ActorKind::Admin => "admin",
        }
    }
}

impl From<Role> for ActorKind {
    fn from(role: Role) -> Self {
        match role {
            Role::Worker => ActorKind::Worker,
            Role::Viewer | Role::Submitter => ActorKind::Submitter,
            Role::Reviewer => ActorKind::Reviewer,
            Role::Admin => ActorKind::Admin,
        }
    }
}

/// The actor that an event records: `{"type": "admin", "name": "ada"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    #[serde(rename = "type")]
    pub kind: ActorKind,
    pub name: Name,
}

impl Actor {
    #[must_use]
    pub fn new(kind: ActorKind, name: impl Into<Name>) -> Self {
        Actor { kind, name: name.into() }
    }

    #[must_use]
    pub fn system() -> Self {
        Actor::new(ActorKind::System, "system")
    }
}

/// Someone who asks for something: a name and the role their token gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    pub name: Name,
    pub role: Role,
}

impl Caller {
    #[must_use]
    pub fn new(name: impl Into<Name>, role: Role) -> Self {
        Caller { name: name.into(), role }
    }

    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { kind: self.role.into(), name: self.name.clone() }
    }
}
