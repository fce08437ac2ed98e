//! One way to the server and back for every call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde::de::DeserializeOwned;
use wire::api::Problem;
use wire::{Json, Trace, address};

use crate::call::Call;
use crate::transport::{Http, Request, Response, Transport};
use worker::Error;
use worker::Retries;

/// The time an answer may take, beyond what the call itself waits for.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wish of a server for a pause that is followed.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(5);

/// A client of one server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
    base: Url,
    retries: Retries,
    trace: Option<Trace>,
}

impl Client {
    /// Makes a client of the server at an address such as `http://127.0.0.1:8080`.
    ///
    /// # Errors
    /// When the address is not one of HTTP, or the token cannot be sent in a header.
    pub fn new(base_url: &str, token: Option<String>) -> Result<Client, Error> {
        Client::trusting(base_url, token, None)
    }

    /// Makes a client that trusts only the authorities of this PEM text with a server's certificate, or those of the machine.
    ///
    /// # Errors
    /// Fails as `new` does, and when the text has no certificate.
    pub fn trusting(base_url: &str, token: Option<String>, ca_pem: Option<&[u8]>) -> Result<Client, Error> {
        let base = base(base_url)?;
        let server = address::shown(base.as_str().trim_end_matches('/'));
        let http = Http::new(&base, server, token.as_deref(), ca_pem)?;
        Ok(Client { transport: Arc::new(http), base, retries: Retries::default(), trace: None })
    }

    /// Makes a client that reaches its server by another way, such as inside of its own process.
    ///
    /// # Panics
    /// Never: the base of its addresses is a constant.
    #[must_use]
    pub fn over(transport: Arc<dyn Transport>) -> Client {
        let base = Url::parse("http://inside").expect("this is an address");
        Client { transport, base, retries: Retries::default(), trace: None }
    }

    /// Sets another rule for repeating calls.
    #[must_use]
    pub fn with_retries(mut self, retries: Retries) -> Client {
        self.retries = retries;
        self
    }

    /// Makes calls part of a trace, given as W3C Trace Context has it: submissions keep it, and hand it to their workers.
    ///
    /// # Errors
    /// When `traceparent` is malformed: the server would not listen to it.
    pub fn traced(mut self, traceparent: &str, tracestate: Option<&str>) -> Result<Client, Error> {
        let trace = Trace::read(traceparent, tracestate);
        self.trace = Some(trace.ok_or_else(|| Error::Setup(format!("`{traceparent}` is no traceparent")))?);
        Ok(self)
    }

    /// Returns the server's address, for people: without a user name and a password.
    #[must_use]
    pub fn server(&self) -> String {
        self.transport.name()
    }

    /// Returns the address of a path whose parts may hold any character.
    pub(crate) fn at<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(parts);
        }
        url
    }

    /// Returns the address of what is served beside the API.
    pub(crate) fn outside_v1<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(parts);
        }
        url
    }

    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        self.send(call).await?.json()
    }

    /// Sends, and sends again as long as that is safe and may help.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer, Error> {
        let mut failed = 0;
        loop {
            let Unanswered { error, passing, wish } = match self.once(&call).await {
                Ok(answer) => return Ok(answer),
                Err(unanswered) => unanswered,
            };
            failed += 1;
            if failed > self.retries.times || !call.repeatable || !passing {
                return Err(error);
            }
            let pause = self.retries.pause_after(failed);
            let pause = wish.map_or(pause, |wish| pause.max(wish.min(RETRY_AFTER_MAX)));
            tracing::debug!(%error, ?pause, "trying again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn once(&self, call: &Call) -> Result<Answer, Unanswered> {
        let request = self.request(call).map_err(Unanswered::of)?;
        let Response { status, headers, body } =
            self.transport.send(request).await.map_err(Unanswered::of)?;
        let is_missing = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
        if is_missing && call.may_be_missing {
            return Ok(Answer { body: Vec::new(), is_missing });
        }
        if status.is_success() {
            return Ok(Answer { body, is_missing: false });
        }
        let wish = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let wish = wish.map(Duration::from_secs);
        Err(Unanswered { error: refusal(status, &body), passing: is_passing(status), wish })
    }

    fn request(&self, call: &Call) -> Result<Request, Error> {
        let mut headers = call.headers.clone();
        if let Some(trace) = &self.trace {
            let state = trace.state.iter().map(|state| ("tracestate", &**state));
            for (name, value) in [("traceparent", &*trace.parent)].into_iter().chain(state) {
                let value = HeaderValue::from_str(value)
                    .map_err(|_| Error::Setup(format!("`{name}` has characters that no header may have")))?;
                headers.insert(name, value);
            }
        }
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(Request {
            method: call.method.clone(),
            url: call.url.clone(),
            headers,
            body: call.body.clone(),
            within: call.waits + PATIENCE,
            bytes_max: call.bytes_max,
        })
    }
}

