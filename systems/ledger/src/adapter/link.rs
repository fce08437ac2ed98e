//! The way to one ledger: an address, credentials, and what is trusted.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch::header::{AUTHORIZATION, CONTENT_TYPE};
use fetch::{Fetch, HeaderMap, HeaderName, HeaderValue, Policy};
use serde_json::Value;
use system::Fault;

use super::Trouble;
use crate::settings::LedgerSettings;

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// The time for connecting to one address.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The most characters of an answer's body that a message repeats.
const SAID_MAX: usize = 300;

/// A way to a ledger. Address and credentials are read for each request, so that new ones are taken up without a restart.
#[derive(Clone)]
pub(crate) struct Link {
    fetch: Fetch,
    settings: Arc<LedgerSettings>,
}

/// An answer that came whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Link {
    /// Makes the way to a ledger, beside the guarded way out of a deployment: the ledger's own port and networks are
    /// allowed, and no redirect is followed.
    pub(crate) fn new(fetch: &Fetch, settings: &LedgerSettings) -> Result<Link, Fault> {
        let settings = Arc::new(settings.clone());
        let url = url(&settings)?;
        let mut policy = Policy {
            within: settings.timeout.into(),
            connect_within: CONNECT_WITHIN.min(settings.timeout.into()),
            body_bytes_max: ANSWER_BYTES_MAX,
            redirects_max: 0,
            ..fetch.policy().clone()
        };
        policy.ports.extend(port(&url));
        for network in &settings.allow_address {
            let network = network.parse();
            policy.allowed.push(
                network.map_err(|error: fetch::InvalidNetwork| {
                    Fault::new(format!("`allow-address`: {error}"))
                })?,
            );
        }
        policy.check(&url).map_err(|error| Fault::new(format!("`url`: {error}")))?;
        let mut fetch = fetch.clone().with_policy(policy);
        if let Some(file) = &settings.ca_file {
            let pem = system::secret("ca-file", file)?;
            fetch = fetch
                .with_roots(pem.as_bytes())
                .map_err(|error| Fault::new(format!("`ca-file`: {error}")))?;
        }
        let link = Link { fetch, settings };
        link.headers(None)?;
        Ok(link)
    }

    pub(crate) async fn get(&self, path: &str, extra: Option<Extra>) -> Result<Answer, Trouble> {
        let (url, headers) = self.prepared(path, extra)?;
        whole(self.fetch.get(&url, headers).await)
    }

    /// Posts a document under its content type.
    pub(crate) async fn post(
        &self,
        path: &str,
        (content_type, body): (&'static str, Vec<u8>),
        extra: Option<Extra>,
    ) -> Result<Answer, Trouble> {
        let (url, mut headers) = self.prepared(path, extra)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        whole(self.fetch.post(&url, headers, body).await)
    }

    fn prepared(&self, path: &str, extra: Option<Extra>) -> Result<(String, HeaderMap), Trouble> {
        let unset = |fault: Fault| Trouble::new("settings", fault.message);
        let url = url(&self.settings).map_err(unset)?;
        Ok((format!("{}{path}", url.trim_end_matches('/')), self.headers(extra).map_err(unset)?))
    }

    /// Returns the headers of a request, its credentials among them.
    fn headers(&self, extra: Option<Extra>) -> Result<HeaderMap, Fault> {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = extra {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let LedgerSettings { token_file, user, password_file, .. } = &*self.settings;
        let credentials = match (token_file, user, password_file) {
            (Some(file), _, _) => format!("Bearer {}", system::secret("token-file", file)?),
            (None, Some(user), Some(file)) => {
                let password = system::secret("password-file", file)?;
                format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
            }
            _ => return Ok(headers),
        };
        let mut value = HeaderValue::from_str(&credentials)
            .map_err(|_| Fault::new("the credentials have characters that no header can have"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        Ok(headers)
    }
}

/// A header of one language.
pub(crate) type Extra = (&'static str, &'static str);

impl Answer {
    /// Reads the body as JSON.
    pub(crate) fn json(&self) -> Result<Value, Trouble> {
        serde_json::from_slice(&self.body).map_err(|error| Trouble::garbled(&error.to_string()))
    }

    /// Returns the trouble that a status means which is not the one hoped for, with what the ledger said.
    pub(crate) fn trouble(&self) -> Trouble {
        let said = String::from_utf8_lossy(&self.body);
        let said: String = said.chars().filter(|c| !c.is_control()).take(SAID_MAX).collect();
        let message = match said.trim() {
            "" => format!("the ledger answered {}", self.status),
            said => format!("the ledger answered {}: {said}", self.status),
        };
        Trouble { is_busy: self.status == 503, ..Trouble::new(format!("http-{}", self.status), message) }
    }
}

fn url(settings: &LedgerSettings) -> Result<String, Fault> {
    match (&settings.url, &settings.url_file) {
        (Some(url), _) => Ok(url.clone()),
        (None, Some(file)) => system::secret("url-file", file),
        (None, None) => Err(Fault::new("it has neither `url` nor `url-file`")),
    }
}

/// Returns the port that an address names.
fn port(url: &str) -> Option<u16> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once(':')?.1.parse().ok()
}

fn whole(answer: Result<fetch::Response, fetch::Error>) -> Result<Answer, Trouble> {
    let response = answer.map_err(|error| Trouble {
        is_busy: error == fetch::Error::Timeout,
        ..Trouble::new(error.code(), error.to_string())
    })?;
    match response.is_cut {
        true => Err(Trouble::new("too-large", format!("the answer has over {ANSWER_BYTES_MAX} bytes"))),
        false => Ok(Answer { status: response.status, body: response.body }),
    }
}

/// Leaves out the settings, whose address may be a secret.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("ledger", &self.settings.name).finish_non_exhaustive()
    }
}
