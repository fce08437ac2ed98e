//! The condition of a server: its statistics, its clock, and the other servers over its store.

use wire::api::{ClockView, FiguresView, LanePage, ServerList, StatsView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    pub async fn stats(&self) -> Result<StatsView, Error> {
        self.json(Call::get(self.at(["stats"]))).await
    }

    /// Figures of all servers over the store: what flows, how long it stays, what stops it.
    pub async fn figures(&self) -> Result<FiguresView, Error> {
        self.json(Call::get(self.at(["figures"]))).await
    }

    /// A page of the lanes of a pipeline that somebody is in line for.
    pub async fn lanes(
        &self,
        pipeline: &str,
        limit: Option<usize>,
        after: Option<&str>,
    ) -> Result<LanePage, Error> {
        let mut url = self.at(["pipelines", pipeline, "lanes"]);
        let limit = limit.map(|limit| limit.to_string());
        for (name, value) in [("limit", limit.as_deref()), ("after", after)] {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        self.json(Call::get(url)).await
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