impl fmt::Debug for Client {
    /// Leaves out the address, which may have a password in it, and the way there, which has the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.server()).finish_non_exhaustive()
    }
}

/// A try that came to nothing.
struct Unanswered {
    error: Error,
    /// The same call may be answered the next time.
    passing: bool,
    /// The pause the server wished for.
    wish: Option<Duration>,
}

impl Unanswered {
    /// Makes one of an error that is no word of the server.
    fn of(error: Error) -> Unanswered {
        Unanswered { passing: matches!(error, Error::Unreachable { .. }), error, wish: None }
    }
}

pub(crate) struct Answer {
    body: Vec<u8>,
    is_missing: bool,
}

impl Answer {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::Protocol(Json::fault_of(&self.body, &error)))
    }

    /// Returns what came, unless the answer was that there is nothing.
    pub(crate) fn found(self) -> Option<Vec<u8>> {
        (!self.is_missing).then_some(self.body)
    }

    /// A JSON document as the server wrote it.
    pub(crate) fn document(&self) -> Result<Json, Error> {
        Json::parse_bytes(&self.body).map_err(|error| Error::Protocol(error.to_string()))
    }

    pub(crate) fn text(self) -> Result<String, Error> {
        String::from_utf8(self.body).map_err(|_| Error::Protocol("a text that is not UTF-8".to_owned()))
    }
}

fn refusal(status: StatusCode, body: &[u8]) -> Error {
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => Error::Problem(Box::new(problem)),
        Err(_) => Error::Protocol(format!("status {status}; is this the address of a Milepost server?")),
    }
}

/// Tells whether a refusal says "later", be it the server's or that of a proxy before it. Others would come again.
fn is_passing(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn base(text: &str) -> Result<Url, Error> {
    let wrong =
        |why: String| Error::Setup(format!("`{}` is no server's address: {why}", address::shown(text)));
    let url =
        Url::parse(text).map_err(|error| wrong(format!("{error}; write it like http://127.0.0.1:8080")))?;
    match url.scheme() {
        "http" | "https" if url.query().is_none() && url.fragment().is_none() => Ok(url),
        "http" | "https" => Err(wrong("leave out what follows the path".to_owned())),
        _ => Err(wrong("it must begin with http:// or https://".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_of_http_are_refused() {
        for bad in ["", "127.0.0.1:8080", "localhost:8080", "ftp://x", "http://", "http://x/?a=b"] {
            assert!(matches!(Client::new(bad, None), Err(Error::Setup(_))), "{bad}");
        }
        assert!(matches!(Client::new("http://x", Some("a\nb".to_owned())), Err(Error::Setup(_))));
    }

    #[test]
    fn paths_are_put_behind_the_address_and_escaped() {
        for base in ["http://127.0.0.1:8080/mile", "http://127.0.0.1:8080/mile/"] {
            let client = Client::new(base, None).expect("the address is good");
            let url = client.at(["pipelines", "a/b?c", "submissions"]);
            assert_eq!(url.as_str(), "http://127.0.0.1:8080/mile/v1/pipelines/a%2Fb%3Fc/submissions");
            assert_eq!(client.server(), "http://127.0.0.1:8080/mile");
        }
    }

    #[test]
    fn tokens_do_not_show() {
        let client =
            Client::new("http://127.0.0.1:8080", Some("hunter2".to_owned())).expect("the address is good");
        assert!(!format!("{client:?}").contains("hunter2"));
    }
}
