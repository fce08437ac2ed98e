//! Tokens as they are kept: under their hash, never themselves.
//!
//! An entry of its own lists the admins whose tokens are for everything and have no end. It is read and
//! written with every change, so that two servers cannot each revoke the other's last one: one of them decides again.

use std::collections::BTreeMap;

use model::{Code, Digest, Name, Refusal, Role, Time};
use serde::{Deserialize, Serialize};
use store::RegistryKey;

use super::commit::Commit;
use super::{Output, Reply};
use crate::registry::{Entry, EntryKey, OneEntry};

/// The registry kind of tokens, under the name [`token_name`] gives.
pub const TOKENS: &str = "token";
/// The registry kind of the time each token was last used: apart, so that using a token and changing it do not meet.
pub const TOKENS_USED: &str = "token-used";

#[derive(Debug)]
pub enum Tokens {}

impl Entry for Tokens {
    const KIND: &'static str = TOKENS;
    type Body = TokenEntry;
}

/// The time at which each token was last used.
#[derive(Debug)]
pub enum TokensUsed {}

impl Entry for TokensUsed {
    const KIND: &'static str = TOKENS_USED;
    type Body = Time;
}

/// The names of the tokens that keep the door: see the module.
#[derive(Debug)]
pub(super) enum TokenAdmins {}

impl Entry for TokenAdmins {
    const KIND: &'static str = "token-admins";
    type Body = Vec<String>;
}

impl OneEntry for TokenAdmins {
    const NAME: &'static str = "all";
}

/// The name a token is registered under: its SHA-256 in hexadecimal.
#[must_use]
pub fn token_name(token: &str) -> String {
    Digest::of(token.as_bytes()).0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An entry's body. A member unknown to this version may be a restriction, so it is not passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    #[serde(default)]
    pub id: Name,
    pub subject: Name,
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipelines: Option<Vec<Name>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    #[serde(default = "long_ago")]
    pub created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

impl TokenEntry {
    /// Tells whether the token is for everything there is.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.pipelines.is_none() && self.labels.is_empty()
    }

    fn keeps_the_door(&self) -> bool {
        self.role == Role::Admin && self.is_unlimited() && self.expires_at.is_none()
    }
}

/// Something done to tokens. Names are those of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenDeed {
    Create {
        name: String,
        entry: TokenEntry,
    },
    Revoke {
        name: String,
    },
    /// The same rights under a new name; the old one ends then.
    Rotate {
        old: String,
        new: String,
        id: Name,
        old_until: Time,
    },
    Used {
        name: String,
    },
}

impl TokenDeed {
    pub(super) fn keys(&self) -> Vec<RegistryKey> {
        let (name, other) = match self {
            TokenDeed::Create { name, .. } | TokenDeed::Revoke { name } | TokenDeed::Used { name } => {
                (name, None)
            }
            TokenDeed::Rotate { old, new, .. } => (old, Some(token_key(new).raw())),
        };
        [token_key(name).raw(), admins_key().raw()].into_iter().chain(other).collect()
    }
}

fn token_key(name: &str) -> EntryKey<Tokens> {
    EntryKey::new(name)
}

fn used_key(name: &str) -> EntryKey<TokensUsed> {
    EntryKey::new(name)
}

fn admins_key() -> EntryKey<TokenAdmins> {
    EntryKey::one()
}

fn long_ago() -> Time {
    Time::EPOCH
}

fn unknown() -> Refusal {
    Refusal::new(Code::UnknownToken, "no such token; it may have been revoked meanwhile")
}

impl Commit<'_> {
    pub(super) fn tokens(&mut self, deed: &TokenDeed) -> Reply {
        match deed {
            TokenDeed::Create { name, entry } => self.create_token(name, entry),
            TokenDeed::Revoke { name } => self.revoke_token(name),
            TokenDeed::Rotate { old, new, id, old_until } => {
                let mut fresh = self.token(old)?;
                if fresh.expires_at.is_some_and(|at| at <= self.trust.known().unwrap_or(self.now)) {
                    return Err(Refusal::new(
                        Code::UnknownToken,
                        "this token has ended; make a new one instead",
                    ));
                }
                let ends = fresh.expires_at.map_or(*old_until, |at| at.min(*old_until));
                let ended = TokenEntry { expires_at: Some(ends), ..fresh.clone() };
                fresh.id = id.clone();
                fresh.created_at = self.now;
                self.write_token(new, &fresh);
                self.write_token(old, &ended);
                let detail = self.of_token(&fresh);
                let replaces = ("replaces", ended.id.to_string());
                let until = ("replaced_until", ends.to_string());
                self.administered("token-rotated", id, &[detail, vec![replaces, until]].concat());
                Ok(Output::Token(Box::new(fresh)))
            }
            // A use that arrives after the revocation must leave nothing behind.
            TokenDeed::Used { name } => {
                if self.token(name).is_ok() {
                    let now = self.now;
                    self.put(&used_key(name), &now);
                }
                Ok(Output::Gone)
            }
        }
    }

    fn create_token(&mut self, name: &str, entry: &TokenEntry) -> Reply {
        if self.admins().is_empty() && !entry.keeps_the_door() {
            return Err(Refusal::new(
                Code::AdminFirst,
                "make an admin's token first, for all pipelines and without an end: nobody could make more otherwise",
            ));
        }
        let entry = TokenEntry { created_at: self.now, ..entry.clone() };
        self.write_token(name, &entry);
        let detail = self.of_token(&entry);
        self.administered("token-created", &entry.id, &detail);
        Ok(Output::Token(Box::new(entry)))
    }

    fn revoke_token(&mut self, name: &str) -> Reply {
        let entry = self.token(name)?;
        let admins = self.admins();
        if admins.iter().all(|admin| admin == name) && !admins.is_empty() {
            return Err(Refusal::new(
                Code::LastAdmin,
                "this is the last token that can make others; rotate it, or make another admin's first",
            ));
        }
        self.keep_admins(name, false);
        self.remove(&token_key(name));
        self.remove(&used_key(name));
        let detail = self.of_token(&entry);
        self.administered("token-revoked", &entry.id, &detail);
        Ok(Output::Token(Box::new(entry)))
    }

    fn write_token(&mut self, name: &str, entry: &TokenEntry) {
        self.put(&token_key(name), entry);
        self.keep_admins(name, entry.keeps_the_door());
    }

    fn keep_admins(&mut self, name: &str, is_one: bool) {
        let mut admins = self.admins();
        admins.retain(|admin| admin != name);
        admins.extend(is_one.then(|| name.to_owned()));
        self.put(&admins_key(), &admins);
    }

    fn token(&self, name: &str) -> Result<TokenEntry, Refusal> {
        match self.get(&token_key(name)) {
            Ok(found) => found.ok_or_else(unknown),
            Err(_) => Err(Refusal::new(Code::Internal, "the token cannot be read as it is kept")),
        }
    }

    fn admins(&self) -> Vec<String> {
        self.readable(&admins_key()).unwrap_or_default()
    }
}
