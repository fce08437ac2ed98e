//! Endpoints of webhooks: where they go, and the secrets that sign them.

use wire::api::{EndpointBody, EndpointGiven, EndpointList, EndpointView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    pub async fn endpoints(&self) -> Result<EndpointList, Error> {
        self.json(Call::get(self.at(["endpoints"]))).await
    }

    /// Makes an endpoint. The answer is the one sight of its secret.
    pub async fn create_endpoint(&self, body: &EndpointBody) -> Result<EndpointGiven, Error> {
        self.json(Call::post(self.at(["endpoints"]), body)?).await
    }

    /// A new secret; the one before signs beside it. Not repeated by itself: a repeat would drop the one in use.
    pub async fn rotate_endpoint(&self, id: &str) -> Result<EndpointGiven, Error> {
        self.json(Call::post(self.at(["endpoints", id, "rotate"]), &Nothing {})?).await
    }

    /// Retires the older secrets: only the newest signs from now on.
    pub async fn retire_endpoint(&self, id: &str) -> Result<EndpointView, Error> {
        self.json(Call::post(self.at(["endpoints", id, "retire"]), &Nothing {})?.repeatable()).await
    }

    /// Sends to it again.
    pub async fn enable_endpoint(&self, id: &str) -> Result<EndpointView, Error> {
        self.json(Call::post(self.at(["endpoints", id, "enable"]), &Nothing {})?.repeatable()).await
    }

    pub async fn remove_endpoint(&self, id: &str) -> Result<EndpointView, Error> {
        self.json(Call::delete(self.at(["endpoints", id]))).await
    }
}

#[derive(Debug, serde::Serialize)]
struct Nothing {}
