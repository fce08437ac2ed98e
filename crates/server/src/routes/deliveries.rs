//! Messages to the outside: listing them, and sending one again.

use app::DeliveryQuery;
use axum::Json;
use axum::extract::Request;
use axum::http::Uri;
use wire::api::{DeliveryPage, DeliveryView};

use super::{Asking, At, id};
use crate::problem::Answer;
use crate::query::Params;
use crate::{body, preconditions};

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<DeliveryPage>> {
    let params = Params::read(&uri, &["submission", "channel", "status", "limit", "after"])?;
    let query = DeliveryQuery {
        submission: params.parse("submission")?,
        channel: params.parse("channel")?,
        status: params.parse("status")?,
        limit: params.limit()?,
        after: params.parse("after")?,
    };
    Ok(Json(asking.deliveries(query).await?))
}

pub(crate) async fn replay(
    asking: Asking,
    At(text): At<String>,
    request: Request,
) -> Answer<Json<DeliveryView>> {
    preconditions::never_once(request.headers())?;
    let id = id(&text)?;
    let (_, given) = body::read_or_default(&request)?;
    Ok(Json(asking.replay(id, given).await?))
}
