//! Visits: one request to a site's front page, of which only the head is read.

use std::time::Duration;

use fetch::{Error, Fetch, HeaderMap, Limits, Policy, Request};

use super::{Names, Trouble};
use crate::refused::{Code, Refused};
use crate::rules::Host;

/// The time one visit may take, redirects included.
const WITHIN: Duration = Duration::from_secs(10);
const REDIRECTS_MAX: usize = 5;
const HTTPS: u16 = 443;

/// The way to the sites.
#[derive(Debug, Clone)]
pub struct Reach {
    pub names: Names,
    /// The port that sites are asked at. Any other than 443 is for trying things out.
    pub port: u16,
    pub within: Duration,
}

impl Reach {
    #[must_use]
    pub fn new(names: Names) -> Reach {
        Reach { names, port: HTTPS, within: WITHIN }
    }
}

/// The sites of the world, by a guarded way out.
#[derive(Debug, Clone)]
pub struct Sites {
    fetch: Fetch,
    reach: Reach,
}

impl Sites {
    /// Takes roots of trust and allowed networks from a way out, and goes to sites by HTTPS alone.
    #[must_use]
    pub fn new(fetch: &Fetch, reach: Reach) -> Sites {
        let policy = Policy { http: false, ports: vec![HTTPS, reach.port], ..fetch.policy().clone() };
        Sites { fetch: fetch.asking(policy, reach.names.clone()), reach }
    }

    #[must_use]
    pub fn names(&self) -> &Names {
        &self.reach.names
    }

    /// Asks for a site's front page, and returns the headers of the answer.
    pub async fn visit(&self, host: &Host) -> Result<Vec<(String, Vec<u8>)>, Trouble> {
        let origin = match self.reach.port {
            HTTPS => format!("https://{host}"),
            port => format!("https://{host}:{port}"),
        };
        let limits = Limits { within: self.reach.within, idle: self.reach.within, body_bytes_max: u64::MAX };
        let request = Request::get(format!("{origin}/")).following(REDIRECTS_MAX).limits(limits);
        let (head, _body) = self.fetch.send(request).await.map_err(|error| trouble(host, &error))?;
        // Another site's headers are that site's word, not this one's.
        if !head.url.starts_with(&format!("{origin}/")) {
            let message = format!("{host} redirects to another site: its own front page must answer");
            return Err(Refused::new(Code::RedirectElsewhere, message).into());
        }
        match head.status {
            200 => Ok(headers(&head.headers)),
            status @ (429 | 500..) => {
                Err(Trouble::passing(Code::HttpsStatus.as_str(), format!("{host} answers {status}")))
            }
            status => {
                let message = format!("{host} answers {status}: its front page must answer 200");
                Err(Refused::new(Code::HttpsStatus, message).into())
            }
        }
    }
}

fn headers(map: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    map.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

fn trouble(host: &Host, error: &Error) -> Trouble {
    let refused = |code, advice: &str| Trouble::from(Refused::new(code, format!("{host}: {error}{advice}")));
    match error {
        Error::RefusedAddress(_) => refused(Code::AddressNotPublic, ""),
        Error::RefusedScheme(_) => refused(Code::PlainHttp, ": redirect to https only"),
        Error::RefusedPort(_) | Error::InvalidUrl(_) => refused(Code::RedirectElsewhere, ""),
        Error::Redirects(_) => refused(Code::Redirects, ""),
        Error::HeadTooLarge | Error::Garbled => refused(Code::HttpsAnswer, ""),
        Error::Tls { reason, .. } if is_about_the_certificate(reason) => {
            refused(Code::Certificate, ": use one that browsers trust")
        }
        passing => Trouble::passing(passing.code(), format!("{host}: {passing}")),
    }
}

/// Returns whether a secure connection failed for what the site showed. A connection that broke says nothing about it.
fn is_about_the_certificate(reason: &str) -> bool {
    reason.contains("certificate")
}
