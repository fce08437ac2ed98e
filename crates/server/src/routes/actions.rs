//! `POST /v1/submissions/{id}/actions/{action}`: what people do to submissions.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use model::command::Act;
use model::{Refusal, SubmissionId};
use wire::api::ActBody;

use super::submissions::view;
use super::{Asking, At, etag, evidence, id, no_submission};
use crate::access::Visitor;
use crate::app::App;
use crate::problem::Answer;
use crate::{body, conditions};

pub(crate) async fn act(
    State(app): State<App>,
    asking: Asking,
    At((text, action)): At<(String, String)>,
    request: Request,
) -> Answer<Response> {
    let id = id(&text)?;
    let headers = request.headers().clone();
    let proof = evidence::wanted(&app, request.uri())?;
    let (bytes, given) = body::read_or_default::<ActBody>(&request)?;
    let route = format!("POST /v1/submissions/{id}/actions/{action}");
    let asked = conditions::Request { visitor: &asking, most: app.options.answers_max, route, body: &bytes };
    let once = asked.once(&headers)?;
    let act = Act {
        caller: asking.caller.clone(),
        action: action.into(),
        reason: given.reason,
        data: given.data,
        to: given.to,
        if_match: conditions::if_match(&headers)?,
    };
    check_sees(&app, &asking, id).await?;
    let answered = match app.engine.act(id, act, once).await {
        Ok(answered) => answered,
        Err(refusal) => return Err(unnamed(&app, &asking, refusal).await.into()),
    };
    evidence::proven(&app, proof, id).await?;
    let view = view(&app, &answered.row);
    Ok(([etag(view.revision)], Json(view)).into_response())
}

/// A refusal without the id of another submission that the visitor may not see.
async fn unnamed(app: &App, visitor: &Visitor, mut refusal: Refusal) -> Refusal {
    let named = refusal.details.get("submission").and_then(serde_json::Value::as_str);
    if let Some(other) = named.and_then(|text| text.parse().ok())
        && check_sees(app, visitor, other).await.is_err()
    {
        refusal.details.remove("submission");
    }
    refusal
}

/// A submission never changes its pipeline, and its labels only by an amendment that its pipeline allows: who may see it
/// before the act may see it during it.
pub(super) async fn check_sees(app: &App, visitor: &Visitor, id: SubmissionId) -> Result<(), Refusal> {
    if visitor.is_unlimited() {
        return Ok(());
    }
    let found = app.engine.read(move |store| store.submission(id)).await?;
    let seen = found.is_some_and(|(row, _)| visitor.sees_row(&row));
    if seen { Ok(()) } else { Err(no_submission(&id.to_string())) }
}
