//! The results of daily looks at the enrolled sites, as the pipeline keeps them.

use std::collections::BTreeMap;

use client::{Client, Filter, Page};
use serde::{Deserialize, Serialize};
use wire::api::SubmissionView;
use wire::{Status, Time};
use worker::Error;

use crate::rules::Host;

/// The pipeline of the looks.
pub(crate) const CHECKS: &str = "site-list-check";
/// The state whose outputs are the results.
pub(crate) const CHECKING: &str = "CHECKING";
/// The findings that are kept. Where there are more, something else is wrong.
const FINDINGS_MAX: usize = 100;
/// The domains that are followed. Where more are gone at once, a name server is.
const GONE_MAX: usize = 1_000;
const MESSAGE_MAX: usize = 500;

/// The result of a look so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checked {
    pub(crate) checked: u64,
    pub(crate) found: u64,
    pub(crate) findings: Vec<Finding>,
    /// The sites whose domain is not registered, and the look at which that was first so.
    pub(crate) gone: BTreeMap<Host, Time>,
    /// The same, as the look before left it.
    #[serde(default)]
    pub(crate) before: BTreeMap<Host, Time>,
    /// The last site that was looked at; none at the end.
    #[serde(default)]
    pub(crate) after: Option<Host>,
}

/// A site that should be looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    pub(crate) host: Host,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Checked {
    /// Reads the last look that came to its end.
    pub(crate) async fn last(client: &Client) -> Result<Option<(SubmissionView, Checked)>, Error> {
        let filter = Filter {
            pipeline: Some(CHECKS.to_owned()),
            status: Some(Status::Succeeded),
            ..Filter::default()
        };
        let page = Page { limit: Some(1), ..Page::default() };
        let Some(found) = client.submissions(&filter, &page).await?.submissions.pop() else {
            return Ok(None);
        };
        let view = client.submission(found.id).await?;
        let output = view.outputs.as_ref().and_then(|outputs| outputs.get(CHECKING));
        let checked = output.and_then(|output| serde_json::from_str(output.as_str()).ok());
        Ok(checked.map(|checked| (view, checked)))
    }

    pub(crate) fn note(&mut self, host: &Host, code: &str, message: &str) {
        self.found += 1;
        if self.findings.len() < FINDINGS_MAX {
            let message = message.chars().take(MESSAGE_MAX).collect();
            self.findings.push(Finding { host: host.clone(), code: code.to_owned(), message });
        }
    }

    /// Notes that a domain is gone, and returns since when that has been so at every look.
    pub(crate) fn note_gone(&mut self, host: &Host, now: Time) -> Time {
        let since = self.before.get(host).copied().unwrap_or(now);
        if self.gone.len() < GONE_MAX {
            self.gone.insert(host.clone(), since);
        }
        since
    }
}
