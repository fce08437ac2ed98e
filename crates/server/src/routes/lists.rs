//! Lists of submissions: all, dead letters, what waits for people, what somebody should look into, what is overdue.

use app::{Narrowed, Query, ReviewQuery};
use axum::Json;
use axum::http::Uri;
use model::{Refusal, SubmissionId};
use wire::api::{FindAnswer, OverduePage, ReviewPage, SubmissionPage};

use super::Asking;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

const FILTERS: [&str; 17] = [
    "pipeline",
    "state",
    "status",
    "investigation",
    "key",
    "id",
    "parent",
    "lane",
    "label.",
    "created_before",
    "created_after",
    "entered_before",
    "error",
    "fingerprint",
    "worker",
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

pub(crate) async fn find(asking: Asking, uri: Uri) -> Answer<Json<FindAnswer>> {
    let params = Params::read(&uri, &["text"])?;
    Ok(Json(asking.find(params.get("text").unwrap_or_default()).await?))
}

/// Reads a filter, without those that the list settles itself.
pub(super) fn query(uri: &Uri, settled: &[&str]) -> Result<Query, Refusal> {
    let known: Vec<_> = FILTERS.into_iter().filter(|filter| !settled.contains(filter)).collect();
    let params = Params::read(uri, &known)?;
    filter(&params)
}

/// Returns the names of everything that submissions are listed by.
pub(super) fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.into_iter()
}

pub(super) fn filter(params: &Params) -> Result<Query, Refusal> {
    let ids = params.get("id").map(|text| {
        SubmissionId::beginning_with(text).ok_or_else(|| {
            invalid(format!("`id` is the beginning of an id, such as 019a8c5e, not {}", quote(text)))
        })
    });
    Ok(Query {
        pipeline: params.name("pipeline"),
        state: params.name("state"),
        status: params.parse("status")?,
        investigation: params.parse("investigation")?,
        key: params.name("key"),
        held_key: None,
        ids: ids.transpose()?,
        parent: params.parse("parent")?,
        lane: params.name("lane"),
        labels: params.under("label."),
        created_before: params.parse("created_before")?,
        created_after: params.parse("created_after")?,
        narrowed: Narrowed {
            entered_before: params.parse("entered_before")?,
            error: params.name("error"),
            fingerprint: params.parse("fingerprint")?,
            worker: params.name("worker"),
        },
        after: params.parse("after")?,
        limit: params.limit()?,
    })
}
