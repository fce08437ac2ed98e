//! Endpoints of webhooks: making, listing and removing them, and their secrets. Only for whoever owns the whole
//! deployment: a secret lets its holder pass for this server.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::core::EndpointEntry;
use model::{Name, Refusal};
use serde::Deserialize;
use wire::api::{EndpointBody, EndpointGiven, EndpointList, EndpointView, Secret};

use super::{Asking, At};
use crate::app::App;
use crate::body::{self, Given};
use crate::conditions;
use crate::problem::{Answer, invalid};
use crate::query::Params;

const NAME_CHARS_MAX: usize = 128;
/// The most characters of an address that a delivery can be for.
const URL_CHARS_MAX: usize = 2_000;

pub(crate) async fn create(
    State(app): State<App>,
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<EndpointBody>,
) -> Answer<Response> {
    conditions::never_once(&headers)?;
    let url = address(&body.url)?;
    let name = body.name.as_deref().map(name).transpose()?;
    let (secret, entry) = app.engine.by(&asking.caller).create_endpoint(&url, name).await?;
    let about = view(entry);
    let location =
        HeaderValue::try_from(format!("/v1/endpoints/{}", about.id)).expect("an id is plain ASCII");
    let given = Json(EndpointGiven { secret, about });
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], given).into_response())
}

pub(crate) async fn list(State(app): State<App>, uri: Uri) -> Answer<Json<EndpointList>> {
    Params::read(&uri, &[])?;
    let endpoints = app.engine.endpoints().await?.into_iter().map(view).collect();
    Ok(Json(EndpointList { endpoints }))
}

pub(crate) async fn rotate(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointGiven>> {
    nothing_more(&request)?;
    let (secret, entry): (Secret, _) = app.engine.by(&asking.caller).rotate_endpoint(&id).await?;
    Ok(Json(EndpointGiven { secret, about: view(entry) }))
}

pub(crate) async fn retire(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointView>> {
    nothing_more(&request)?;
    Ok(Json(view(app.engine.by(&asking.caller).retire_endpoint(&id).await?)))
}

pub(crate) async fn enable(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointView>> {
    nothing_more(&request)?;
    Ok(Json(view(app.engine.by(&asking.caller).enable_endpoint(&id).await?)))
}

pub(crate) async fn remove(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<EndpointView>> {
    conditions::never_once(&headers)?;
    Ok(Json(view(app.engine.by(&asking.caller).remove_endpoint(&id).await?)))
}

/// A body without anything to say, as a body or as none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn nothing_more(request: &Request) -> Result<(), Refusal> {
    conditions::never_once(request.headers())?;
    let (_, Nothing {}) = body::read_or_default(request)?;
    Ok(())
}

fn address(url: &str) -> Result<String, Refusal> {
    let normalized = fetch::normalized(url).map_err(|error| invalid(format!("`url`: {error}")))?;
    if normalized.chars().count() > URL_CHARS_MAX {
        return Err(invalid(format!("`url` has at most {URL_CHARS_MAX} characters")));
    }
    Ok(normalized)
}

fn name(name: &str) -> Result<Name, Refusal> {
    let name = name.trim();
    let plain = name.chars().all(|c| !c.is_control());
    if !plain || !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) {
        return Err(invalid(format!("`name` takes 1 to {NAME_CHARS_MAX} characters")));
    }
    Ok(name.into())
}

fn view(entry: EndpointEntry) -> EndpointView {
    let EndpointEntry { id, url, name, secrets, created_at, rotated_at, disabled } = entry;
    let (disabled_at, disabled_reason) = disabled.map(|disabled| (disabled.at, disabled.reason)).unzip();
    EndpointView {
        id,
        url,
        name,
        secrets: secrets.len(),
        created_at,
        rotated_at,
        disabled_at,
        disabled_reason,
    }
}
