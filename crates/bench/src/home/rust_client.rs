//! The client that people use, with all that it does for them.

use std::net::SocketAddr;

use anyhow::Result;
use client::Client;
use model::Json;
use wire::api::SubmitBody;

use super::{Reach, Submitter};
use crate::pipelines::Machine;

#[derive(Debug)]
pub(crate) struct RustClient(Client);

impl Reach for RustClient {
    async fn reach(server: SocketAddr) -> Result<RustClient> {
        Ok(RustClient(Client::new(&format!("http://{server}"), None)?))
    }
}

impl Submitter for RustClient {
    async fn submit(&mut self, machine: Machine, payloads: Vec<String>) -> Result<()> {
        for payload in payloads {
            let payload = Json::parse(&payload)?;
            let body = SubmitBody { payload, key: None, priority: None, not_before: None, reason: None };
            self.0.submit(machine.name, &body, None).await?;
        }
        Ok(())
    }
}
