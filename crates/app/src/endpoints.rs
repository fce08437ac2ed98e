//! Endpoints: addresses that webhooks go to, each with the secrets that sign them.

use engine::core::EndpointEntry;
use model::{Name, Refusal};
use wire::api::{EndpointBody, EndpointGiven, EndpointList, EndpointView};

use crate::{App, invalid};

const NAME_CHARS_MAX: usize = 128;
/// The most characters of an address that a delivery can be for.
const URL_CHARS_MAX: usize = 2_000;

impl App {
    /// Makes an endpoint, and the secret that webhooks to it are signed with.
    pub async fn create_endpoint(&self, body: EndpointBody) -> Result<EndpointGiven, Refusal> {
        let url = address(&body.url)?;
        let name = body.name.as_deref().map(name).transpose()?;
        let (secret, entry) = self.by().create_endpoint(&url, name).await?;
        Ok(EndpointGiven { secret, about: view(entry) })
    }

    /// Lists all endpoints.
    pub async fn endpoints(&self) -> Result<EndpointList, Refusal> {
        let endpoints = self.engine.endpoints().await?.into_iter().map(view).collect();
        Ok(EndpointList { endpoints })
    }

    /// Gives an endpoint a further secret.
    pub async fn rotate_endpoint(&self, id: &str) -> Result<EndpointGiven, Refusal> {
        let (secret, entry) = self.by().rotate_endpoint(id).await?;
        Ok(EndpointGiven { secret, about: view(entry) })
    }

    /// Takes all secrets but the newest from an endpoint.
    pub async fn retire_endpoint(&self, id: &str) -> Result<EndpointView, Refusal> {
        Ok(view(self.by().retire_endpoint(id).await?))
    }

    /// Has webhooks sent to an endpoint again that was disabled.
    pub async fn enable_endpoint(&self, id: &str) -> Result<EndpointView, Refusal> {
        Ok(view(self.by().enable_endpoint(id).await?))
    }

    /// Removes an endpoint.
    pub async fn remove_endpoint(&self, id: &str) -> Result<EndpointView, Refusal> {
        Ok(view(self.by().remove_endpoint(id).await?))
    }
}

fn address(url: &str) -> Result<String, Refusal> {
    let normalized = fetch::normalized(url).map_err(|error| invalid(format!("`url`: {error}")))?;
    if normalized.chars().count() > URL_CHARS_MAX {
        return Err(invalid(format!("`url` has at most {URL_CHARS_MAX} characters")));
    }
    Ok(normalized)
}

fn name(name: &str) -> Result<Name, Refusal> {
    let name = name.trim();
    let plain = name.chars().all(|c| !c.is_control());
    if !plain || !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) {
        return Err(invalid(format!("`name` takes 1 to {NAME_CHARS_MAX} characters")));
    }
    Ok(name.into())
}

fn view(entry: EndpointEntry) -> EndpointView {
    let EndpointEntry { id, url, name, secrets, created_at, rotated_at, disabled } = entry;
    let (disabled_at, disabled_reason) = disabled.map(|disabled| (disabled.at, disabled.reason)).unzip();
    EndpointView {
        id,
        url,
        name,
        secrets: secrets.len(),
        created_at,
        rotated_at,
        disabled_at,
        disabled_reason,
    }
}
