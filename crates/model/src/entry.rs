//! Entries of systems: small named documents that a system keeps beside its submissions, changed by comparing first.

use wire::refusal::{Code, Refusal};

use crate::Name;
use crate::digest::Digest;
use crate::json::Json;

/// Entries that one answer of a worker changes at most.
pub const ENTRIES_MAX: usize = 100;
/// The most bytes of an entry's body.
pub const ENTRY_BYTES_MAX: usize = 64 << 10;
/// The most characters of a system's name.
const SYSTEM_MAX: usize = 64;
/// The most bytes of an entry's name.
const NAME_MAX: usize = 256;

/// A change of one entry, made only if the entry is what is expected.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange {
    /// The system whose entry it is.
    pub system: Name,
    pub name: Name,
    /// The digest of the body that is to be replaced; `None`: there is to be no such entry yet.
    pub expected: Option<Digest>,
    /// The new body; `None`: the entry is removed.
    pub body: Option<Json>,
}

impl EntryChange {
    /// Returns the digest that names a body to whoever means to replace it.
    #[must_use]
    pub fn digest_of(body: &Json) -> Digest {
        Digest::of(body.as_str().as_bytes())
    }

    /// Checks names and size, whatever the entry is now.
    pub fn check(&self) -> Result<(), Refusal> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.system.is_empty() || self.system.len() > SYSTEM_MAX || !self.system.bytes().all(plain) {
            let message = format!(
                "`{}` cannot be the name of a system: use 1 to {SYSTEM_MAX} characters of a-z, 0-9 and `-`",
                self.system.escape_debug()
            );
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        if self.name.is_empty() || self.name.len() > NAME_MAX || self.name.chars().any(char::is_control) {
            let message = format!(
                "`{}` cannot be the name of an entry: use 1 to {NAME_MAX} bytes without control characters",
                self.name.escape_debug()
            );
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        if self.body.as_ref().is_some_and(|body| body.as_str().len() > ENTRY_BYTES_MAX) {
            let message = format!(
                "the entry `{}` is over {ENTRY_BYTES_MAX} bytes; store it elsewhere and name it",
                self.name
            );
            return Err(Refusal::new(Code::TooLarge, message).with("max_bytes", ENTRY_BYTES_MAX));
        }
        Ok(())
    }

    /// Checks the entry as it is against what is expected.
    pub fn check_expected(&self, current: Option<&Json>) -> Result<(), Refusal> {
        let current = current.map(EntryChange::digest_of);
        if current == self.expected {
            return Ok(());
        }
        let message = match (&self.expected, &current) {
            (_, None) => format!("there is no entry `{}` any more; read it again", self.name),
            (None, Some(_)) => format!("there is an entry `{}` already; read it first", self.name),
            (Some(_), Some(_)) => format!("the entry `{}` was changed meanwhile; read it again", self.name),
        };
        let refusal = Refusal::new(Code::EntryConflict, message)
            .with("system", &*self.system)
            .with("entry", &*self.name);
        Err(match current {
            Some(current) => refusal.with("current", current.to_string()),
            None => refusal,
        })
    }

    /// Returns the text that tells this change from any other, for the digest of an answer.
    pub(crate) fn identity(&self) -> String {
        let expected = self.expected.map_or_else(String::new, |digest| digest.to_string());
        let body = self.body.as_ref().map_or("", |body| body.as_str());
        format!("\0entry\0{}\0{}\0{expected}\0{body}\0", self.system, self.name)
    }
}

/// Checks what one answer changes: each entry once, and no more of them than fit a commit.
pub(crate) fn check_all(entries: &[EntryChange]) -> Result<(), Refusal> {
    if entries.len() > ENTRIES_MAX {
        let message = format!("{} entries are changed at once; {ENTRIES_MAX} may be", entries.len());
        return Err(Refusal::new(Code::TooLarge, message).with("max", ENTRIES_MAX));
    }
    entries.iter().try_for_each(EntryChange::check)?;
    let mut seen = std::collections::BTreeSet::new();
    match entries.iter().find(|change| !seen.insert((&change.system, &change.name))) {
        None => Ok(()),
        Some(twice) => {
            let message = format!("the entry `{}` is changed twice; say what it becomes once", twice.name);
            Err(Refusal::new(Code::InvalidRequest, message))
        }
    }
}
