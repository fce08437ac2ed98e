//! `GET /metrics`: for whoever watches.

use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Code, Refusal};

use super::Asking;
use crate::app::App;
use crate::metrics::Metrics;
use crate::problem::Answer;
use crate::query::Params;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Numbers are of all pipelines: whoever may see some of them only does not get them.
pub(crate) async fn show(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    if !asking.is_unlimited() {
        let message = "metrics are of everything, and this token is for a part; give the scraper one for all";
        return Err(Refusal::new(Code::RoleRequired, message).into());
    }
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], Metrics::text(&app).await).into_response())
}
