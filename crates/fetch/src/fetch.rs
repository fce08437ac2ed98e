//! Requests as callers make them.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap, LOCATION};
use hyper::{Method, StatusCode};
use rustls::ClientConfig;

use crate::connect::Connector;
use crate::error::Error;
use crate::exchange::{Answer, Asked, exchange};
use crate::policy::Policy;
use crate::resolve::{Resolve, SystemResolver};
use crate::target::Target;

/// Makes requests by a policy. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Fetch {
    policy: Arc<Policy>,
    connector: Arc<Connector>,
}

/// An answer, as far as it was read.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Whether there was more of the body than is taken in.
    pub is_cut: bool,
}

impl Fetch {
    #[must_use]
    pub fn new(policy: Policy) -> Fetch {
        Fetch::with_resolver(policy, SystemResolver)
    }

    /// With another way from names to addresses.
    #[must_use]
    pub fn with_resolver(policy: Policy, resolver: impl Resolve + 'static) -> Fetch {
        let connector = Connector { resolver: Box::new(resolver), tls: OnceLock::new() };
        Fetch { policy: Arc::new(policy), connector: Arc::new(connector) }
    }

    /// With other roots of trust than the machine's.
    #[must_use]
    pub fn with_tls(policy: Policy, resolver: impl Resolve + 'static, tls: Arc<ClientConfig>) -> Fetch {
        let connector = Connector { resolver: Box::new(resolver), tls: OnceLock::from(Ok(tls)) };
        Fetch { policy: Arc::new(policy), connector: Arc::new(connector) }
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Asks for something and follows redirects, each with the same checks.
    pub async fn get(&self, url: &str, headers: HeaderMap) -> Result<Response, Error> {
        let asked = Asked { method: Method::GET, headers, body: Bytes::new() };
        self.timed(url, asked, self.policy.redirects_max).await
    }

    /// Sends something. A redirect is an answer like any other: a body goes only where it was meant to go.
    pub async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Response, Error> {
        let asked = Asked { method: Method::POST, headers, body: body.into() };
        self.timed(url, asked, 0).await
    }

    async fn timed(&self, url: &str, asked: Asked, redirects_max: usize) -> Result<Response, Error> {
        let all = self.ask(url, asked, redirects_max);
        tokio::time::timeout(self.policy.within, all).await.unwrap_or(Err(Error::Timeout))
    }

    async fn ask(&self, url: &str, mut asked: Asked, redirects_max: usize) -> Result<Response, Error> {
        let mut target = Target::read(url, &self.policy)?;
        let mut followed = 0;
        loop {
            let stream = self.connector.connect(&target, &self.policy).await?;
            let answer = exchange(stream, &target, &asked, &self.policy).await?;
            let Some(location) = redirect(&answer).filter(|_| redirects_max > 0) else {
                let Answer { status, headers, body, is_cut } = answer;
                return Ok(Response { status: status.as_u16(), headers, body, is_cut });
            };
            if followed == redirects_max {
                return Err(Error::Redirects(redirects_max));
            }
            followed += 1;
            let next = target.follow(location, &self.policy)?;
            if !next.is_same_origin(&target) {
                for name in [AUTHORIZATION, COOKIE] {
                    asked.headers.remove(name);
                }
            }
            target = next;
        }
    }
}

fn redirect(answer: &Answer) -> Option<&str> {
    let is_one = matches!(
        answer.status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    answer.headers.get(LOCATION).filter(|_| is_one)?.to_str().ok()
}
