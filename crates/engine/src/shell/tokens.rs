//! Tokens as callers ask for them.

use std::collections::HashMap;

use model::{Code, Millis, Name, Refusal, Time};
use wire::api::Secret;

use super::Engine;
use super::handle::unexpected;
use crate::clock;
use crate::core::{Ask, Output, TokenDeed, TokenEntry, Tokens, TokensUsed, token_name};
use crate::registry;

/// All of them are kept at hand by every server.
const TOKENS_MAX: usize = 10_000;
/// Marks the text as what it is, for people and for programs that look for secrets in the wrong places.
const PREFIX: &str = "mp_";

/// A token as it is kept, and when it was last used.
#[derive(Debug, Clone)]
pub struct KnownToken {
    /// The name the token is registered under.
    pub name: String,
    pub entry: TokenEntry,
    pub last_used_at: Option<Time>,
}

impl Engine {
    /// Makes a token. What is given here is the only copy of it; its id and its time are filled in.
    pub async fn create_token(&self, entry: TokenEntry) -> Result<(Secret, TokenEntry), Refusal> {
        if self.tokens().await?.len() >= TOKENS_MAX {
            let message = format!("there are {TOKENS_MAX} tokens already; revoke some");
            return Err(Refusal::new(Code::TooLarge, message).with("max", TOKENS_MAX));
        }
        let secret = fresh();
        let entry = TokenEntry { id: self.fresh_id().to_string().into(), ..entry };
        let deed = TokenDeed::Create { name: token_name(&secret.0), entry };
        let entry = self.token_deed(deed).await?;
        tracing::info!(token = &*entry.id, subject = &*entry.subject, role = %entry.role, "a token was made");
        Ok((secret, entry))
    }

    pub async fn revoke_token(&self, id: &str) -> Result<KnownToken, Refusal> {
        let known = self.known_token(id).await?;
        let entry = self.token_deed(TokenDeed::Revoke { name: known.name.clone() }).await?;
        tracing::info!(token = &*entry.id, subject = &*entry.subject, "a token was revoked");
        Ok(KnownToken { entry, ..known })
    }

    /// A new token with the same rights; the old one stays good for a while.
    pub async fn rotate_token(&self, id: &str, grace: Millis) -> Result<(Secret, TokenEntry), Refusal> {
        let old = self.known_token(id).await?.name;
        let secret = fresh();
        let deed = TokenDeed::Rotate {
            old,
            new: token_name(&secret.0),
            id: self.fresh_id().to_string().into(),
            old_until: self.known_time().plus(grace),
        };
        let entry = self.token_deed(deed).await?;
        tracing::info!(old = id, token = &*entry.id, subject = &*entry.subject, "a token was rotated");
        Ok((secret, entry))
    }

    /// Remembers that a token was used. The caller sees to it that this is not asked with every use.
    pub async fn token_used(&self, name: String) -> Result<(), Refusal> {
        self.ask(Ask::Token(Box::new(TokenDeed::Used { name })).into()).await.map(|_| ())
    }

    /// Every token that can be read, in the order they were made.
    pub async fn tokens(&self) -> Result<Vec<KnownToken>, Refusal> {
        let read = |store: &dyn store::Store| {
            Ok((registry::readable::<Tokens>(store)?, registry::readable::<TokensUsed>(store)?))
        };
        let (kept, used) = self.read(read).await?;
        let used: HashMap<String, Time> = used.into_iter().collect();
        let known = kept.into_iter().map(|(name, entry)| {
            let last_used_at = used.get(&name).copied();
            KnownToken { entry, last_used_at, name }
        });
        let mut known: Vec<_> = known.collect();
        known.sort_by(|a, b| (a.entry.created_at, &a.entry.id).cmp(&(b.entry.created_at, &b.entry.id)));
        Ok(known)
    }

    async fn known_token(&self, id: &str) -> Result<KnownToken, Refusal> {
        let mut found = self.tokens().await?.into_iter().filter(|known| *known.entry.id == *id);
        found
            .next()
            .filter(|_| !id.is_empty())
            .ok_or_else(|| Refusal::new(Code::UnknownToken, format!("no token `{}`", shown(id))))
    }

    async fn token_deed(&self, deed: TokenDeed) -> Result<TokenEntry, Refusal> {
        match self.ask(Ask::Token(Box::new(deed)).into()).await? {
            Output::Token(entry) => Ok(*entry),
            _ => Err(unexpected()),
        }
    }
}

/// 32 bytes of chance, which nobody guesses, as hexadecimal digits.
fn fresh() -> Secret {
    let digits: String = clock::entropy::<32>().iter().map(|byte| format!("{byte:02x}")).collect();
    Secret(format!("{PREFIX}{digits}"))
}

/// Somebody may have given the token itself in place of its id: it must not come back in a message.
fn shown(id: &str) -> Name {
    if id.len() == 36 && id.is_ascii() { id.into() } else { "..".into() }
}
