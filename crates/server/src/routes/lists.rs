//! Lists of submissions: all, dead letters, what waits for people, what somebody should look into, what is overdue.

use app::{Query, ReviewQuery};
use axum::Json;
use axum::http::Uri;
use model::Refusal;
use wire::api::{OverduePage, ReviewPage, SubmissionPage};

use super::Asking;
use crate::problem::Answer;
use crate::query::Params;

const FILTERS: [&str; 11] = [
    "pipeline",
    "state",
    "status",
    "investigation",
    "key",
    "parent",
    "lane",
    "label.",
    "created_before",
    "after",
    "limit",
];

pub(crate) async fn all(asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    Ok(Json(asking.list(query(&uri, &[])?).await?))
}

pub(crate) async fn dead(asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    Ok(Json(asking.dead(query(&uri, &["status", "investigation"])?).await?))
}

pub(crate) async fn investigations(asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    Ok(Json(asking.investigations(query(&uri, &["investigation"])?).await?))
}

pub(crate) async fn reviews(asking: Asking, uri: Uri) -> Answer<Json<ReviewPage>> {
    let params = Params::read(&uri, &["pipeline", "role", "whose", "limit", "after"])?;
    let query = ReviewQuery {
        pipeline: params.name("pipeline"),
        role: params.parse("role")?,
        whose: params.parse("whose")?.unwrap_or_default(),
        limit: params.limit()?,
        after: params.get("after").map(str::to_owned),
    };
    Ok(Json(asking.reviews(query).await?))
}

pub(crate) async fn overdue(asking: Asking, uri: Uri) -> Answer<Json<OverduePage>> {
    let params = Params::read(&uri, &["pipeline", "limit", "after"])?;
    Ok(Json(asking.overdue(params.name("pipeline"), params.get("after"), params.limit()?).await?))
}

/// Reads a filter, without those that the list settles itself.
fn query(uri: &Uri, settled: &[&str]) -> Result<Query, Refusal> {
    let known: Vec<_> = FILTERS.into_iter().filter(|filter| !settled.contains(filter)).collect();
    let params = Params::read(uri, &known)?;
    Ok(Query {
        pipeline: params.name("pipeline"),
        state: params.name("state"),
        status: params.parse("status")?,
        investigation: params.parse("investigation")?,
        key: params.name("key"),
        parent: params.parse("parent")?,
        lane: params.name("lane"),
        labels: params.under("label."),
        created_before: params.parse("created_before")?,
        after: params.parse("after")?,
        limit: params.limit()?,
    })
}
