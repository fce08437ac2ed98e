//! `POST /v1/submissions/{id}/amend`: the payload changes, in the fields the pipeline allows.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use model::command::Amend;

use super::actions::check_sees;
use super::submissions::view;
use super::{Asking, At, etag, evidence, id};
use crate::app::App;
use crate::problem::Answer;
use crate::{body, conditions, media};

pub(crate) async fn amend(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    request: Request,
) -> Answer<Response> {
    let id = id(&text)?;
    let headers = request.headers().clone();
    let proof = evidence::wanted(&app, request.uri())?;
    media::require(&headers, &["application/json", "application/merge-patch+json"])?;
    let bytes = body::read(&request, body::ONE_MAX)?;
    body::strict(&bytes)?;
    let route = format!("POST /v1/submissions/{id}/amend");
    let asked = conditions::Request { visitor: &asking, most: app.options.answers_max, route, body: &bytes };
    let once = asked.once(&headers)?;
    let amend = Amend {
        caller: asking.caller.clone(),
        patch: body::shape(&bytes)?,
        if_match: conditions::if_match(&headers)?,
    };
    check_sees(&app, &asking, id).await?;
    let answered = app.engine.amend(id, amend, once).await?;
    evidence::proven(&app, proof, id).await?;
    let view = view(&app, &answered.row);
    Ok(([etag(view.revision)], Json(view)).into_response())
}
