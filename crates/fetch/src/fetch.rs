//! Requests, from what a caller asks to where it leads.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, COOKIE, HeaderMap, LOCATION, RANGE};
use hyper::http::response::Parts;
use hyper::{Method, StatusCode, body::Incoming};
use rustls::ClientConfig;
use tokio::time::{sleep, timeout};

use crate::body::{Body, Bounds};
use crate::connect::{Connector, InvalidRoots, Tls, trusting};
use crate::driver::Driver;
use crate::error::Error;
use crate::exchange::{Asked, exchange, without_framing};
use crate::policy::Policy;
use crate::range::{Part, number, part_of};
use crate::request::{Limits, Request};
use crate::resolve::{Resolve, SystemResolver};
use crate::target::Target;
use crate::upload::Upload;
use crate::watched::Watched;

/// Makes requests by a policy. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Fetch {
    pub(crate) policy: Arc<Policy>,
    pub(crate) connector: Arc<Connector>,
}

/// The head of an answer: what comes before its body.
#[derive(Debug, Clone)]
pub struct Head {
    pub status: u16,
    /// Values of one name are in the order in which they came.
    pub headers: HeaderMap,
    /// The address that the answer is from, after redirects.
    pub url: String,
    /// The part of the document that the body is. `None`: the body is not a part, also where one was asked for.
    pub part: Option<Part>,
    /// The connection's certificates; `None` over plain HTTP.
    pub tls: Option<Tls>,
}

impl Head {
    /// Returns how large the answer's body is, or would be if it had been asked for: what `HEAD` is for.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        number(self.headers.get(CONTENT_LENGTH)?.to_str().ok()?)
    }
}

/// An answer, as far as it was read.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Set if there was more of the body than is taken in.
    pub is_cut: bool,
}

/// An answer whose body is yet to be read.
struct Answer {
    head: Parts,
    incoming: Incoming,
    driver: Driver,
    target: Target,
    tls: Option<Tls>,
}

impl Fetch {
    #[must_use]
    pub fn new(policy: Policy) -> Fetch {
        Fetch::with_resolver(policy, SystemResolver)
    }

    /// Makes a `Fetch` with another way from names to addresses.
    #[must_use]
    pub fn with_resolver(policy: Policy, resolver: impl Resolve + 'static) -> Fetch {
        let connector = Connector { resolver: Arc::new(resolver), tls: OnceLock::new() };
        Fetch { policy: Arc::new(policy), connector: Arc::new(connector) }
    }

    /// Makes a `Fetch` with other roots of trust than the machine's.
    #[must_use]
    pub fn with_tls(policy: Policy, resolver: impl Resolve + 'static, tls: Arc<ClientConfig>) -> Fetch {
        let connector = Connector { resolver: Arc::new(resolver), tls: OnceLock::from(Ok(tls)) };
        Fetch { policy: Arc::new(policy), connector: Arc::new(connector) }
    }

    /// Trusts the certificates of this PEM text instead of those that the machine trusts.
    pub fn with_roots(self, roots: &[u8]) -> Result<Fetch, InvalidRoots> {
        let tls = OnceLock::from(Ok(trusting(roots)?));
        let resolver = self.connector.resolver.clone();
        Ok(Fetch { policy: self.policy, connector: Arc::new(Connector { resolver, tls }) })
    }

