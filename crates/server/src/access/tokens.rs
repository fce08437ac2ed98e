//! The tokens of the registry. Only their hashes are known here: a look-up by hash takes as long for a near miss as for
//! any other, because nothing about the hash of a guess can be chosen.

use std::collections::HashMap;

use engine::Engine;
use model::{Caller, Digest, Name, Refusal, Role};
use serde::Deserialize;

use super::Visitor;

/// The kind of registry entry that holds a token's rights, under the name [`token_name`] gives.
pub const TOKENS: &str = "token";

/// The name a token is registered under: its SHA-256 in hexadecimal.
#[must_use]
pub fn token_name(token: &str) -> String {
    Digest::of(token.as_bytes()).0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// `None`: there, but not to be understood, and so good for nothing.
    by_name: HashMap<String, Option<Visitor>>,
}

/// An entry's body. A member unknown to this version may be a restriction, so it is not passed over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rights {
    subject: Name,
    role: Role,
    #[serde(default)]
    pipelines: Option<Vec<Name>>,
}

impl Tokens {
    pub(super) async fn read(engine: &Engine) -> Result<Self, Refusal> {
        let entries = engine.read(|store| store::registry_all(store, TOKENS)).await?;
        let by_name = entries.into_iter().map(|(name, body)| {
            let visitor = match serde_json::from_str::<Rights>(body.as_str()) {
                Ok(Rights { subject, role, pipelines }) => {
                    Some(Visitor { caller: Caller { name: subject, role }, pipelines })
                }
                Err(error) => {
                    tracing::warn!(%error, "a token's entry cannot be read; the token is refused");
                    None
                }
            };
            (name, visitor)
        });
        Ok(Tokens { by_name: by_name.collect() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(super) fn visitor(&self, token: &str) -> Option<Visitor> {
        self.by_name.get(&token_name(token)).cloned().flatten()
    }
}
