//! Cursors: how far a named reader of the feed has come.
//!
//! A cursor is its subject's: one of the same name of another subject is another cursor. One that was made before there were
//! tokens is nobody's: whoever has none of its name begins where it stands, and moves one of their own from there.

use model::{Code, Name, Refusal, Time, person};
use serde::{Deserialize, Serialize};
use store::RegistryKey;

use super::commit::Commit;
use super::{Output, Reply};
use crate::bounds;
use crate::registry::{Entry, EntryKey};

/// The registry kind of cursors, under the names that [`cursor_name`] gives.
pub const CURSORS: &str = "cursor";

#[derive(Debug)]
pub enum Cursors {}

impl Entry for Cursors {
    const KIND: &'static str = CURSORS;
    type Body = Cursor;
}

/// The numbers of cursors: of all, and of each subject. Those from before they were counted are in none.
pub(super) enum Counts {}

impl Entry for Counts {
    const KIND: &'static str = "cursor-count";
    type Body = usize;
}

/// A cursor somebody names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorName {
    /// The subject whose cursor it is; none where nobody needs a token.
    pub subject: Option<Name>,
    pub name: Name,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveCursor {
    pub cursor: CursorName,
    pub position: u64,
    /// Set if the cursor may go back.
    pub rewind: bool,
}

/// A cursor as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub position: u64,
    pub moved_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Name>,
}

/// Returns the name a cursor is registered under: what comes before a `/` is whose it is.
#[must_use]
pub fn cursor_name(subject: Option<&str>, name: &str) -> String {
    match subject {
        None => name.to_owned(),
        Some(subject) => format!("{}/{name}", spelled(subject)),
    }
}

/// Spells a subject in characters that a registry can find: one person has one spelling.
fn spelled(subject: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    let spell = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    person::normal(subject).bytes().map(spell).collect()
}

impl CursorName {
    fn key(&self) -> EntryKey<Cursors> {
        EntryKey::new(cursor_name(self.subject.as_deref(), &self.name))
    }

    /// The key of the one of its name that is nobody's.
    fn common(&self) -> EntryKey<Cursors> {
        EntryKey::new(self.name.to_string())
    }

    fn own_count(&self) -> Option<EntryKey<Counts>> {
        Some(EntryKey::new(cursor_name(Some(self.subject.as_deref()?), "")))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = RegistryKey> {
        let counts = [Some(count_of_all()), self.own_count()].into_iter().flatten();
        [self.key(), self.common()].map(|key| key.raw()).into_iter().chain(counts.map(|key| key.raw()))
    }
}

fn count_of_all() -> EntryKey<Counts> {
    EntryKey::new("all")
}

impl Commit<'_> {
    /// Forwards, unless the reader says that it means to go back: a late answer must not undo a newer one.
    pub(super) fn move_cursor(&mut self, wanted: &MoveCursor) -> Reply {
        let MoveCursor { cursor, position, rewind } = wanted;
        let own = self.readable(&cursor.key());
        let is_new = own.is_none();
        let stands = own.or_else(|| self.readable(&cursor.common()));
        if let Some(stands) = stands.filter(|stands| stands.position > *position && !rewind) {
            let message = format!(
                "cursor `{}` is at {} already; give `rewind` to go back",
                cursor.name, stands.position
            );
            return Err(Refusal::new(Code::CursorAhead, message).with("position", stands.position));
        }
        if is_new {
            self.count_cursor(cursor)?;
        }
        let moved = Cursor { position: *position, moved_at: self.now, subject: cursor.subject.clone() };
        self.put(&cursor.key(), &moved);
        Ok(Output::Cursor(moved))
    }

    pub(super) fn drop_cursor(&mut self, cursor: &CursorName) -> Reply {
        let key = cursor.key();
        let Some(dropped) = self.readable(&key) else {
            return Err(Refusal::new(Code::UnknownCursor, format!("no cursor `{}`", cursor.name)));
        };
        self.remove(&key);
        for count in [Some(count_of_all()), cursor.own_count()].into_iter().flatten() {
            match self.count(&count).saturating_sub(1) {
                0 => self.remove(&count),
                left => self.put(&count, &left),
            }
        }
        Ok(Output::Cursor(dropped))
    }

    fn count_cursor(&mut self, cursor: &CursorName) -> Result<(), Refusal> {
        let of_all = self.count(&count_of_all());
        let own = cursor.own_count().map(|key| (self.count(&key), key));
        let taken = bounds::Taken { all: of_all, own: own.as_ref().map_or(0, |(count, _)| *count) };
        self.check_bound(&bounds::CURSORS, |_| taken)?;
        self.put(&count_of_all(), &(of_all + 1));
        if let Some((count, key)) = own {
            self.put(&key, &(count + 1));
        }
        Ok(())
    }

    fn count(&self, key: &EntryKey<Counts>) -> usize {
        self.readable(key).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_registered_under_whose_it_is() {
        assert_eq!(cursor_name(None, "mailer"), "mailer");
        assert_eq!(cursor_name(Some("Ada"), "mailer"), "ada/mailer");
        assert_eq!(cursor_name(Some("a/b %é"), "m"), "a%2Fb%20%25%C3%A9/m");
    }
}
