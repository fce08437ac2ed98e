//! The requests of workers: claims, and words about the leases they hold.

use app::Settlement;
use axum::http::Uri;
use axum::response::Response;
use axum::{Extension, Json};
use wire::api::{ClaimAnswer, ClaimBody, GiveBackBody, SettleAnswer, Tasks};

use super::Asking;
use crate::access::no_token;
use crate::body::{Given, MANY_MAX};
use crate::charged;
use crate::layers;
use crate::problem::Answer;
use crate::shares::Who;

/// The bytes that a caller must have left to be lent anything.
const ROOM_FOR_A_CLAIM: usize = 64 << 10;

pub(crate) async fn claim(
    asking: Asking,
    Extension(who): Extension<Who>,
    Given(body): Given<ClaimBody>,
) -> Answer<Response> {
    // Whoever has left what they claimed before unread is lent nothing more.
    drop(layers::room(&asking.server, &who, ROOM_FOR_A_CLAIM).await?);
    let waits = body.wait.is_some_and(|wait| !wait.is_zero());
    let access = &asking.server.access;
    // Not cut off when the server stops, but ended by the engine.
    let answer = asking.claim(body, access.over(asking.visitor())).await?;
    if answer.tasks.is_empty() && waits && !access.holds(asking.visitor()).await {
        return Err(no_token().into());
    }
    lent(&asking, &who, answer).await
}

/// Answers with what was lent. Where there is no room for it beside what the caller has not read yet, it goes back to its
/// queue: unread, it would be nobody's until the leases are over.
async fn lent(asking: &Asking, who: &Who, answer: ClaimAnswer) -> Answer<Response> {
    let leases: Vec<_> = answer.tasks.iter().map(|task| GiveBackBody { token: task.token.clone() }).collect();
    let answer = asking.server.apart.json(answer).await;
    match charged::take(&answer, &asking.server.bytes, who) {
        Ok(share) => Ok(charged::with_share(answer, share)),
        Err(refusal) => {
            asking.settle(Tasks { tasks: leases }, false).await?;
            Err(refusal.into())
        }
    }
}

pub(crate) async fn settle<T: Settlement>(
    asking: Asking,
    uri: Uri,
    Given(tasks): Given<Tasks<T>, MANY_MAX>,
) -> Answer<Json<SettleAnswer>> {
    let proof = asking.proof(&uri)?;
    Ok(Json(asking.settle(tasks, proof).await?))
}
