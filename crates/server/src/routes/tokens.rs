//! Tokens: making, listing, revoking and rotating them. The door lets only owners here.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use wire::api::{TokenBody, TokenGiven, TokenList, TokenView};

use super::{Asking, At, created};
use crate::body::{self, Given};
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn create(
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<TokenBody>,
) -> Answer<Response> {
    preconditions::never_once(&headers)?;
    let made = asking.create_token(body).await;
    asking.server.access.changed().await;
    given(made?)
}

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<TokenList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.tokens().await?))
}

pub(crate) async fn revoke(
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<TokenView>> {
    preconditions::never_once(&headers)?;
    let revoked = asking.revoke_token(&id).await;
    asking.server.access.changed().await;
    Ok(Json(revoked?))
}

pub(crate) async fn rotate(asking: Asking, At(id): At<String>, request: Request) -> Answer<Response> {
    preconditions::never_once(request.headers())?;
    let (_, body) = body::read_or_default(&request)?;
    let rotated = asking.rotate_token(&id, body).await;
    asking.server.access.changed().await;
    given(rotated?)
}

fn given(given: TokenGiven) -> Answer<Response> {
    created(format!("/v1/tokens/{}", given.about.id), given)
}
