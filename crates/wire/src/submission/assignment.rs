//! A review that one person has taken on.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::time::Time;

/// A person's claim on a review: until it ends, nobody else decides in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Whoever reviews.
    pub to: Name,
    /// Whoever said so: the same person, or the one who handed it over.
    pub by: Name,
    pub since: Time,
    pub until: Time,
}
