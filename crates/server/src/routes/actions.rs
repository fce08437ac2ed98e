//! Deeds of people: actions, amendments, redrives, acknowledgements.

use axum::extract::Request;
use axum::response::Response;

use super::{Asking, At, id, shown};
use crate::problem::Answer;
use crate::{body, media, preconditions};

pub(crate) async fn act(
    asking: Asking,
    At((text, action)): At<(String, String)>,
    request: Request,
) -> Answer<Response> {
    let id = id(&text)?;
    let (bytes, given) = body::read_or_default(&request)?;
    let route = format!("POST /v1/submissions/{id}/actions/{action}");
    let terms = asking.terms(&request, &route, &bytes)?;
    shown(asking.act(id, action.into(), given, terms).await?)
}

pub(crate) async fn amend(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    media::require(request.headers(), &["application/json", "application/merge-patch+json"])?;
    let bytes = body::read(&request, body::ONE_MAX)?;
    body::strict(&bytes)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/amend"), &bytes)?;
    shown(asking.amend(id, body::shape(&bytes)?, terms).await?)
}

pub(crate) async fn redrive(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    preconditions::never_once(request.headers())?;
    let id = id(&text)?;
    let (_, given) = body::read_or_default(&request)?;
    shown(asking.redrive(id, given).await?)
}

pub(crate) async fn acknowledge(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    let (bytes, given) = body::read_or_default(&request)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/acknowledge"), &bytes)?;
    shown(asking.acknowledge(id, given, terms).await?)
}
