//! Entries of registries as a batch sees and changes them.

use super::commit::Commit;
use crate::registry::{Entry, EntryKey, Unreadable};

impl Commit<'_> {
    /// Reads an entry that the plan of this batch named. What was changed earlier in the batch is seen.
    pub(super) fn get<E: Entry>(&self, key: &EntryKey<E>) -> Result<Option<E::Body>, Unreadable> {
        key.of(&self.taken)
    }

    /// The same, where an entry that cannot be read counts as none: another release wrote it in another way.
    pub(super) fn readable<E: Entry>(&self, key: &EntryKey<E>) -> Option<E::Body> {
        self.get(key).ok().flatten()
    }

    /// Writes an entry; what follows in the batch sees it.
    pub(super) fn put<E: Entry>(&mut self, key: &EntryKey<E>, body: &E::Body) {
        self.change(key, Some(body));
    }

    /// Writes an entry after what this batch has written there before: the commit says each of them.
    pub(super) fn put_next<E: Entry>(&mut self, key: &EntryKey<E>, body: &E::Body) {
        self.taken.registry.insert(key.raw(), E::write(body));
        self.changes.registry.push(key.change(Some(body)));
    }

    /// Removes an entry; what follows in the batch does not see it.
    pub(super) fn remove<E: Entry>(&mut self, key: &EntryKey<E>) {
        self.change(key, None);
    }

    fn change<E: Entry>(&mut self, key: &EntryKey<E>, body: Option<&E::Body>) {
        let change = key.change(body);
        match &change.body {
            Some(body) => drop(self.taken.registry.insert(change.key.clone(), body.clone())),
            None => drop(self.taken.registry.remove(&change.key)),
        }
        self.changes.registry.retain(|earlier| earlier.key != change.key);
        self.changes.registry.push(change);
    }
}

#[cfg(test)]
mod tests {
    use model::Time;
    use store::RegistryKey;

    use super::super::{administered, cursors, epoch, fleet, log, operations, schedules, tokens, trust};
    use super::*;
    use crate::registry::OneEntry;

    fn one<E: OneEntry>() -> RegistryKey {
        EntryKey::<E>::one().raw()
    }

    #[test]
    fn entries_are_where_they_always_were() {
        let known = [
            (one::<administered::Count>(), ("log", "administered")),
            (one::<log::LogActs>(), ("log", "acts")),
            (one::<epoch::Epoch>(), ("epoch", "engine")),
            (one::<operations::StartedOperations>(), ("operations-started", "all")),
            (one::<tokens::TokenAdmins>(), ("token-admins", "all")),
            (one::<trust::KnownTime>(), ("clock", "known")),
            (EntryKey::<cursors::Counts>::new("all").raw(), ("cursor-count", "all")),
            (fleet::server_key("s").raw(), ("server", "s")),
            (fleet::duty_key("d").raw(), ("duty", "d")),
            (EntryKey::<operations::OperationResults>::within("o", "s").raw(), ("operation/o", "s")),
            (EntryKey::<schedules::Schedules>::new("p/s").raw(), ("schedule", "p/s")),
        ];
        for (key, (kind, name)) in known {
            assert_eq!((&*key.kind, &*key.name), (kind, name));
        }
    }

    #[test]
    fn bodies_are_written_as_they_always_were() {
        let at = Time::from_millis(0);
        assert_eq!(tokens::TokensUsed::write(&at).as_str(), "\"1970-01-01T00:00:00.000Z\"");
        assert_eq!(cursors::Counts::write(&7).as_str(), "7");
        assert_eq!(tokens::TokenAdmins::write(&vec!["a\"b".to_owned()]).as_str(), r#"["a\"b"]"#);
    }
}
