//! The audit trail of a submission, in the words of registries.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use system::{Call, Reply};
use wire::actor::ActorKind;
use wire::api::EventView;
use wire::event::Kind;
use wire::{Code, Refusal, SubmissionId, Time};

/// A transition of a submission.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Transition {
    id: String,
    submission_id: SubmissionId,
    from_state: Option<String>,
    to_state: String,
    trigger: String,
    /// `system`, `worker`, or the name of the person.
    actor: String,
    actor_type: &'static str,
    metadata: Value,
    created_at: Time,
}

/// Answers with every transition of a submission, the first one first.
pub(crate) async fn audit(call: Call) -> Result<Reply, Refusal> {
    let id: SubmissionId = call
        .part("id")
        .parse()
        .map_err(|_| Refusal::new(Code::InvalidRequest, "the address has no id of a submission"))?;
    let mut transitions = Vec::new();
    let mut after = 0;
    loop {
        let page = match call.client.events(id, after).await {
            Ok(page) => page,
            Err(error) => return problem(error),
        };
        transitions.extend(page.events.iter().filter_map(transition));
        match page.next {
            Some(next) => after = next,
            None => return Ok(Reply::json(&transitions)),
        }
    }
}

/// Returns an event as a transition; none for what moves nothing.
fn transition(event: &EventView) -> Option<Transition> {
    if !matches!(event.kind, Kind::Submitted | Kind::Moved) {
        return None;
    }
    let (actor, actor_type) = match event.actor.kind {
        ActorKind::System | ActorKind::Submitter => ("system".to_owned(), "system"),
        ActorKind::Worker => ("worker".to_owned(), "worker"),
        ActorKind::Reviewer | ActorKind::Admin => (event.actor.name.to_string(), "admin"),
    };
    let metadata = event.metadata.as_ref().and_then(|json| serde_json::from_str(json.as_str()).ok());
    Some(Transition {
        id: event.id.to_string(),
        submission_id: event.submission,
        from_state: event.from.as_deref().map(str::to_owned),
        to_state: event.to.to_string(),
        trigger: event.trigger.to_string(),
        actor,
        actor_type,
        metadata: metadata.unwrap_or_else(|| json!({})),
        created_at: event.at,
    })
}

/// Returns an error of the client as the server's own answer, where it is one.
pub(crate) fn problem(error: client::Error) -> Result<Reply, Refusal> {
    let client::Error::Problem(problem) = error else {
        return Err(Refusal::new(Code::Unavailable, error.to_string()));
    };
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    Ok(Reply::new("application/problem+json", body).with_status(status))
}
