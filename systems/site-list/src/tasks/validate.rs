//! The validation of a change, the first and the second time.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use wire::{Json, Millis};
use worker::{Failure, Outcome, Task};

use super::{Contacts, Pace};
use crate::action::Action;
use crate::check::{Question, judge};
use crate::found::Found;
use crate::keeper::Keeper;
use crate::list::{Lately, List};
use crate::policy::Policy;
use crate::refused::{Code, Refused};
use crate::rules::{Host, Onions, check_listed, contact_of, normalized};
use crate::sites::{Sites, Trouble};

/// Judges changes by the live sites and the list.
#[derive(Debug)]
pub(crate) struct Validator {
    pub(crate) sites: Sites,
    pub(crate) keeper: Keeper,
    pub(crate) issuers: Vec<String>,
    pub(crate) pace: Pace,
    pub(crate) host_pause: Millis,
    pub(crate) contacts: Contacts,
}

#[derive(Debug, Deserialize)]
struct Payload {
    fqdn: String,
    action: Action,
    #[serde(default)]
    policy: Option<Policy>,
}

#[derive(Debug, Default, Deserialize)]
struct With {
    #[serde(default)]
    second: bool,
}

/// A validation that did not end well.
pub(super) enum Ended {
    Invalid { refused: Refused, contact: Option<String> },
    Failed(Failure),
    NotYet(Duration),
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Ended {
        Ended::Invalid { refused, contact: None }
    }
}

impl From<Trouble> for Ended {
    fn from(trouble: Trouble) -> Ended {
        match trouble {
            Trouble::Refused(refused) => refused.into(),
            Trouble::Passing { code, message } => Ended::Failed(Failure::new(code, message)),
        }
    }
}

impl Validator {
    /// Validates, and answers with all that was found, or why it is refused.
    pub(super) async fn validate(&self, task: &Task) -> Result<Outcome, Failure> {
        let payload: Payload = task.payload()?;
        let With { second } = task.with::<Option<With>>()?.unwrap_or_default();
        match self.find(&payload).await {
            Ok(mut found) => {
                // Only the first time counts: whom a change writes to is settled by then.
                if !second {
                    (found.contact, found.told) = self.tell(found.contact).await?;
                }
                Ok(Outcome::new("ok").output(document(&found)))
            }
            Err(Ended::Invalid { refused: Refused { code, message }, contact }) => {
                let (contact, told) = if second { (contact, None) } else { self.tell(contact).await? };
                let mut invalid = json!({ "code": code.as_str(), "message": message, "contact": contact });
                if let Some(told) = told {
                    invalid["told"] = json!(told);
                }
                Ok(Outcome::new("invalid").output(Json::from_stored(&invalid.to_string())))
            }
            Err(Ended::NotYet(wait)) => Ok(Outcome::snooze(wait)),
            Err(Ended::Failed(failure)) => Err(failure),
        }
    }

    async fn find(&self, payload: &Payload) -> Result<Found, Ended> {
        let host = Host::read(&payload.fqdn, Onions::Refused)?;
        let list = self.keeper.current().await.map_err(|error| Ended::Failed(error.into()))?;
        let mut found = match payload.action {
            Action::ServiceModified => self.emergency(&host, payload, &list)?,
            Action::DomainDeleted => self.gone(&host, &list).await?,
            action => self.live(&host, action, &list).await?,
        };
        found.entry = list.entry(&host).map(|entry| entry.digest(&host));
        Ok(found)
    }

    /// Returns the contact if there is a mail left for it today, on this fleet, and the digest by which that is counted.
    async fn tell(&self, contact: Option<String>) -> Result<(Option<String>, Option<String>), Failure> {
        let Some(contact) = contact else { return Ok((None, None)) };
        let (list, now) = (self.keeper.current().await?, self.keeper.now().await?);
        // What this server has given is not in the feed yet; what others have given is.
        let given = list.lately().told(&contact, now);
        let contact = self.contacts.take(contact, given);
        let told = contact.as_deref().map(Lately::contact);
        Ok((contact, told))
    }

    /// Takes the turn of a host to be visited, on this fleet and on this server.
    pub(super) async fn turn(&self, host: &Host, list: &List) -> Result<(), Ended> {
        let now = self.keeper.now().await.map_err(|error| Ended::Failed(error.into()))?;
        list.lately().may_visit(host, self.host_pause, now).map_err(Ended::NotYet)?;
        self.pace.take(host).map_err(Ended::NotYet)
    }

    /// Judges the live site.
    async fn live(&self, host: &Host, action: Action, list: &List) -> Result<Found, Ended> {
        self.turn(host, list).await?;
        self.sites.names().addresses(host).await?;
        let headers = self.sites.visit(host).await?;
        let question = Question { host, action, issuers: &self.issuers, known: list };
        judge(question, &headers).map_err(|refused| Ended::Invalid { refused, contact: contact_of(&headers) })
    }

    /// Takes the policy that the operator gives in a site's place.
    fn emergency(&self, host: &Host, payload: &Payload, list: &List) -> Result<Found, Ended> {
        let missing = || Refused::new(Code::SignersMissing, "the change names no signers: give a policy");
        let Policy { signers, threshold } = payload.policy.clone().ok_or_else(missing)?;
        let policy = normalized(signers, threshold, &self.issuers)?;
        check_listed(host, Action::ServiceModified, Some(&policy), list.listed(host))?;
        let contact = contact_in(list, host);
        Ok(Found { contact, ..Found::new(Action::ServiceModified, Some(policy)) })
    }

    /// Sees whether a site's domain is gone.
    async fn gone(&self, host: &Host, list: &List) -> Result<Found, Ended> {
        let contact = contact_in(list, host);
        let told = |refused: Refused| Ended::Invalid { refused, contact: contact.clone() };
        check_listed(host, Action::DomainDeleted, None, list.listed(host)).map_err(told)?;
        if self.sites.names().is_registered(host).await? {
            let message = format!("the domain of {host} is registered: it is not gone");
            return Err(told(Refused::new(Code::DnsRegistered, message)));
        }
        Ok(Found { contact, ..Found::new(Action::DomainDeleted, None) })
    }
}

fn contact_in(list: &List, host: &Host) -> Option<String> {
    list.entry(host).and_then(|entry| entry.contact.clone())
}

fn document(found: &Found) -> Json {
    let text = serde_json::to_string(found).expect("texts and numbers can be written");
    Json::from_stored(&text)
}
