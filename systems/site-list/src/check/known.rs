//! The list, as far as whoever checks a site knows it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::action::Action;
use crate::list::List;
use crate::policy::Policy;
use crate::refused::Refused;
use crate::rules::{Host, Listed, Onions};

/// A list to ask about sites.
pub trait Known: Send + Sync {
    fn listed(&self, host: &Host) -> Listed<'_>;
}

impl Known for List {
    fn listed(&self, host: &Host) -> Listed<'_> {
        List::listed(self, host)
    }
}

/// Nothing known: the site is taken to be where the action needs it, and no other is on the list.
#[derive(Debug, Clone, Copy)]
pub struct Unknown<'a> {
    pub host: &'a Host,
    pub action: Action,
}

impl Known for Unknown<'_> {
    fn listed(&self, host: &Host) -> Listed<'_> {
        match host == self.host && self.action != Action::Add {
            true => Listed::Present(None),
            false => Listed::Absent,
        }
    }
}

/// Sites that a file says are enrolled, with their policies where it has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrolled {
    sites: BTreeMap<Host, Option<Policy>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Names(Vec<String>),
    Policies(BTreeMap<String, serde_json::Value>),
}

impl Enrolled {
    /// Reads a file: host names line by line, `#` before remarks; or JSON, an array of host names or an object with the
    /// policy of each.
    ///
    /// # Errors
    /// When the JSON has another shape, or a name is none.
    pub fn read(text: &str) -> Result<Enrolled, String> {
        let named = |name: &str| -> Result<Host, String> {
            Host::read(name, Onions::Reached).map_err(|refused: Refused| refused.message)
        };
        let mut sites = BTreeMap::new();
        if !text.trim_start().starts_with(['[', '{']) {
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            for line in lines.filter(|line| !line.is_empty()) {
                sites.insert(named(line)?, None);
            }
            return Ok(Enrolled { sites });
        }
        match serde_json::from_str(text).map_err(|error| format!("it is no list of sites: {error}"))? {
            File::Names(names) => {
                for name in names {
                    sites.insert(named(&name)?, None);
                }
            }
            File::Policies(policies) => {
                for (name, policy) in policies {
                    let read = Policy::read(&policy.to_string());
                    let policy = read.map_err(|error| format!("the policy of {name}: {error}"))?;
                    sites.insert(named(&name)?, Some(policy));
                }
            }
        }
        Ok(Enrolled { sites })
    }
}

impl Known for Enrolled {
    fn listed(&self, host: &Host) -> Listed<'_> {
        match self.sites.get(host) {
            None => Listed::Absent,
            Some(policy) => Listed::Present(policy.as_ref()),
        }
    }
}
