//! Named positions in the feed, kept for readers that come back. Each subject has its own; an owner sees all of them.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use engine::core::{CURSORS, Cursor, CursorName, MoveCursor, cursor_name};
use model::{Code, Name, Refusal, person};
use store::Store;
use wire::api::{CursorBody, CursorList, CursorView};

use super::tokens::SUBJECT_CHARS_MAX;
use super::{Asking, At};
use crate::access::Visitor;
use crate::app::App;
use crate::body::Given;
use crate::conditions;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

const NAME_MAX: usize = 128;

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
) -> Answer<Json<CursorView>> {
    check(&name)?;
    let chosen = chosen(&asking, &Params::read(&uri, &["subject"])?)?;
    let (_, body) = find(&app, &asking, &name, chosen).await?;
    Ok(Json(view(&name, read(&body)?)))
}

pub(crate) async fn place(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    Given(CursorBody { position, rewind }): Given<CursorBody>,
) -> Answer<Json<CursorView>> {
    check(&name)?;
    let cursor = CursorName { subject: own(&asking), name: name.as_str().into() };
    let moved = asking.asks(&app.engine).move_cursor(MoveCursor { cursor, position, rewind }).await?;
    Ok(Json(view(&name, moved)))
}

pub(crate) async fn remove(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Json<CursorView>> {
    conditions::never_once(&headers)?;
    check(&name)?;
    let chosen = chosen(&asking, &Params::read(&uri, &["subject"])?)?;
    let (subject, _) = find(&app, &asking, &name, chosen).await?;
    if subject.is_none() && !asking.is_owner() {
        // Everybody who has none of its name may begin where it stands.
        return Err(unknown(&name).into());
    }
    let cursor = CursorName { subject, name: name.as_str().into() };
    Ok(Json(view(&name, asking.asks(&app.engine).drop_cursor(cursor).await?)))
}

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<CursorList>> {
    let params = Params::read(&uri, &["subject", "limit", "after"])?;
    let limit = params.limit()?;
    let subject = match chosen(&asking, &params)? {
        None if asking.is_owner() => None,
        None => own(&asking),
        chosen => chosen,
    };
    let begins = subject.map_or_else(String::new, |subject| cursor_name(Some(&subject), ""));
    let after = params.get("after").unwrap_or_default().to_owned();
    let mut found = app.engine.read(move |store| of(store, &begins, after, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(kept, _)| kept.clone());
    let views = found.iter().map(|(kept, body)| {
        let name = kept.rsplit_once('/').map_or(kept.as_str(), |(_, name)| name);
        Ok(view(name, read(body)?))
    });
    Ok(Json(CursorList { cursors: views.collect::<Result<_, Refusal>>()?, next }))
}

type Kept = (String, model::Json);

/// The cursors whose registered names begin like this.
fn of(store: &dyn Store, begins: &str, after: String, limit: usize) -> Result<Vec<Kept>, store::Error> {
    let found = store.registry(CURSORS, begins.max(after.as_str()), limit)?;
    Ok(found.into_iter().take_while(|(name, _)| name.starts_with(begins)).collect())
}

/// The subject whose cursors a visitor moves. Where nobody needs a token they are everybody's.
fn own(visitor: &Visitor) -> Option<Name> {
    visitor.token.as_ref().map(|_| visitor.caller.name.clone())
}

/// The subject a visitor asks for, where they may.
fn chosen(visitor: &Visitor, params: &Params) -> Result<Option<Name>, Refusal> {
    let subject = params.name("subject");
    if subject.as_ref().is_some_and(|subject| subject.chars().count() > SUBJECT_CHARS_MAX) {
        return Err(invalid(format!("`subject` has at most {SUBJECT_CHARS_MAX} characters")));
    }
    match &subject {
        Some(other) if !visitor.is_owner() && !person::is_same(other, &visitor.caller.name) => {
            let message = "the cursors of other subjects are for admins whose token is for everything";
            Err(Refusal::new(Code::RoleRequired, message))
        }
        _ => Ok(subject),
    }
}

/// A cursor and whose it is: that of the chosen subject, or else the visitor's own, or else the one that is nobody's.
async fn find(
    app: &App,
    visitor: &Visitor,
    name: &str,
    chosen: Option<Name>,
) -> Result<(Option<Name>, model::Json), Refusal> {
    let places = match (chosen, own(visitor)) {
        (Some(subject), _) => vec![Some(subject)],
        (None, None) => vec![None],
        (None, own) => vec![own, None],
    };
    let wanted = name.to_owned();
    let found = app.engine.read(move |store| {
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

fn unknown(name: &str) -> Refusal {
    Refusal::new(Code::UnknownCursor, format!("you have no cursor {}; it is made by moving it", quote(name)))
}

fn read(body: &model::Json) -> Result<Cursor, Refusal> {
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
