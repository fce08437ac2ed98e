//! How a server is doing.

use model::api::{ServerList, StatsView};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;

impl Client {
    pub async fn stats(&self) -> Result<StatsView, Error> {
        self.json(Call::get(self.at(["stats"]))).await
    }

    /// The servers over the same store.
    pub async fn servers(&self) -> Result<ServerList, Error> {
        self.json(Call::get(self.at(["servers"]))).await
    }
}
