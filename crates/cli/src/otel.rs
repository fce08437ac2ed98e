//! Spans to an OpenTelemetry collector: OTLP over HTTP, set up by the usual variables of the environment.

use std::env;
use std::sync::OnceLock;

use async_trait::async_trait;
use model::Trace;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::{Builder, Runtime};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

/// The spans that are exported: requests and batches, whatever is logged.
const SPANS: [(&str, LevelFilter); 2] = [("server", LevelFilter::DEBUG), ("engine", LevelFilter::DEBUG)];
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Ended once, when the process is about to.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// The layer that exports; none where the environment names no collector, or says not to.
pub(crate) fn layer<S>() -> anyhow::Result<Option<impl Layer<S>>>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    if !is_wanted() {
        return Ok(None);
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(Sender::new()?)
        .build()?;
    let mut resource = Resource::builder();
    if env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name("milepost");
    }
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let tracer = provider.tracer("milepost");
    // Kept for the end; a second set-up in one process would be a second export.
    let _ = PROVIDER.set(provider);
    Ok(Some(
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_location(false)
            .with_threads(false)
            .with_filter(Targets::new().with_targets(SPANS)),
    ))
}

fn is_wanted() -> bool {
    let says = |name: &str, word: &str| env::var(name).is_ok_and(|value| value.eq_ignore_ascii_case(word));
    let named = ENDPOINTS.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    named && !says("OTEL_SDK_DISABLED", "true") && !says("OTEL_TRACES_EXPORTER", "none")
}

/// Makes a request's span part of its caller's trace.
pub(crate) fn adopt(span: &Span, trace: &Trace) {
    let mut carrier = std::collections::HashMap::from([("traceparent".to_owned(), trace.parent.to_string())]);
    carrier.extend(trace.state.iter().map(|state| ("tracestate".to_owned(), state.to_string())));
    // A span that is not exported has no parent to set.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
}

/// Sends what has not been sent yet.
pub(crate) fn end() {
    if let Some(provider) = PROVIDER.get()
        && let Err(error) = provider.shutdown()
    {
        tracing::warn!(%error, "the last spans were not exported");
    }
}

/// Sends with the one HTTP client and TLS of this program. The exporter's thread has no runtime: this brings its own.
#[derive(Debug)]
struct Sender {
    client: reqwest::Client,
    runtime: Runtime,
}

impl Sender {
    fn new() -> anyhow::Result<Sender> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("milepost/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .timeout(std::time::Duration::from_secs(10))
            .build()?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("milepost-otel")
            .enable_all()
            .build()?;
        Ok(Sender { client, runtime })
    }
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let mut response = client.execute(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut body = Vec::new();
            while let Some(part) = response.chunk().await? {
                if body.len() + part.len() > ANSWER_BYTES_MAX {
                    break;
                }
                body.extend_from_slice(&part);
            }
            let mut answer = Response::builder().status(status).body(Bytes::from(body))?;
            *answer.headers_mut() = headers;
            Ok(answer)
        });
        sent.await?
    }
}
