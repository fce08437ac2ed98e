//! Entries of systems.

use axum::Json;
use axum::http::Uri;
use wire::api::{EntryBody, EntryPage, EntryView};

use super::{Asking, At};
use crate::body::Given;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(asking: Asking, At(system): At<String>, uri: Uri) -> Answer<Json<EntryPage>> {
    let params = Params::read(&uri, &["limit", "after"])?;
    let after = params.get("after").map(str::to_owned);
    Ok(Json(asking.entries(&system, params.limit()?, after).await?))
}

pub(crate) async fn show(
    asking: Asking,
    At((system, entry)): At<(String, String)>,
) -> Answer<Json<EntryView>> {
    Ok(Json(asking.entry(&system, &entry).await?))
}

pub(crate) async fn put(
    asking: Asking,
    At((system, entry)): At<(String, String)>,
    Given(body): Given<EntryBody>,
) -> Answer<Json<EntryView>> {
    Ok(Json(asking.put_entry(&system, &entry, body).await?))
}
