//! Adds what a server counted of the flow to its entries.

use super::Output;
use super::commit::Commit;
use crate::flow::{News, Registered};
use crate::registry::EntryKey;

impl Commit<'_> {
    pub(super) fn flowed(&mut self, news: &News) -> Output {
        for (part, counted) in &news.parts {
            let key = part.registered();
            let mut record = self.readable(&key).unwrap_or_default();
            record.add(counted);
            self.put(&key, &record);
        }
        news.old.iter().for_each(|name| self.remove(&EntryKey::<Registered>::new(name)));
        Output::Gone
    }
}
