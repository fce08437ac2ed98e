//! Cursors: how far a named reader of the feed has come.

use model::{Code, Json, Name, Refusal, Time};
use serde::{Deserialize, Serialize};
use store::{RegistryChange, RegistryKey};

use super::batch::Batch;
use super::{Outcome, Output};

/// The registry kind of cursors.
pub const CURSORS: &str = "cursor";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveCursor {
    pub name: Name,
    pub position: u64,
    /// Set if the cursor may go back.
    pub rewind: bool,
}

/// A cursor as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub position: u64,
    pub moved_at: Time,
}

impl Batch<'_> {
    /// Forwards, unless the reader says that it means to go back: a late answer must not undo a newer one.
    pub(super) fn move_cursor(&mut self, wanted: &MoveCursor) -> Outcome {
        let key = cursor_key(&wanted.name);
        let stands =
            self.taken.registry.get(&key).and_then(|body| serde_json::from_str::<Cursor>(body.as_str()).ok());
        if let Some(stands) = stands.filter(|stands| stands.position > wanted.position && !wanted.rewind) {
            let message = format!(
                "cursor `{}` is at {} already; give `rewind` to go back",
                wanted.name, stands.position
            );
            return Err(Refusal::new(Code::CursorAhead, message).with("position", stands.position));
        }
        let cursor = Cursor { position: wanted.position, moved_at: self.now };
        let text = serde_json::to_string(&cursor).expect("a cursor has only string keys");
        let body = Json::from_stored(&text);
        self.taken.registry.insert(key.clone(), body.clone());
        self.changes.registry.push(RegistryChange { key, body: Some(body) });
        Ok(Output::Cursor(cursor))
    }
}

pub(super) fn cursor_key(name: &str) -> RegistryKey {
    RegistryKey { kind: CURSORS.to_owned(), name: name.to_owned() }
}
