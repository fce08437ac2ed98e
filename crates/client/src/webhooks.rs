//! Proof that a webhook comes from whom it says: the signatures of the Standard Webhooks specification.
//!
//! ```no_run
//! # fn receive(headers: &client::webhooks::HeaderMap, body: &[u8], now: std::time::SystemTime) -> Result<(), client::webhooks::Unverified> {
//! use client::webhooks::Verifier;
//!
//! let verifier = Verifier::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])?;
//! let verified = verifier.verify(headers, body, now)?;
//! println!("the delivery {} is good", verified.id); // the same for every try of it: remember it to take each once
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::time::{Duration, SystemTime};

pub use reqwest::header::HeaderMap;
use wire::webhook::{ID_HEADER, Key, SIGNATURE_HEADER, Signed, TIMESTAMP_HEADER};

const TOLERANCE: Duration = Duration::from_secs(5 * 60);
/// More digits than any second until the year 30000 has.
const TIMESTAMP_DIGITS_MAX: usize = 12;

/// The reason why a webhook cannot be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    #[error("the webhook has no header {0}")]
    MissingHeader(&'static str),
    #[error("the webhook's timestamp is no number of seconds")]
    InvalidTimestamp,
    #[error("the webhook was signed too long ago; it may be a replay")]
    TooOld,
    #[error("the webhook was signed in the future; check the clocks")]
    TooNew,
    #[error("no signature of the webhook was made with a known secret")]
    NoMatch,
    #[error("there is no secret to check signatures with: one is `whsec_` and base64")]
    InvalidSecret,
}

impl Unverified {
    /// Stable, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Unverified::MissingHeader(_) => "missing-header",
            Unverified::InvalidTimestamp => "invalid-timestamp",
            Unverified::TooOld => "too-old",
            Unverified::TooNew => "too-new",
            Unverified::NoMatch => "no-match",
            Unverified::InvalidSecret => "invalid-secret",
        }
    }
}

/// A webhook that is to be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The same for every try of one delivery.
    pub id: String,
    /// The time of sending, in seconds since 1970.
    pub timestamp: u64,
}

/// Checks signatures with the secrets that may be in use.
#[derive(Clone)]
pub struct Verifier {
    keys: Vec<Key>,
    tolerance: Duration,
}

impl Verifier {
    /// Any one of the secrets may have signed.
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Verifier, Unverified> {
        let keys = secrets.into_iter().map(|secret| key(secret.as_ref())).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            Err(Unverified::InvalidSecret)
        } else {
            Ok(Verifier { keys, tolerance: TOLERANCE })
        }
    }

    /// Sets how long ago or ahead a webhook may have been signed; five minutes unless told.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Verifier {
        self.tolerance = tolerance;
        self
    }

    /// Checks a body, which must be the bytes as they came.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Result<Verified, Unverified> {
        let id = header(headers, ID_HEADER)?;
        let sent = header(headers, TIMESTAMP_HEADER)?;
        let signatures = header(headers, SIGNATURE_HEADER)?;
        let timestamp = self.timestamp(sent, now)?;
        let signed = Signed { id, timestamp: sent, body };
        let mut matches = false;
        for signature in signatures.split(' ') {
            for key in &self.keys {
                // Every pair is compared, each in constant time: how long it takes says nothing about the secrets.
                matches |= key.has_signed(signed, signature);
            }
        }
        if matches { Ok(Verified { id: id.to_owned(), timestamp }) } else { Err(Unverified::NoMatch) }
    }

    fn timestamp(&self, text: &str, now: SystemTime) -> Result<u64, Unverified> {
        if text.len() > TIMESTAMP_DIGITS_MAX || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Unverified::InvalidTimestamp);
        }
        let timestamp = text.parse().map_err(|_| Unverified::InvalidTimestamp)?;
        let sent = SystemTime::UNIX_EPOCH + Duration::from_secs(timestamp);
        match (now.duration_since(sent), sent.duration_since(now)) {
            (Ok(age), _) if age > self.tolerance => Err(Unverified::TooOld),
            (_, Ok(ahead)) if ahead > self.tolerance => Err(Unverified::TooNew),
            _ => Ok(timestamp),
        }
    }
}

/// Leaves out the keys.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("secrets", &self.keys.len())
            .field("tolerance", &self.tolerance)
            .finish_non_exhaustive()
    }
}

/// Checks one webhook, with a tolerance of five minutes.
pub fn verify(
    headers: &HeaderMap,
    body: &[u8],
    secrets: &[impl AsRef<str>],
    now: SystemTime,
) -> Result<Verified, Unverified> {
    Verifier::new(secrets)?.verify(headers, body, now)
}

fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Unverified> {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.filter(|value| !value.is_empty()).ok_or(Unverified::MissingHeader(name))
}

fn key(secret: &str) -> Result<Key, Unverified> {
    Key::read(secret).ok_or(Unverified::InvalidSecret)
}
