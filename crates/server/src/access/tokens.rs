//! The tokens of the registry, by their hashes.
//!
//! No comparison here has to take constant time. What is looked up is the hash of what the caller sent; how long that
//! takes may tell how much of a *hash* agrees, but nobody can choose guesses whose hash comes closer, and knowing a hash
//! does not give the 32 random bytes behind it.

use std::collections::HashMap;

use app::{Entry, Visitor};
use engine::Engine;
use engine::core::{TOKENS, TokenEntry, token_name};
use model::{Caller, Refusal, Time};

#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// `None`: there, but not to be understood, and so good for nothing.
    by_name: HashMap<String, Option<TokenEntry>>,
}

impl Tokens {
    pub(super) async fn read(engine: &Engine) -> Result<Self, Refusal> {
        let entries = engine.read(|store| store::registry_all(store, TOKENS)).await?;
        let by_name = entries.into_iter().map(|(name, body)| {
            let entry = serde_json::from_str::<TokenEntry>(body.as_str());
            if let Err(error) = &entry {
                tracing::warn!(%error, "a token's entry cannot be read; the token is refused");
            }
            (name, entry.ok())
        });
        Ok(Tokens { by_name: by_name.collect() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Tells whether what let a visitor in would let them in again.
    pub(super) fn lets_in(&self, visitor: &Visitor, now: Time) -> bool {
        match &visitor.entry {
            Entry::Token(name) => self.entry(name, now).is_some(),
            Entry::Open => self.is_empty(),
            Entry::Inside | Entry::Public => true,
        }
    }

    fn entry(&self, name: &str, now: Time) -> Option<&TokenEntry> {
        let entry = self.by_name.get(name)?.as_ref()?;
        entry.expires_at.is_none_or(|at| at > now).then_some(entry)
    }

    pub(super) fn visitor(&self, token: &str, now: Time) -> Option<Visitor> {
        let name = token_name(token);
        self.entry(&name, now).map(|entry| Visitor {
            caller: Caller { name: entry.subject.clone(), role: entry.role },
            pipelines: entry.pipelines.clone(),
            labels: entry.labels.clone(),
            entry: Entry::Token(name.as_str().into()),
        })
    }
}
