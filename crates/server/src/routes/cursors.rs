//! Named positions in the feed.

use app::CursorQuery;
use axum::Json;
use axum::http::{HeaderMap, Uri};
use wire::api::{CursorBody, CursorList, CursorView};

use super::{Asking, At};
use crate::body::Given;
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn show(asking: Asking, At(name): At<String>, uri: Uri) -> Answer<Json<CursorView>> {
    let params = Params::read(&uri, &["subject"])?;
    Ok(Json(asking.cursor(&name, params.name("subject")).await?))
}

pub(crate) async fn place(
    asking: Asking,
    At(name): At<String>,
    Given(body): Given<CursorBody>,
) -> Answer<Json<CursorView>> {
    Ok(Json(asking.move_cursor(&name, body).await?))
}

pub(crate) async fn remove(
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Json<CursorView>> {
    preconditions::never_once(&headers)?;
    let params = Params::read(&uri, &["subject"])?;
    Ok(Json(asking.drop_cursor(&name, params.name("subject")).await?))
}

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<CursorList>> {
    let params = Params::read(&uri, &["subject", "limit", "after"])?;
    let query = CursorQuery {
        subject: params.name("subject"),
        limit: params.limit()?,
        after: params.get("after").map(str::to_owned),
    };
    Ok(Json(asking.cursors(query).await?))
}
