//! The evidence of a submission, for whoever checks it offline.

use axum::Extension;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};

use super::{Asking, At, id};
use crate::charged::with_share;
use crate::layers;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::shares::Who;

pub(crate) async fn show(
    asking: Asking,
    Extension(who): Extension<Who>,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Response> {
    let params = Params::read(&uri, &["documents", "known"])?;
    let wanted = match params.get("documents") {
        None => true,
        Some("none") => false,
        Some(other) => return Err(invalid(format!("`documents` is `none`, not {}", quote(other))).into()),
    };
    let known = params.parse("known")?;
    let id = id(&text)?;
    let may_reveal = asking.evidence_awaited(id).await?;
    let set_aside = layers::page(&asking.server, &who).await?;
    let evidence = asking.evidence(id, wanted && may_reveal, known).await?;
    let answer = ([(header::CONTENT_TYPE, "application/json")], evidence.to_text()).into_response();
    Ok(with_share(answer, Some(set_aside)))
}
