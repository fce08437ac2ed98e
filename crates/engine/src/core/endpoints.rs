//! Endpoints as they are kept: each under the hash of its address, with the secrets that sign what is sent there.
//!
//! Unlike tokens, secrets are kept as they are: signing needs them. They are in no event, log or list.

use model::{Code, Digest, Name, Refusal, Time};
use serde::{Deserialize, Serialize};
use store::RegistryKey;
use wire::api::Secret;

use super::commit::Commit;
use super::{Output, Reply};
use crate::registry::{Entry, EntryKey};

pub const ENDPOINTS: &str = "endpoint";

#[derive(Debug)]
pub enum Endpoints {}

impl Entry for Endpoints {
    const KIND: &'static str = ENDPOINTS;
    type Body = EndpointEntry;
}

/// The name of the endpoint that signs for every address without one of its own.
pub const DEFAULT_ENDPOINT: &str = "default";
/// The newest, and the one before it until it is retired.
const SECRETS_MAX: usize = 2;

/// The name an endpoint is registered under: the SHA-256 of its address in hexadecimal.
#[must_use]
pub fn endpoint_name(url: &str) -> String {
    Digest::of(url.as_bytes()).0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An entry's body. A member unknown to this version may say not to send, so it is not passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointEntry {
    pub id: Name,
    /// None: this is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The secrets that sign, the newest first; empty: those of the default do.
    pub secrets: Vec<Secret>,
    pub created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Disabled>,
}

/// The reason why nothing is sent to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disabled {
    pub at: Time,
    pub reason: String,
}

/// Something done to endpoints. Names are those of the registry; times are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointDeed {
    /// Refused where there is one.
    Create {
        name: String,
        entry: EndpointEntry,
    },
    /// Makes the entry where there is none; gives the one that is there.
    Ensure {
        name: String,
        entry: EndpointEntry,
    },
    /// A new secret first; the one that was first stays beside it.
    Rotate {
        name: String,
        secret: Secret,
    },
    /// Only the newest secret stays.
    Retire {
        name: String,
    },
    Enable {
        name: String,
    },
    /// Stops sending to the endpoint from now on; makes the entry where there is none.
    Disable {
        name: String,
        entry: EndpointEntry,
        reason: String,
    },
    Remove {
        name: String,
    },
}

impl EndpointDeed {
    pub(super) fn keys(&self) -> [RegistryKey; 2] {
        let name = match self {
            EndpointDeed::Create { name, .. }
            | EndpointDeed::Ensure { name, .. }
            | EndpointDeed::Rotate { name, .. }
            | EndpointDeed::Retire { name }
            | EndpointDeed::Enable { name }
            | EndpointDeed::Disable { name, .. }
            | EndpointDeed::Remove { name } => name,
        };
        [key(name).raw(), key(DEFAULT_ENDPOINT).raw()]
    }

    /// Returns the deed's name on record. That a default was made when it was first needed is nobody's doing.
    pub(super) fn word(&self) -> Option<&'static str> {
        Some(match self {
            EndpointDeed::Create { .. } => "endpoint-created",
            EndpointDeed::Ensure { .. } => return None,
            EndpointDeed::Rotate { .. } => "endpoint-rotated",
            EndpointDeed::Retire { .. } => "endpoint-secret-retired",
            EndpointDeed::Enable { .. } => "endpoint-enabled",
            EndpointDeed::Disable { .. } => "endpoint-disabled",
            EndpointDeed::Remove { .. } => "endpoint-removed",
        })
    }
}

fn key(name: &str) -> EntryKey<Endpoints> {
    EntryKey::new(name)
}

impl Commit<'_> {
    pub(super) fn endpoints(&mut self, deed: &EndpointDeed) -> Reply {
        let outcome = self.change_endpoint(deed)?;
        if let (Some(word), Output::Endpoint(entry)) = (deed.word(), &outcome) {
            self.administered(word, &entry.id, &[]);
        }
        Ok(outcome)
    }

    fn change_endpoint(&mut self, deed: &EndpointDeed) -> Reply {
        match deed {
            EndpointDeed::Create { name, entry } => match self.endpoint(name) {
                // One that was only noted when it asked to be left alone has no secret of its own: it gets one now.
                Ok(known) if known.secrets.is_empty() => {
                    let entry = EndpointEntry { id: known.id, created_at: known.created_at, ..entry.clone() };
                    Ok(self.write_endpoint(name, entry))
                }
                Ok(known) => Err(Refusal::new(
                    Code::EndpointExists,
                    "this address has an endpoint already; rotate its secret to get a new one",
                )
                .with("endpoint", &*known.id)),
                Err(_) => {
                    let entry = EndpointEntry { created_at: self.now, ..entry.clone() };
                    Ok(self.write_endpoint(name, entry))
                }
            },
            EndpointDeed::Ensure { name, entry } => match self.endpoint(name) {
                Ok(known) => Ok(Output::Endpoint(Box::new(known))),
                Err(_) => {
                    let entry = EndpointEntry { created_at: self.now, ..entry.clone() };
                    Ok(self.write_endpoint(name, entry))
                }
            },
            EndpointDeed::Rotate { name, secret } => self.rotate_endpoint(name, secret),
            EndpointDeed::Retire { name } => {
                let mut entry = self.endpoint(name)?;
                entry.secrets.truncate(1);
                Ok(self.write_endpoint(name, entry))
            }
            EndpointDeed::Enable { name } => {
                let entry = EndpointEntry { disabled: None, ..self.endpoint(name)? };
                Ok(self.write_endpoint(name, entry))
            }
            EndpointDeed::Disable { name, entry, reason } => {
                let now = self.now;
                let known = self.endpoint(name);
                let entry = known.unwrap_or_else(|_| EndpointEntry { created_at: now, ..entry.clone() });
                let disabled = entry.disabled.clone().unwrap_or(Disabled { at: now, reason: reason.clone() });
                Ok(self.write_endpoint(name, EndpointEntry { disabled: Some(disabled), ..entry }))
            }
            EndpointDeed::Remove { name } => {
                let entry = self.endpoint(name)?;
                self.remove(&key(name));
                Ok(Output::Endpoint(Box::new(entry)))
            }
        }
    }

    fn rotate_endpoint(&mut self, name: &str, secret: &Secret) -> Reply {
        let mut entry = self.endpoint(name)?;
        if entry.secrets.is_empty() {
            // Whoever checks with the default's secret must be able to go on until they know the new one.
            entry.secrets = self.endpoint(DEFAULT_ENDPOINT).map(|known| known.secrets).unwrap_or_default();
        }
        entry.secrets.insert(0, secret.clone());
        entry.secrets.truncate(SECRETS_MAX);
        entry.rotated_at = Some(self.now);
        Ok(self.write_endpoint(name, entry))
    }

    fn write_endpoint(&mut self, name: &str, entry: EndpointEntry) -> Output {
        self.put(&key(name), &entry);
        Output::Endpoint(Box::new(entry))
    }

    fn endpoint(&self, name: &str) -> Result<EndpointEntry, Refusal> {
        let unknown =
            || Refusal::new(Code::UnknownEndpoint, "no such endpoint; it may have been removed meanwhile");
        match self.get(&key(name)) {
            Ok(found) => found.ok_or_else(unknown),
            Err(_) => Err(Refusal::new(Code::Internal, "the endpoint cannot be read as it is kept")),
        }
    }
}
