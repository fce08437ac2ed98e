//! Ends that somebody should look into: listing them, and saying that it was done.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use model::InvestigationStatus;
use model::command::Acknowledge;
use wire::api::{AcknowledgeBody, SubmissionPage};

use super::actions::check_sees;
use super::submissions::{self, Only, view};
use super::{Asking, At, etag, evidence, id};
use crate::app::App;
use crate::problem::Answer;
use crate::{body, conditions};

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    let open = Only::Investigated(InvestigationStatus::Open);
    Ok(Json(submissions::page(&app, &asking, &uri, open).await?))
}

pub(crate) async fn acknowledge(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    request: Request,
) -> Answer<Response> {
    let id = id(&text)?;
    let headers = request.headers().clone();
    let proof = evidence::wanted(&app, request.uri())?;
    let (bytes, AcknowledgeBody { note }) = body::read_or_default(&request)?;
    let route = format!("POST /v1/submissions/{id}/acknowledge");
    let asked = conditions::Request { visitor: &asking, most: app.options.answers_max, route, body: &bytes };
    let once = asked.once(&headers)?;
    let if_match = conditions::if_match(&headers)?;
    check_sees(&app, &asking, id).await?;
    let acknowledge = Acknowledge { caller: asking.caller.clone(), note, if_match };
    let answered = app.engine.acknowledge(id, acknowledge, once).await?;
    evidence::proven(&app, proof, id).await?;
    let view = view(&app, &answered.row);
    Ok(([etag(view.revision)], Json(view)).into_response())
}
