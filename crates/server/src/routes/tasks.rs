//! What workers ask: claims, and words about the leases they hold.

use app::Settlement;
use axum::Json;
use axum::http::Uri;
use wire::api::{ClaimAnswer, ClaimBody, SettleAnswer, Tasks};

use super::Asking;
use crate::access::no_token;
use crate::body::{Given, MANY_MAX};
use crate::problem::Answer;

pub(crate) async fn claim(asking: Asking, Given(body): Given<ClaimBody>) -> Answer<Json<ClaimAnswer>> {
    let waits = body.wait.is_some_and(|wait| !wait.is_zero());
    let access = &asking.server.access;
    // Not cut off when the server stops, but ended by the engine.
    let answer = asking.claim(body, access.over(asking.visitor())).await?;
    if answer.tasks.is_empty() && waits && !access.holds(asking.visitor()).await {
        return Err(no_token().into());
    }
    Ok(Json(answer))
}

pub(crate) async fn settle<T: Settlement>(
    asking: Asking,
    uri: Uri,
    Given(tasks): Given<Tasks<T>, MANY_MAX>,
) -> Answer<Json<SettleAnswer>> {
    let proof = asking.proof(&uri)?;
    Ok(Json(asking.settle(tasks, proof).await?))
}