    /// Goes by another policy, with the same names and the same roots of trust.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Fetch {
        Fetch { policy: Arc::new(policy), ..self }
    }

    /// Makes a `Fetch` that trusts the same roots, and goes by another policy and another way from names to addresses.
    #[must_use]
    pub fn asking(&self, policy: Policy, resolver: impl Resolve + 'static) -> Fetch {
        let connector = Connector { resolver: Arc::new(resolver), tls: self.connector.tls.clone() };
        Fetch { policy: Arc::new(policy), connector: Arc::new(connector) }
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Asks for something and follows redirects, each with the same checks.
    pub async fn get(&self, url: &str, headers: HeaderMap) -> Result<Response, Error> {
        self.whole(Request::get(url).headers(headers).following(self.policy.redirects_max)).await
    }

    /// Sends something. A redirect is an answer like any other: a body goes only where it was meant to go.
    pub async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Response, Error> {
        self.whole(Request::post(url, body.into()).headers(headers)).await
    }

    /// Makes a request, and returns as soon as its answer's head has come.
    pub async fn send(&self, request: Request) -> Result<(Head, Body), Error> {
        let limits = request.limits.unwrap_or_else(|| Limits::of(&self.policy));
        let (method, span) = (request.method.clone(), request.span);
        let mut deadline = Box::pin(sleep(limits.within));
        let answer = tokio::select! {
            biased;
            answer = self.ask(request, limits) => answer?,
            () = &mut deadline => return Err(Error::Timeout),
        };
        let Answer { head, incoming, driver, target, tls } = answer;
        let part = part_of(span, head.status, &head.headers)?;
        let promised = part.filter(|_| method != Method::HEAD).map(|part| part.bytes());
        let bounds = Bounds { deadline, bytes_max: limits.body_bytes_max, promised };
        let body = Body::new(incoming, driver, bounds)?;
        let (status, url) = (head.status.as_u16(), target.url());
        Ok((Head { status, headers: head.headers, url, part, tls }, body))
    }

    /// Reads an answer into memory, and cuts what is over.
    async fn whole(&self, request: Request) -> Result<Response, Error> {
        let limits = Limits { body_bytes_max: u64::MAX, ..Limits::of(&self.policy) };
        let (head, mut body) = self.send(request.limits(limits)).await?;
        let mut read = Vec::new();
        let reading = body.read_into(&mut read, self.policy.body_bytes_max);
        let is_cut = match self.policy.body_within {
            None => reading.await?,
            Some(within) => !matches!(timeout(within, reading).await, Ok(Ok(false))),
        };
        Ok(Response { status: head.status, headers: head.headers, body: read, is_cut })
    }

    async fn ask(&self, request: Request, limits: Limits) -> Result<Answer, Error> {
        let mut target = Target::read(&request.url, &self.policy)?;
        let mut headers = without_framing(request.headers);
        if let Some(span) = request.span {
            headers.insert(RANGE, span.header()?);
        }
        let follows = matches!(request.method, Method::GET | Method::HEAD);
        let redirects_max = if follows { request.redirects_max } else { 0 };
        let (mut followed, mut upload) = (0, request.upload);
        loop {
            let asked = Asked { method: request.method.clone(), headers: headers.clone(), upload };
            let answer = self.once(target, asked, limits).await?;
            let Some(location) = location(&answer.head).filter(|_| redirects_max > 0) else {
                return Ok(answer);
            };
            if followed == redirects_max {
                return Err(Error::Redirects(redirects_max));
            }
            followed += 1;
            let next = answer.target.follow(location, &self.policy)?;
            if !next.is_same_origin(&answer.target) {
                headers = without_credentials(headers);
            }
            (target, upload) = (next, Upload::empty());
        }
    }

    async fn once(&self, target: Target, asked: Asked, limits: Limits) -> Result<Answer, Error> {
        let stream = self.connector.reach(&target, &self.policy, limits.idle).await?;
        let (stream, tls) = self.connector.secure(&target, stream, limits.idle).await?;
        let stream = Watched::new(stream, limits.idle);
        let (head, incoming, driver) = exchange(stream, &target, asked, &self.policy).await?;
        Ok(Answer { head, incoming, driver, target, tls })
    }
}

fn location(head: &Parts) -> Option<&str> {
    let is_redirect = matches!(
        head.status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    head.headers.get(LOCATION).filter(|_| is_redirect)?.to_str().ok()
}

fn without_credentials(headers: HeaderMap) -> HeaderMap {
    let mut name = None;
    let mut kept = HeaderMap::new();
    for (next, value) in headers {
        name = next.or(name);
        let Some(name) = &name else { continue };
        if *name != AUTHORIZATION && *name != COOKIE && !value.is_sensitive() {
            kept.append(name.clone(), value);
        }
    }
    kept
}
