//! Actions: the kinds of change to the list.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Add,
    Modify,
    Delete,
    /// An operator's change of a site's policy, in an emergency.
    ServiceModified,
    /// The removal of a site whose domain is not registered any more.
    DomainDeleted,
}

impl Action {
    pub const ALL: [Action; 5] =
        [Action::Add, Action::Modify, Action::Delete, Action::ServiceModified, Action::DomainDeleted];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Add => "ADD",
            Action::Modify => "MODIFY",
            Action::Delete => "DELETE",
            Action::ServiceModified => "SERVICE_MODIFIED",
            Action::DomainDeleted => "DOMAIN_DELETED",
        }
    }

    /// Reads an action as people and headers write it, in any case.
    #[must_use]
    pub fn read(text: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str().eq_ignore_ascii_case(text.trim()))
    }

    /// Returns whether anybody may ask for the action. The others are the operator's.
    #[must_use]
    pub fn is_public(self) -> bool {
        matches!(self, Action::Add | Action::Modify | Action::Delete)
    }

    /// Returns whether the action ends with the site off the list.
    #[must_use]
    pub fn removes(self) -> bool {
        matches!(self, Action::Delete | Action::DomainDeleted)
    }
}
