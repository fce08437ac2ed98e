//! Metrics, for whoever watches.

use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};

use super::Asking;
use crate::metrics::Metrics;
use crate::problem::Answer;
use crate::query::Params;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Numbers are of all pipelines: whoever may see some of them only does not get them.
pub(crate) async fn show(asking: Asking, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    asking.check_unlimited(
        "metrics are of everything, and this token is for a part; give the scraper one for all",
    )?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], Metrics::text(&asking.server).await).into_response())
}
