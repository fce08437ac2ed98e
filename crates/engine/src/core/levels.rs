//! Adds new measurements of service levels to those that are registered.

use super::Output;
use super::commit::Commit;
use crate::levels::News;

impl Commit<'_> {
    pub(super) fn measured(&mut self, news: &News) -> Output {
        for (level, measured) in news {
            let key = level.registered();
            let mut record = self.readable(&key).unwrap_or_default();
            record.add(measured);
            record.drop_old(self.now);
            self.put(&key, &record);
        }
        Output::Gone
    }
}
