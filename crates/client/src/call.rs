//! A call to the server, and whether it may be sent again.

use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::Serialize;

use worker::Error;

/// One call, ready to be sent as often as needed.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) repeatable: bool,
    pub(crate) waits: Duration,
    /// A longer answer is not read to its end.
    pub(crate) bytes_max: usize,
    /// Set if "there is none" is an answer.
    pub(crate) may_be_missing: bool,
}

impl Call {
    /// A read: always safe to repeat.
    pub(crate) fn get(url: Url) -> Call {
        Call {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            repeatable: true,
            waits: Duration::ZERO,
            bytes_max: usize::MAX,
            may_be_missing: false,
        }
    }

    pub(crate) fn post<T: Serialize>(url: Url, body: &T) -> Result<Call, Error> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::Setup(format!("cannot be sent as JSON: {error}")))?;
        Ok(Call { method: Method::POST, body: Some(body), repeatable: false, ..Call::get(url) })
    }

    pub(crate) fn put<T: Serialize>(url: Url, body: &T) -> Result<Call, Error> {
        Ok(Call { method: Method::PUT, ..Call::post(url, body)? })
    }

    /// A removal, not repeated: a second one would not find what the first removed.
    pub(crate) fn delete(url: Url) -> Call {
        Call { method: Method::DELETE, repeatable: false, ..Call::get(url) }
    }

    /// Says that the server takes an exact repeat as what it is.
    pub(crate) fn repeatable(mut self) -> Call {
        self.repeatable = true;
        self
    }

    /// Makes the call repeatable if there is a key.
    pub(crate) fn idempotent(self, key: Option<&str>) -> Result<Call, Error> {
        match key {
            None => Ok(self),
            Some(key) => Ok(self.header(HeaderName::from_static("idempotency-key"), key)?.repeatable()),
        }
    }

    pub(crate) fn accepting(self, media_type: &str) -> Result<Call, Error> {
        self.header(ACCEPT, media_type)
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Result<Call, Error> {
        let value = HeaderValue::from_str(value)
            .map_err(|_| Error::Setup(format!("`{name}` has characters that no header may have")))?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets how long the server may wait before it answers.
    pub(crate) fn waiting(mut self, waits: Duration) -> Call {
        self.waits = waits;
        self
    }

    /// Limits the length of the answer, for servers one has no reason to trust.
    pub(crate) fn at_most(mut self, bytes_max: usize) -> Call {
        self.bytes_max = bytes_max;
        self
    }

    pub(crate) fn may_be_missing(mut self) -> Call {
        self.may_be_missing = true;
        self
    }
}
