//! Named positions in the feed, kept for readers that come back.

use axum::Json;
use axum::extract::State;
use engine::core::{CURSORS, Cursor, MoveCursor};
use model::api::{CursorBody, CursorView};
use model::{Code, Refusal};

use super::At;
use crate::app::App;
use crate::body::Given;
use crate::problem::{Answer, invalid, quote};

const NAME_MAX: usize = 128;

pub(crate) async fn show(State(app): State<App>, At(name): At<String>) -> Answer<Json<CursorView>> {
    check(&name)?;
    let kept = app.engine.read(|store| store.registry(CURSORS)).await?;
    let found = kept.into_iter().find(|(kept, _)| *kept == name);
    let (_, body) = found.ok_or_else(|| {
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
    let wanted = MoveCursor { name: name.as_str().into(), position, rewind };
    let cursor = app.engine.move_cursor(wanted).await?;
    Ok(Json(view(name, cursor)))
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
