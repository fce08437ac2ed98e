//! Several servers over one store: who they are, and which of them does a duty that one is enough for.

use model::{Json, Millis, Name, Time};
use serde::{Deserialize, Serialize};
use store::{RegistryChange, RegistryKey, Store};

use super::Output;
use super::batch::Batch;

/// The registry kind of servers.
const SERVERS: &str = "server";
/// The registry kind of shifts: which server does a duty.
const DUTIES: &str = "duty";
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
}

/// The server that does a duty, and until when that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shift {
    pub server: Name,
    pub until: Time,
}

pub(super) fn server_key(id: &str) -> RegistryKey {
    RegistryKey { kind: SERVERS.to_owned(), name: id.to_owned() }
}

pub(super) fn duty_key(duty: &str) -> RegistryKey {
    RegistryKey { kind: DUTIES.to_owned(), name: duty.to_owned() }
}

/// Every server that is registered.
pub fn servers(store: &dyn Store) -> Result<Vec<Server>, store::Error> {
    let kept = store::registry_all(store, SERVERS)?.into_iter();
    // One written by a release that says other things about itself is not ours to judge.
    Ok(kept.filter_map(|(_, body)| serde_json::from_str(body.as_str()).ok()).collect())
}

/// Lists which server does which duty.
pub fn shifts(store: &dyn Store) -> Result<Vec<(Name, Shift)>, store::Error> {
    let kept = store::registry_all(store, DUTIES)?.into_iter();
    Ok(kept
        .filter_map(|(name, body)| Some((name.into(), serde_json::from_str(body.as_str()).ok()?)))
        .collect())
}

impl Batch<'_> {
    /// A server says that it is there, and which of the others have not said so for long.
    pub(super) fn present(&mut self, server: &Server, gone: &[Name]) -> Output {
        let known = self.taken.registry.get(&server_key(&server.id));
        let known = known.and_then(|body| serde_json::from_str::<Server>(body.as_str()).ok());
        let started_at = known.map_or(self.now, |known| known.started_at);
        let server = Server { started_at, seen_at: self.now, ..server.clone() };
        self.write(server_key(&server.id), &server);
        let gone = gone.iter().map(|id| RegistryChange { key: server_key(id), body: None });
        self.changes.registry.extend(gone);
        Output::Gone
    }

    /// Takes a duty or keeps it, unless another server has it. Says who has it now.
    pub(super) fn take_duty(&mut self, duty: &Name, server: &Name) -> Output {
        let stands = self.taken.registry.get(&duty_key(duty));
        let stands = stands.and_then(|body| serde_json::from_str::<Shift>(body.as_str()).ok());
        if let Some(other) = stands.filter(|shift| shift.server != *server && shift.until > self.now) {
            return Output::Shift(other);
        }
        let shift = Shift { server: server.clone(), until: self.now.plus(DUTY_LEASE) };
        self.write(duty_key(duty), &shift);
        Output::Shift(shift)
    }

    /// A server stops: it is off the list, and its duties are free at once.
    pub(super) fn leave(&mut self, server: &Name, duties: &[Name]) -> Output {
        let held = duties.iter().map(|duty| duty_key(duty)).filter(|key| {
            let shift = self.taken.registry.get(key);
            let shift = shift.and_then(|body| serde_json::from_str::<Shift>(body.as_str()).ok());
            shift.is_some_and(|shift| shift.server == *server)
        });
        let gone = held.chain([server_key(server)]).map(|key| RegistryChange { key, body: None });
        let gone: Vec<_> = gone.collect();
        self.changes.registry.extend(gone);
        Output::Gone
    }

    fn write(&mut self, key: RegistryKey, value: &impl Serialize) {
        let body = Json::from_stored(&serde_json::to_string(value).expect("it has only string keys"));
        self.taken.registry.insert(key.clone(), body.clone());
        self.changes.registry.push(RegistryChange { key, body: Some(body) });
    }
}
