//! Routes: batches by header or data change, and services with what is under way.

use http::Method;
use serde::Serialize;
use system::{Call, Need, Reply, Room, Route};
use wire::{Code, Refusal, SubmissionId};
use worker::Error;

use crate::{lookup, services};

pub(crate) fn all() -> Vec<Route> {
    let page = (Need::AnyRole, Room::Page);
    vec![
        Route::new(
            (Method::GET, "/ledger/batches/{name}"),
            page,
            "Batches with a header or a data change (`dcid:..`), also those that have ended",
            |call| async move {
                let after = after(&call)?;
                answer(lookup::batches(&call.client, call.part("name"), after).await)
            },
        ),
        Route::new(
            (Method::GET, "/ledger/services"),
            page,
            "Services of ledgers that have something to do, those in trouble first",
            |call| async move { answer(services::services(&call.client, None).await) },
        ),
        Route::new(
            (Method::GET, "/ledger/services/{service}"),
            page,
            "The batch of a service that is under way, how many wait, and the holds that stop it",
            |call| async move { answer(services::services(&call.client, Some(call.part("service"))).await) },
        ),
    ]
}

/// Returns the `after` of a call's query, which is all that there may be in it.
fn after(call: &Call) -> Result<Option<SubmissionId>, Refusal> {
    let Some(query) = call.uri.query().filter(|query| !query.is_empty()) else { return Ok(None) };
    let after = query.strip_prefix("after=").and_then(|after| after.parse().ok());
    let unread = || {
        let shown: String = query.chars().take(80).collect();
        Refusal::new(
            Code::InvalidRequest,
            format!("`{shown}`: this call takes `after`, the `next` of a page"),
        )
    };
    after.map(Some).ok_or_else(unread)
}

fn answer(found: Result<impl Serialize, Error>) -> Result<Reply, Refusal> {
    found.map(|found| Reply::json(&found)).map_err(refusal)
}

/// Passes on what the server said to the caller's own question.
pub(crate) fn refusal(error: Error) -> Refusal {
    let code = error.code().and_then(|said| Code::ALL.iter().find(|code| code.as_str() == said));
    match (code, error) {
        (Some(code), Error::Problem(problem)) => Refusal::new(*code, problem.detail),
        (_, error) => Refusal::new(Code::Internal, error.to_string()),
    }
}
