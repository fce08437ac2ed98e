//! Pipelines: what is in force, in the form that is asked for; bringing definitions into force, and letting go of them.

use app::Intent;
use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use model::Refusal;
use model::json::Value;
use model::pipeline::Source;
use wire::api::{ApplyBody, PipelineList, RetireAnswer, RetireBody};

use super::submissions::svg;
use super::{Asking, At};
use crate::body::Given;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::{body, media, preconditions};

const JSON: &str = "application/json";
const TOML: &str = "application/toml";
const MERMAID: &str = "text/vnd.mermaid";
const MERMAID_PLAIN: &str = "text/plain+mermaid";
const SVG: &str = "image/svg+xml";
/// The forms by name, for links and people at a browser, who cannot choose by `Accept`.
const FORMATS: [(&str, &str); 4] = [("json", JSON), ("toml", TOML), ("mermaid", MERMAID_PLAIN), ("svg", SVG)];

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<PipelineList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.pipelines().await?))
}

pub(crate) async fn show(
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Response> {
    let params = Params::read(&uri, &["version", "format"])?;
    let version = params.parse("version")?;
    let format = format(&params, &headers)?;
    if format == JSON {
        return Ok(Json(asking.pipeline(&name, version).await?).into_response());
    }
    let pipeline = asking.machine(&name, version)?;
    let typed = |kind: &'static str, text: String| ([(header::CONTENT_TYPE, kind)], text).into_response();
    Ok(match format {
        TOML => typed("application/toml; charset=utf-8", app::file(&pipeline)?),
        MERMAID => typed("text/vnd.mermaid; charset=utf-8", draw::mermaid(&pipeline)),
        MERMAID_PLAIN => typed("text/plain; charset=utf-8", draw::mermaid(&pipeline)),
        _ => svg(app::draw(pipeline, None).await?),
    })
}

fn format(params: &Params, headers: &HeaderMap) -> Result<&'static str, Refusal> {
    let Some(given) = params.get("format") else {
        return Ok(media::preferred(headers, &[JSON, TOML, MERMAID, MERMAID_PLAIN, SVG]));
    };
    let found = FORMATS.iter().find(|(name, _)| *name == given);
    found.map(|(_, kind)| *kind).ok_or_else(|| {
        let names = FORMATS.map(|(name, _)| name);
        invalid(format!("no `format` {}; there is {}", quote(given), names.join(", ")))
            .with("known", names.to_vec())
    })
}

pub(crate) async fn apply(asking: Asking, At(name): At<String>, request: Request) -> Answer<Response> {
    // Before the file is read: what it says is nobody's business who may not define the pipeline.
    asking.check_defines(&name)?;
    let params = Params::read(request.uri(), &["dry_run", "rollback"])?;
    let dry_run = params.parse("dry_run")?.unwrap_or(false);
    let is_rollback = params.parse("rollback")?.unwrap_or(false);
    let intent = if is_rollback { Intent::Rollback } else { Intent::Forward };
    let answer = asking.apply(&name, &source(&name, &request)?, intent, dry_run).await?;
    let status = if answer.changed && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(answer)).into_response())
}

fn source(name: &str, request: &Request) -> Result<Source, Refusal> {
    let kind = media::require(request.headers(), &[TOML, JSON])?;
    let bytes = body::read(request, body::ONE_MAX)?;
    let file = format!("{name}.toml");
    if kind == TOML {
        let toml = std::str::from_utf8(&bytes).map_err(|_| invalid("the file is not UTF-8"))?;
        return Ok(Source::new(file, toml));
    }
    body::strict(&bytes)?;
    let given: ApplyBody = body::shape(&bytes)?;
    let params = given.params.map_or_else(|| Value::Object(Default::default()), |params| params.value());
    Ok(Source { file, toml: given.toml, files: given.files, params })
}

pub(crate) async fn retire(
    asking: Asking,
    At(name): At<String>,
    headers: HeaderMap,
    Given(body): Given<RetireBody>,
) -> Answer<Json<RetireAnswer>> {
    preconditions::never_once(&headers)?;
    Ok(Json(asking.retire(&name, body).await?))
}
