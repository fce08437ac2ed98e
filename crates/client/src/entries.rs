//! Entries of systems: small named documents that a system keeps beside its submissions.

use wire::api::{EntryBody, EntryPage, EntryView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    /// Returns an entry of a system; without digest and body where there is none.
    pub async fn entry(&self, system: &str, name: &str) -> Result<EntryView, Error> {
        self.json(Call::get(self.at(["systems", system, "entries", name]))).await
    }

    /// Returns a page of the entries of a system, in the order of their names; `after` is the `next` of the page before.
    pub async fn entries(
        &self,
        system: &str,
        limit: Option<usize>,
        after: Option<&str>,
    ) -> Result<EntryPage, Error> {
        let mut url = self.at(["systems", system, "entries"]);
        let given = [("limit", limit.map(|limit| limit.to_string())), ("after", after.map(str::to_owned))];
        url.query_pairs_mut()
            .extend_pairs(given.into_iter().filter_map(|(name, value)| Some((name, value?))));
        self.json(Call::get(url)).await
    }

    /// Changes an entry of a system, if it is what is expected. It is not tried again by itself: whoever hears nothing reads the
    /// entry first.
    pub async fn put_entry(&self, system: &str, name: &str, body: &EntryBody) -> Result<EntryView, Error> {
        self.json(Call::put(self.at(["systems", system, "entries", name]), body)?).await
    }
}
