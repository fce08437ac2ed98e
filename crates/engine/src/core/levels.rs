//! Adds new measurements of service levels to those that are registered.

use super::Output;
use super::batch::Batch;
use crate::levels::{News, Record};

impl Batch<'_> {
    pub(super) fn measured(&mut self, news: &News) -> Output {
        for (level, measured) in news {
            let key = level.registered();
            let stands = self.taken.registry.get(&key);
            // One that another release wrote in another way begins anew.
            let stands = stands.and_then(|body| serde_json::from_str::<Record>(body.as_str()).ok());
            let mut record = stands.unwrap_or_default();
            record.add(measured);
            record.drop_old(self.now);
            self.put(key, &record);
        }
        Output::Gone
    }
}
