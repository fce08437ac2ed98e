//! The way to a server and back.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use worker::Error;

/// The time in which a connection must be made.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// A way to a server: over HTTP, or inside of its own process.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Returns the name of the server, for people: without a user name and a password.
    fn name(&self) -> String;

    /// Sends a request and returns the whole answer, whatever its status.
    async fn send(&self, request: Request) -> Result<Response, Error>;
}

/// A request on its way.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
    /// The time the answer may take.
    pub within: Duration,
    /// The most bytes that an answer can have; a longer one is not read to its end.
    pub bytes_max: usize,
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The way over HTTP.
pub(crate) struct Http {
    http: reqwest::Client,
    base: Url,
    server: String,
}

impl Http {
    pub(crate) fn new(
        base: &Url,
        server: String,
        token: Option<&str>,
        ca_pem: Option<&[u8]>,
    ) -> Result<Http, Error> {
        // Several clients may be made; the first has installed it then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("milepost/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(token)?)
            .connect_timeout(CONNECT_PATIENCE)
            .redirect(reqwest::redirect::Policy::none());
        if base.scheme() == "http" {
            // Without TLS there is no need for the machine's certificates, which small containers do not have.
            builder = builder.tls_certs_only([]);
        }
        if let Some(pem) = ca_pem {
            let certs = reqwest::Certificate::from_pem_bundle(pem).ok().filter(|certs| !certs.is_empty());
            let certs =
                certs.ok_or_else(|| Error::Setup("there is no certificate in the given PEM".to_owned()))?;
            builder = builder.tls_certs_only(certs);
        }
        if is_this_machine(base) {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| Error::Setup(format!("the client cannot start: {}", innermost(&error))))?;
        Ok(Http { http, base: base.clone(), server })
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        let server = self.server.clone();
        if is_other_scheme(error, &self.base) {
            return Error::Scheme { server, talks_tls: self.base.scheme() == "http" };
        }
        Error::Unreachable { server, reason: innermost(error) }
    }
}

#[async_trait]
impl Transport for Http {
    fn name(&self) -> String {
        self.server.clone()
    }

    async fn send(&self, request: Request) -> Result<Response, Error> {
        let Request { method, url, headers, body, within, bytes_max } = request;
        let mut request = self.http.request(method, url).timeout(within).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        let mut response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + part.len() > bytes_max {
                return Err(Error::TooLarge { bytes_max });
            }
            body.extend_from_slice(&part);
        }
        Ok(Response { status, headers, body })
    }
}

impl fmt::Debug for Http {
    /// Leaves out the address, which may have a password in it, and the HTTP client, which has the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Tells whether requests stay on this machine: a proxy has no business with them.
fn is_this_machine(base: &Url) -> bool {
    match base.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

fn headers(token: Option<&str>) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(token) = token {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Error::Setup("the token has characters that no token has".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// Tells whether an answer came that is none because one side talks TLS and the other does not: bytes of HTTP are no record
/// of TLS, and TLS refuses HTTP with a record that is no HTTP.
fn is_other_scheme(error: &reqwest::Error, base: &Url) -> bool {
    let reason = innermost(error);
    match base.scheme() {
        "https" => reason.contains("InvalidContentType"),
        _ => reason == "invalid HTTP version parsed",
    }
}

/// Returns the innermost reason: what the operating system said, without the layers it came through.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
