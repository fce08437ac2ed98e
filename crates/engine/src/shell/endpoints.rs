//! Endpoints as callers ask for them.

use model::{Code, Name, Refusal, Time};
use store::Store;
use wire::api::Secret;
use wire::webhook::Key;

use super::Engine;
use super::handle::unexpected;
use crate::clock;
use crate::core::{
    Ask, DEFAULT_ENDPOINT, Disabled, EndpointDeed, EndpointEntry, Endpoints, Output, endpoint_name,
};
use crate::registry::{self, EntryKey};

/// All of them are listed at once.
const ENDPOINTS_MAX: usize = 10_000;

/// The way something is sent to an address.
#[derive(Debug, Clone)]
pub struct Posting {
    /// The secrets that sign, the newest first.
    pub secrets: Vec<Secret>,
    /// Set where nothing is to be sent.
    pub disabled: Option<Disabled>,
}

impl Engine {
    /// Makes an endpoint. What is given here is the only sight of its secret.
    pub async fn create_endpoint(
        &self,
        url: &str,
        name: Option<Name>,
    ) -> Result<(Secret, EndpointEntry), Refusal> {
        self.check_room().await?;
        let secret = fresh();
        let mut entry = self.blank(Some(url));
        entry.secrets.push(secret.clone());
        entry.name = name;
        let entry = self.endpoint_deed(EndpointDeed::Create { name: endpoint_name(url), entry }).await?;
        tracing::info!(endpoint = &*entry.id, "an endpoint was made");
        Ok((secret, entry))
    }

    /// A new secret; the one before it signs beside it until it is retired or another is made.
    pub async fn rotate_endpoint(&self, id: &str) -> Result<(Secret, EndpointEntry), Refusal> {
        let (name, secret) = (self.registered(id).await?, fresh());
        let entry = self.endpoint_deed(EndpointDeed::Rotate { name, secret: secret.clone() }).await?;
        tracing::info!(endpoint = &*entry.id, "an endpoint's secret was rotated");
        Ok((secret, entry))
    }

    pub async fn retire_endpoint(&self, id: &str) -> Result<EndpointEntry, Refusal> {
        let name = self.registered(id).await?;
        let entry = self.endpoint_deed(EndpointDeed::Retire { name }).await?;
        tracing::info!(endpoint = &*entry.id, "an endpoint's old secret was retired");
        Ok(entry)
    }

    pub async fn enable_endpoint(&self, id: &str) -> Result<EndpointEntry, Refusal> {
        let name = self.registered(id).await?;
        let entry = self.endpoint_deed(EndpointDeed::Enable { name }).await?;
        tracing::info!(endpoint = &*entry.id, "an endpoint was enabled");
        Ok(entry)
    }

    pub async fn remove_endpoint(&self, id: &str) -> Result<EndpointEntry, Refusal> {
        let name = self.registered(id).await?;
        let entry = self.endpoint_deed(EndpointDeed::Remove { name }).await?;
        tracing::info!(endpoint = &*entry.id, "an endpoint was removed");
        Ok(entry)
    }

    /// Sends nothing more to this address, which asked for it.
    pub async fn disable_endpoint(&self, url: &str, reason: String) -> Result<EndpointEntry, Refusal> {
        let (name, entry) = (endpoint_name(url), self.blank(Some(url)));
        let known = name.clone();
        if self.read(move |store| entry_of(store, &known)).await?.is_none() {
            self.check_room().await?;
        }
        let entry = self.endpoint_deed(EndpointDeed::Disable { name, entry, reason }).await?;
        tracing::warn!(endpoint = &*entry.id, "an endpoint asked to be left alone and was disabled");
        Ok(entry)
    }

    /// Returns the way to send to this address: by its own endpoint, or by the default, which is made when it is first
    /// needed.
    pub async fn posting_to(&self, url: &str) -> Result<Posting, Refusal> {
        let name = endpoint_name(url);
        let read = move |store: &dyn Store| Ok((entry_of(store, &name)?, entry_of(store, DEFAULT_ENDPOINT)?));
        let (own, default) = self.read(read).await?;
        let disabled = own.as_ref().and_then(|entry| entry.disabled.clone());
        let own = own.filter(|entry| disabled.is_some() || !entry.secrets.is_empty());
        let signing = match own.or(default) {
            Some(entry) => entry,
            None => {
                let mut entry = self.blank(None);
                entry.name = Some(DEFAULT_ENDPOINT.into());
                entry.secrets.push(fresh());
                self.endpoint_deed(EndpointDeed::Ensure { name: DEFAULT_ENDPOINT.to_owned(), entry }).await?
            }
        };
        Ok(Posting { secrets: signing.secrets, disabled })
    }

    /// Every endpoint that can be read, in the order they were made.
    pub async fn endpoints(&self) -> Result<Vec<EndpointEntry>, Refusal> {
        let kept = self.read(registry::readable::<Endpoints>).await?;
        let mut entries: Vec<EndpointEntry> = kept.into_iter().map(|(_, entry)| entry).collect();
        entries.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(entries)
    }

    /// Returns the name that the endpoint of this id is registered under; the default is known by its name, too.
    async fn registered(&self, id: &str) -> Result<String, Refusal> {
        let entry = self
            .endpoints()
            .await?
            .into_iter()
            .find(|entry| *entry.id == *id || (entry.url.is_none() && id == DEFAULT_ENDPOINT));
        match entry {
            Some(EndpointEntry { url: Some(url), .. }) => Ok(endpoint_name(&url)),
            Some(_) => Ok(DEFAULT_ENDPOINT.to_owned()),
            // Not repeated: somebody may have given a secret in place of an id.
            None => Err(Refusal::new(Code::UnknownEndpoint, "no endpoint has this id; see the list of them")),
        }
    }

    async fn check_room(&self) -> Result<(), Refusal> {
        if self.endpoints().await?.len() < ENDPOINTS_MAX {
            return Ok(());
        }
        let message = format!("there are {ENDPOINTS_MAX} endpoints already; remove some");
        Err(Refusal::new(Code::TooLarge, message).with("max", ENDPOINTS_MAX))
    }

    fn blank(&self, url: Option<&str>) -> EndpointEntry {
        EndpointEntry {
            id: self.fresh_id().to_string().into(),
            url: url.map(str::to_owned),
            name: None,
            secrets: Vec::new(),
            created_at: Time::EPOCH,
            rotated_at: None,
            disabled: None,
        }
    }

    async fn endpoint_deed(&self, deed: EndpointDeed) -> Result<EndpointEntry, Refusal> {
        match self.ask(Ask::Endpoint(Box::new(deed)).into()).await? {
            Output::Endpoint(entry) => Ok(*entry),
            _ => Err(unexpected()),
        }
    }
}

fn entry_of(store: &dyn Store, name: &str) -> Result<Option<EndpointEntry>, store::Error> {
    EntryKey::<Endpoints>::new(name).readable(store)
}

fn fresh() -> Secret {
    Secret(Key::secret_of(&clock::entropy::<32>()))
}
