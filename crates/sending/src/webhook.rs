//! Webhooks by the Standard Webhooks specification.

use engine::{Engine, Posting};
use fetch::{Fetch, HeaderMap, HeaderName, HeaderValue, header};
use model::{Json, Time};
use serde_json::json;
use wire::webhook::{ID_HEADER, Key, SIGNATURE_HEADER, Signed, TIMESTAMP_HEADER};
use worker::{Failure, Outcome};

use crate::lines::Lines;
use crate::message::Message;
use crate::places::Way;
use crate::tame::tame;

const GONE: u16 = 410;
/// The characters kept of what an endpoint says besides its status.
const SNIPPET_CHARS_MAX: usize = 120;
/// The characters kept of an error that names what went wrong on the way.
const ERROR_CHARS_MAX: usize = 300;
const USER_AGENT: &str = concat!("milepost/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone)]
pub(crate) struct Webhooks {
    pub(crate) engine: Engine,
    pub(crate) fetch: Fetch,
    pub(crate) lines: Lines,
}

impl Webhooks {
    pub(crate) async fn send(&self, payload: &Json) -> Result<Outcome, Failure> {
        let message = Message::read(payload)?;
        let url = fetch::normalized(&message.to).map_err(|error| failed(&error))?;
        let host = fetch::host_of(&url).map_err(|error| failed(&error))?;
        let way = Way { host, submitter: message.submitter(&self.engine).await };
        let _place = match self.lines.enter(&way).await {
            Ok(place) => place,
            Err(turn) => return Ok(Outcome::snooze(turn)),
        };
        let posting = self.engine.posting_to(&url).await;
        let posting = posting.map_err(|refusal| Failure::new(refusal.code.as_str(), refusal.message))?;
        if posting.disabled.is_some() {
            return Ok(Outcome::new("gone").output(json!({ "status": GONE, "endpoint": "disabled" })));
        }
        let headers = headers(&message, &posting, self.engine.now())?;
        let answered = self.fetch.post(&url, headers, message.body.get().to_owned()).await;
        let response = answered.map_err(|error| failed(&error))?;
        match response.status {
            status @ 200..=299 => Ok(Outcome::new("sent").output(json!({ "status": status }))),
            GONE => {
                self.disable(&url).await;
                Ok(Outcome::new("gone").output(json!({ "status": GONE })))
            }
            status => Err(refused(status, &response.body)),
        }
    }

    /// This message is settled whether or not the endpoint could be marked: the next one will be told the same.
    async fn disable(&self, url: &str) {
        if let Err(refusal) = self.engine.disable_endpoint(url, format!("it answered {GONE}")).await {
            tracing::warn!(
                code = refusal.code.as_str(),
                "cannot disable an endpoint that is gone: {refusal}"
            );
        }
    }
}

pub(crate) fn failed(error: &fetch::Error) -> Failure {
    // The reason may repeat what the other side said, such as the names in its certificate.
    let said = tame(&error.to_string(), ERROR_CHARS_MAX);
    let message = match error {
        fetch::Error::RefusedPort(port) => {
            format!("{said}; the operator allows it with `milepost serve --allow-port {port}`")
        }
        fetch::Error::RefusedAddress(address) => {
            let bits = if address.contains(':') { 128 } else { 32 };
            format!("{said}; the operator allows it with `milepost serve --allow-address {address}/{bits}`")
        }
        _ => said,
    };
    let failure = Failure::new(error.code(), message);
    if error.is_passing() { failure } else { failure.permanent() }
}

pub(crate) fn refused(status: u16, body: &[u8]) -> Failure {
    let said = tame(&String::from_utf8_lossy(body), SNIPPET_CHARS_MAX);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    Failure::new(format!("http-{status}"), format!("the endpoint answered {status}{said}"))
}

fn headers(message: &Message<'_>, posting: &Posting, now: Time) -> Result<HeaderMap, Failure> {
    let id = format!("msg_{}", message.id());
    let timestamp = (now.millis() / 1_000).to_string();
    let signed = Signed { id: &id, timestamp: &timestamp, body: message.body.get().as_bytes() };
    let keys: Vec<Key> = posting.secrets.iter().filter_map(|secret| Key::read(&secret.0)).collect();
    if keys.is_empty() {
        return Err(
            Failure::new("no-secret", "the endpoint has no secret to sign with; rotate it").permanent()
        );
    }
    Ok(signed_by(&keys, signed))
}

/// Returns the headers of a signed body of JSON: what is signed, and a signature by each key.
pub(crate) fn signed_by(keys: &[Key], signed: Signed<'_>) -> HeaderMap {
    let signatures: Vec<String> = keys.iter().map(|key| key.sign(signed)).collect();
    let (id, timestamp) = (signed.id.to_owned(), signed.timestamp.to_owned());
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    for (name, value) in
        [(ID_HEADER, id), (TIMESTAMP_HEADER, timestamp), (SIGNATURE_HEADER, signatures.join(" "))]
    {
        let value = HeaderValue::try_from(value).expect("digits and base64 are a header value");
        headers.insert(HeaderName::from_static(name), value);
    }
    headers
}
