//! The daily look at the enrolled sites, a part of them at a time.

use std::ops::Bound;
use std::sync::Arc;

use client::Client;
use serde_json::json;
use tokio::task::JoinSet;
use wire::api::SubmitBody;
use wire::submission::Progress;
use wire::{Json, Millis, Time};
use worker::{Failure, Outcome, Task};

use super::Validator;
use super::validate::Ended;
use crate::PIPELINE;
use crate::action::Action;
use crate::check::check_enrolled;
use crate::checks::{CHECKING, Checked};
use crate::list::{Entry, List};
use crate::refused::Refused;
use crate::rules::Host;
use crate::sites::Trouble;

/// The sites of one part: what a crash makes be looked at again.
const PART: usize = 200;
/// The sites that are looked at at a time.
const AT_A_TIME: usize = 16;

/// Looks at the sites of the list.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) validator: Arc<Validator>,
    pub(crate) client: Client,
    /// The time for which a domain has to be gone before it is reported.
    pub(crate) gone_for: Millis,
}

/// A site as it was found.
enum Seen {
    AsListed,
    Otherwise {
        code: String,
        message: String,
    },
    /// The zone above the domain does not know it.
    Gone,
}

impl Checker {
    /// Looks at the next part of the sites.
    pub(super) async fn check(&self, task: &Task) -> Result<Outcome, Failure> {
        let list = self.validator.keeper.current().await?;
        let now = self.client.submission(task.submission).await?.created_at;
        let mut so_far = match task.output_of::<Checked>(CHECKING)? {
            Some(so_far) => so_far,
            None => Checked { before: self.before().await?, ..Checked::default() },
        };
        let after = so_far.after.take();
        let start = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let part: Vec<(Host, Entry)> =
            list.entries_after(start).take(PART).map(|(host, entry)| (host.clone(), entry.clone())).collect();
        let last = part.last().map(|(host, _)| host.clone());
        let is_more = part.len() == PART;
        for (host, seen) in self.look(part, &list, task).await {
            so_far.checked += 1;
            match seen {
                Seen::AsListed => {}
                Seen::Otherwise { code, message } => so_far.note(&host, &code, &message),
                Seen::Gone => {
                    let since = so_far.note_gone(&host, now);
                    so_far.note(
                        &host,
                        "domain-gone",
                        &format!("its domain has not been registered since {since}"),
                    );
                    if now.since(since) >= self.gone_for && !list.is_marked(&host) {
                        self.report(&host, since).await?;
                    }
                }
            }
        }
        so_far.after = last.filter(|_| is_more);
        if !is_more {
            so_far.before.clear();
        }
        let output = serde_json::to_string(&so_far)?;
        let outcome = Outcome::new(if is_more { "more" } else { "done" });
        Ok(outcome.output(Json::from_stored(&output)))
    }

    async fn before(&self) -> Result<std::collections::BTreeMap<Host, Time>, Failure> {
        Ok(Checked::last(&self.client).await?.map(|(_, checked)| checked.gone).unwrap_or_default())
    }

    /// Looks at sites, a few at a time, and returns what was found in their order.
    async fn look(&self, part: Vec<(Host, Entry)>, list: &Arc<List>, task: &Task) -> Vec<(Host, Seen)> {
        let total = part.len() as u64;
        let mut running = JoinSet::new();
        let mut found = Vec::new();
        for (host, entry) in part {
            while running.len() >= AT_A_TIME {
                found.extend(running.join_next().await.and_then(Result::ok));
                task.report(Progress { done: found.len() as u64, total: Some(total), ..Progress::default() });
            }
            let (validator, list) = (self.validator.clone(), list.clone());
            running.spawn(async move {
                let seen = validator.see(&host, &entry, &list).await;
                (host, seen)
            });
        }
        found.extend(running.join_all().await);
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }

    /// Asks for the removal of a site whose domain is gone. Where a change of it is under way, the next look does.
    async fn report(&self, host: &Host, since: Time) -> Result<(), Failure> {
        let payload = json!({ "fqdn": host, "action": Action::DomainDeleted });
        let reason = Some(format!("the domain of {host} has not been registered since {since}"));
        let body = SubmitBody { payload: payload.into(), reason, ..SubmitBody::default() };
        match self.client.submit(PIPELINE, &body, None).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some("duplicate-key") => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Validator {
    /// Sees whether a site is as the list has it.
    async fn see(&self, host: &Host, entry: &Entry, list: &List) -> Seen {
        let otherwise =
            |Refused { code, message }: Refused| Seen::Otherwise { code: code.as_str().to_owned(), message };
        match self.sites.names().is_registered(host).await {
            Ok(false) => return Seen::Gone,
            Ok(true) => {}
            Err(Trouble::Refused(refused)) => return otherwise(refused),
            Err(Trouble::Passing { code, message }) => {
                return Seen::Otherwise { code: code.to_owned(), message };
            }
        }
        match self.turn(host, list).await {
            Ok(()) => {}
            // It was visited a moment ago, for a change of its own.
            Err(Ended::NotYet(_)) => return Seen::AsListed,
            Err(Ended::Invalid { refused, .. }) => return otherwise(refused),
            Err(Ended::Failed(failure)) => {
                return Seen::Otherwise { code: failure.code, message: failure.message };
            }
        }
        let visited = async {
            self.sites.names().addresses(host).await?;
            let headers = self.sites.visit(host).await?;
            Ok(check_enrolled((host, &entry.policy), &headers, (&self.issuers, list))?)
        };
        match visited.await {
            Ok(()) => Seen::AsListed,
            Err(Trouble::Refused(refused)) => otherwise(refused),
            Err(Trouble::Passing { code, message }) => Seen::Otherwise { code: code.to_owned(), message },
        }
    }
}
