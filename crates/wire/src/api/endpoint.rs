//! Endpoints: where webhooks go, and by what their receiver knows them. A secret is shown once, to whoever made it.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::api::Secret;
use crate::time::Time;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointBody {
    pub url: String,
    /// The name people call the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointView {
    pub id: Name,
    /// `null` for the one that signs for every address that has no endpoint of its own.
    pub url: Option<String>,
    pub name: Option<Name>,
    /// The number of secrets that sign: one, or two after a rotation; none where those of the default do.
    pub secrets: usize,
    pub created_at: Time,
    pub rotated_at: Option<Time>,
    /// Since when nothing is posted to it.
    pub disabled_at: Option<Time>,
    pub disabled_reason: Option<String>,
}

/// The one answer that has the secret itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointGiven {
    pub secret: Secret,
    #[serde(flatten)]
    pub about: EndpointView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointList {
    pub endpoints: Vec<EndpointView>,
}
