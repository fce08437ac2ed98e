//! Holds: placing, listing, releasing.

use wire::api::{HoldBody, HoldList, HoldView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    /// Stops what a hold names. Not repeated by itself: holds stack, so a repeat would be a second one.
    pub async fn hold(&self, body: &HoldBody) -> Result<HoldView, Error> {
        self.json(Call::post(self.at(["holds"]), body)?).await
    }

    pub async fn holds(&self) -> Result<HoldList, Error> {
        self.json(Call::get(self.at(["holds"]))).await
    }

    pub async fn release(&self, hold: &str) -> Result<HoldView, Error> {
        self.json(Call::delete(self.at(["holds", hold]))).await
    }
}
