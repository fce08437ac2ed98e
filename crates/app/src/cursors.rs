//! Named positions in the feed, kept for readers that come back. Each subject has its own; an owner sees all of them.

use engine::core::{CURSORS, Cursor, CursorName, MoveCursor, cursor_name};
use model::{Code, Json, Name, Refusal, person};
use store::Store;
use wire::api::{CursorBody, CursorList, CursorView};

use crate::tokens::SUBJECT_CHARS_MAX;
use crate::{App, invalid, quote};

const NAME_MAX: usize = 128;

/// A choice of cursors to list.
#[derive(Debug, Clone, Default)]
pub struct CursorQuery {
    /// The subject whose cursors are meant; the visitor's own if there is none, and everybody's for an owner.
    pub subject: Option<Name>,
    pub limit: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
}

impl App {
    /// Returns a cursor of the visitor, or of the subject that is named.
    pub async fn cursor(&self, name: &str, subject: Option<Name>) -> Result<CursorView, Refusal> {
        check(name)?;
        let (_, body) = self.find_cursor(name, self.subject_of(subject)?).await?;
        Ok(view(name, read(&body)?))
    }

    /// Moves a cursor of the visitor, which makes it if there is none.
    pub async fn move_cursor(&self, name: &str, body: CursorBody) -> Result<CursorView, Refusal> {
        check(name)?;
        let CursorBody { position, rewind } = body;
        let cursor = CursorName { subject: self.visitor.subject().cloned(), name: name.into() };
        let moved = self.sharing().move_cursor(MoveCursor { cursor, position, rewind }).await?;
        Ok(view(name, moved))
    }

    /// Removes a cursor of the visitor, or of the subject that is named.
    pub async fn drop_cursor(&self, name: &str, subject: Option<Name>) -> Result<CursorView, Refusal> {
        check(name)?;
        let (subject, _) = self.find_cursor(name, self.subject_of(subject)?).await?;
        if subject.is_none() && !self.visitor.is_owner() {
            // Everybody who has none of its name may begin where it stands.
            return Err(unknown(name));
        }
        let cursor = CursorName { subject, name: name.into() };
        Ok(view(name, self.sharing().drop_cursor(cursor).await?))
    }

    /// Lists cursors in the order of subjects and names.
    pub async fn cursors(&self, query: CursorQuery) -> Result<CursorList, Refusal> {
        let CursorQuery { subject, limit, after } = query;
        let subject = match self.subject_of(subject)? {
            None if self.visitor.is_owner() => None,
            None => self.visitor.subject().cloned(),
            chosen => chosen,
        };
        let begins = subject.map_or_else(String::new, |subject| cursor_name(Some(&subject), ""));
        let after = after.unwrap_or_default();
        let mut found = self.engine.read(move |store| beginning(store, &begins, after, limit + 1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(kept, _)| kept.clone());
        let views = found.iter().map(|(kept, body)| {
            let name = kept.rsplit_once('/').map_or(kept.as_str(), |(_, name)| name);
            Ok(view(name, read(body)?))
        });
        Ok(CursorList { cursors: views.collect::<Result<_, Refusal>>()?, next })
    }

    /// Returns the subject whose cursors the visitor asks for, where they may.
    fn subject_of(&self, chosen: Option<Name>) -> Result<Option<Name>, Refusal> {
        if chosen.as_ref().is_some_and(|subject| subject.chars().count() > SUBJECT_CHARS_MAX) {
            return Err(invalid(format!("`subject` has at most {SUBJECT_CHARS_MAX} characters")));
        }
        let visitor = &self.visitor;
        match &chosen {
            Some(other) if !visitor.is_owner() && !person::is_same(other, &visitor.caller.name) => {
                let message = "the cursors of other subjects are for admins whose token is for everything";
                Err(Refusal::new(Code::RoleRequired, message))
            }
            _ => Ok(chosen),
        }
    }

    /// Returns a cursor and whose it is: that of the chosen subject, or else the visitor's own, or else the one that is
    /// nobody's.
    async fn find_cursor(&self, name: &str, chosen: Option<Name>) -> Result<(Option<Name>, Json), Refusal> {
        let places = match (chosen, self.visitor.subject().cloned()) {
            (Some(subject), _) => vec![Some(subject)],
            (None, None) => vec![None],
            (None, own) => vec![own, None],
        };
        let wanted = name.to_owned();
        let found = self.engine.read(move |store| {
            for subject in places {
                let kept = store::registry_entry(store, CURSORS, &cursor_name(subject.as_deref(), &wanted))?;
                if let Some(body) = kept {
                    return Ok(Some((subject, body)));
                }
            }
            Ok(None)
        });
        found.await?.ok_or_else(|| unknown(name))
    }
}

type Kept = (String, Json);

/// Reads cursors whose registered names begin like this.
fn beginning(
    store: &dyn Store,
    begins: &str,
    after: String,
    limit: usize,
) -> Result<Vec<Kept>, store::Error> {
    let found = store.registry(CURSORS, begins.max(after.as_str()), limit)?;
    Ok(found.into_iter().take_while(|(name, _)| name.starts_with(begins)).collect())
}

fn unknown(name: &str) -> Refusal {
    Refusal::new(Code::UnknownCursor, format!("you have no cursor {}; it is made by moving it", quote(name)))
}

fn read(body: &Json) -> Result<Cursor, Refusal> {
    let cursor = serde_json::from_str(body.as_str());
    cursor.map_err(|_| Refusal::new(Code::Internal, "the cursor cannot be read as it is kept"))
}

fn view(name: &str, Cursor { position, moved_at, subject }: Cursor) -> CursorView {
    CursorView { name: name.into(), subject, position, moved_at }
}

fn check(name: &str) -> Result<(), Refusal> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && (1..=NAME_MAX).contains(&name.len()) {
        return Ok(());
    }
    Err(invalid(format!("a cursor's name is 1 to {NAME_MAX} of letters, digits, `.`, `_` and `-`")))
}
