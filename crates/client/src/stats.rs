//! The condition of a server: its statistics, its clock, and the other servers over its store.

use wire::api::{ClockView, ServerList, StatsView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    pub async fn stats(&self) -> Result<StatsView, Error> {
        self.json(Call::get(self.at(["stats"]))).await
    }

    /// The clock everything goes by, and whether it is believed.
    pub async fn clock(&self) -> Result<ClockView, Error> {
        self.json(Call::get(self.at(["clock"]))).await
    }

    /// Says that the clock is right.
    pub async fn confirm_clock(&self) -> Result<ClockView, Error> {
        self.json(Call::post(self.at(["clock", "confirm"]), &serde_json::json!({}))?.repeatable()).await
    }

    /// The servers over the same store.
    pub async fn servers(&self) -> Result<ServerList, Error> {
        self.json(Call::get(self.at(["servers"]))).await
    }
}
