//! Several servers over one store: who they are, and which of them does a duty that one is enough for.

use std::collections::BTreeMap;

use model::{Millis, Name, Time};
use serde::{Deserialize, Serialize};
use store::Store;

use super::Output;
use super::commit::Commit;
use crate::registry::{self, Entry, EntryKey};
use crate::shell::Polls;

pub(super) enum Servers {}

impl Entry for Servers {
    const KIND: &'static str = "server";
    type Body = Server;
}

/// The server that does each duty.
pub(super) enum Shifts {}

impl Entry for Shifts {
    const KIND: &'static str = "duty";
    type Body = Shift;
}

/// The time for which a duty stays with a server that says nothing: a dead one's is taken over after this.
const DUTY_LEASE: Millis = Millis::from_secs(10);

/// A server as the others see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    pub id: Name,
    /// The name people call the server.
    #[serde(default)]
    pub name: Name,
    /// The address where the server listens, for people.
    pub address: String,
    pub version: String,
    pub started_at: Time,
    pub seen_at: Time,
    /// The tasks that workers have asked the server for, and when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub polled: BTreeMap<Name, Time>,
    /// The tasks that workers have asked the server for and no pipeline has, who asked, and when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asked_in_vain: BTreeMap<Name, (Name, Time)>,
    /// The time at which the server last found its checkpoint of the audit log to be the newest, or published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Time>,
}

impl Server {
    /// Returns what workers have asked the server for.
    #[must_use]
    pub fn polls(&self) -> Polls {
        Polls { known: self.polled.clone(), unknown: self.asked_in_vain.clone() }
    }
}

/// The server that does a duty, and until when that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shift {
    pub server: Name,
    pub until: Time,
}

pub(super) fn server_key(id: &str) -> EntryKey<Servers> {
    EntryKey::new(id)
}

pub(super) fn duty_key(duty: &str) -> EntryKey<Shifts> {
    EntryKey::new(duty)
}

/// Every server that is registered.
pub fn servers(store: &dyn Store) -> Result<Vec<Server>, store::Error> {
    // One written by a release that says other things about itself is not ours to judge.
    Ok(registry::readable::<Servers>(store)?.into_iter().map(|(_, server)| server).collect())
}

/// Lists which server does which duty.
pub fn shifts(store: &dyn Store) -> Result<Vec<(Name, Shift)>, store::Error> {
    let kept = registry::readable::<Shifts>(store)?.into_iter();
    Ok(kept.map(|(name, shift)| (name.into(), shift)).collect())
}

impl Commit<'_> {
    /// A server says that it is there, and which of the others have not said so for long.
    pub(super) fn present(&mut self, server: &Server, gone: &[Name]) -> Output {
        let key = server_key(&server.id);
        let started_at = self.readable(&key).map_or(self.now, |known| known.started_at);
        let server = Server { started_at, seen_at: self.now, ..server.clone() };
        self.put(&key, &server);
        gone.iter().for_each(|id| self.remove(&server_key(id)));
        Output::Gone
    }

    /// Takes a duty or keeps it, unless another server has it. Says who has it now.
    pub(super) fn take_duty(&mut self, duty: &Name, server: &Name) -> Output {
        let stands = self.readable(&duty_key(duty));
        if let Some(other) = stands.filter(|shift| shift.server != *server && shift.until > self.now) {
            return Output::Shift(other);
        }
        let shift = Shift { server: server.clone(), until: self.now.plus(DUTY_LEASE) };
        self.put(&duty_key(duty), &shift);
        Output::Shift(shift)
    }

    /// A server stops: it is off the list, and its duties are free at once.
    pub(super) fn leave(&mut self, server: &Name, duties: &[Name]) -> Output {
        for key in duties.iter().map(|duty| duty_key(duty)) {
            if self.readable(&key).is_some_and(|shift| shift.server == *server) {
                self.remove(&key);
            }
        }
        self.remove(&server_key(server));
        Output::Gone
    }
}
