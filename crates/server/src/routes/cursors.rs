//! Named positions in the feed, kept for readers that come back.

use axum::Json;
use axum::extract::State;
use engine::core::{CURSORS, Cursor, MoveCursor};
use model::api::{CursorBody, CursorView};
use model::{Code, Refusal};
use store::Store;

use super::{At, registry};
use crate::app::App;
use crate::body::Given;
use crate::problem::{Answer, invalid, quote};

const NAME_MAX: usize = 128;
/// Names come from callers: without a bound, one that makes a new name each time would fill the store.
const CURSORS_MAX: usize = 10_000;

pub(crate) async fn show(State(app): State<App>, At(name): At<String>) -> Answer<Json<CursorView>> {
    check(&name)?;
    let wanted = name.clone();
    let found = app.engine.read(move |store| registry::entry(store, CURSORS, &wanted)).await?;
    let body = found.ok_or_else(|| {
        Refusal::new(Code::UnknownCursor, format!("no cursor {}; it is made by moving it", quote(&name)))
    })?;
    let cursor = serde_json::from_str(body.as_str())
        .map_err(|_| Refusal::new(Code::Internal, "the cursor cannot be read as it is kept"))?;
    Ok(Json(view(name, cursor)))
}

pub(crate) async fn place(
    State(app): State<App>,
    At(name): At<String>,
    Given(CursorBody { position, rewind }): Given<CursorBody>,
) -> Answer<Json<CursorView>> {
    check(&name)?;
    let asked = name.clone();
    if !app.engine.read(move |store| has_room(store, &asked)).await? {
        let message = format!("there are {CURSORS_MAX} cursors already; move one of those");
        return Err(Refusal::new(Code::TooLarge, message).with("max", CURSORS_MAX).into());
    }
    let wanted = MoveCursor { name: name.as_str().into(), position, rewind };
    let cursor = app.engine.move_cursor(wanted).await?;
    Ok(Json(view(name, cursor)))
}

/// Tells whether the cursor is there, or may be made. Those that are made at the very same time may be a few more.
fn has_room(store: &dyn Store, name: &str) -> Result<bool, store::Error> {
    const PAGE: usize = 1_000;
    if registry::entry(store, CURSORS, name)?.is_some() {
        return Ok(true);
    }
    let (mut count, mut after) = (0, String::new());
    loop {
        let mut page = store.registry(CURSORS, &after, PAGE)?;
        count += page.len();
        if count >= CURSORS_MAX || page.len() < PAGE {
            return Ok(count < CURSORS_MAX);
        }
        after = page.pop().map(|(last, _)| last).unwrap_or_default();
    }
}

fn view(name: String, Cursor { position, moved_at }: Cursor) -> CursorView {
    CursorView { name: name.into(), position, moved_at }
}

fn check(name: &str) -> Result<(), Refusal> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && (1..=NAME_MAX).contains(&name.len()) {
        return Ok(());
    }
    Err(invalid(format!("a cursor's name is 1 to {NAME_MAX} of letters, digits, `.`, `_` and `-`")))
}
