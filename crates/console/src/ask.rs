//! Requests of pages, as the server hands them over.

use std::collections::BTreeMap;

use app::App;
use bytes::Bytes;
use http::{HeaderMap, Uri, header};
use wire::{Code, Refusal, SubmissionId};

use crate::fields::Fields;
use crate::look::{Eye, Look};

/// A request, whoever it is from.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The named parts of the address.
    pub parts: BTreeMap<String, String>,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Set if a form was sent: its address is none to come back to.
    pub is_form: bool,
    /// Set if the connection is encrypted, so that cookies may be kept to such.
    pub secure: bool,
    /// The address of the server as people reach it, where the settings say so.
    pub base: Option<String>,
}

impl Ask {
    /// Returns a named part of the address. One that the path does not name is empty.
    #[must_use]
    pub fn part(&self, name: &str) -> &str {
        self.parts.get(name).map_or("", String::as_str)
    }

    /// Returns the fields of the address.
    #[must_use]
    pub fn query(&self) -> Fields {
        Fields::read(self.uri.query().unwrap_or_default().as_bytes())
    }

    /// Returns the fields of the form that was sent.
    #[must_use]
    pub fn form(&self) -> Fields {
        Fields::read(&self.body)
    }

    /// Returns how this reader likes pages to look.
    #[must_use]
    pub fn look(&self) -> Look {
        Look::of(&self.headers)
    }

    /// Returns the address as its reader wrote it, to come back to.
    pub(crate) fn here(&self) -> String {
        self.uri.path_and_query().map_or_else(|| "/console".to_owned(), ToString::to_string)
    }

    /// Tells whether a part of a page that is open already is asked for.
    pub(crate) fn is_part(&self) -> bool {
        self.header("hx-request") == Some("true")
    }

    /// Returns the address of the server: that of the settings, else the one its reader knows it by.
    pub(crate) fn server(&self) -> String {
        if let Some(base) = &self.base {
            return base.clone();
        }
        let host = self.headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}", host.unwrap_or("127.0.0.1:8080"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A request of somebody who was let in.
#[derive(Debug, Clone)]
pub struct Visit {
    pub app: App,
    pub ask: Ask,
    /// The pages that systems have: title and address.
    pub pages: Vec<(String, String)>,
    /// The systems that run here, each with its pipelines.
    pub systems: Vec<(String, Vec<String>)>,
}

impl Visit {
    /// Returns what times are told by.
    pub(crate) fn eye(&self) -> Eye {
        Eye { now: self.app.clock().now, zone: self.ask.look().zone() }
    }

    /// Reads the submission's id in the address.
    pub(crate) fn id(&self) -> Result<SubmissionId, Refusal> {
        let text = self.ask.part("id");
        let unknown =
            |_| Refusal::new(Code::UnknownSubmission, format!("no submission {}", app::quote(text)));
        text.parse().map_err(unknown)
    }

    /// Returns the number of entries that a list shows, and the entry it goes on behind.
    pub(crate) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>, Refusal> {
        let query = self.ask.query();
        let Some(text) = query.get("after") else { return Ok(None) };
        let read = text.parse().map(Some);
        read.map_err(|_| {
            app::invalid(format!("`after` cannot be {}: take the link of the page before", app::quote(text)))
        })
    }
}
