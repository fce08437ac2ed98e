//! Entries of systems: read and changed by the system itself, and by admins whose token is for everything.

use engine::core::{system_entries, system_entry};
use model::entry::EntryChange;
use model::{Code, Json, Name, Refusal};
use wire::api::{EntryBody, EntryChangeBody, EntryPage, EntryView};

use crate::{App, Visitor, quote};

/// The bytes of bodies after which a page ends.
const PAGE_BYTES: usize = 1 << 20;

impl Visitor {
    /// Refuses whoever is not the system, whose name no token has, and not an owner.
    pub fn check_entries_of(&self, system: &str) -> Result<(), Refusal> {
        if self.is_owner() || self.caller.name.strip_prefix("system:") == Some(system) {
            return Ok(());
        }
        let message = format!(
            "the entries of the system {} are for itself, and for admins whose token is for everything",
            quote(system)
        );
        Err(Refusal::new(Code::RoleRequired, message))
    }
}

impl App {
    /// Returns an entry of a system, or that there is none.
    pub async fn entry(&self, system: &str, name: &str) -> Result<EntryView, Refusal> {
        self.visitor.check_entries_of(system)?;
        change(system, name, EntryBody::default()).check()?;
        let (system, wanted) = (system.to_owned(), name.to_owned());
        let found = self.engine.read(move |store| system_entry(store, &system, &wanted)).await?;
        Ok(view(name, found))
    }

    /// Lists entries of a system in the order of their names.
    pub async fn entries(
        &self,
        system: &str,
        limit: usize,
        after: Option<String>,
    ) -> Result<EntryPage, Refusal> {
        self.visitor.check_entries_of(system)?;
        change(system, "-", EntryBody::default()).check()?;
        let system = system.to_owned();
        let read = move |store: &dyn store::Store| {
            system_entries(store, &system, after.as_deref().unwrap_or_default(), limit + 1)
        };
        let found = self.engine.read(read).await?;
        let mut bytes = 0;
        let fits = |(_, body): &&(String, Json)| {
            let before = bytes;
            bytes += body.as_str().len();
            before < PAGE_BYTES
        };
        let entries: Vec<EntryView> = found
            .iter()
            .take(limit)
            .take_while(fits)
            .map(|(name, body)| view(name, Some(body.clone())))
            .collect();
        let next = entries.last().filter(|_| entries.len() < found.len()).map(|last| last.name.to_string());
        Ok(EntryPage { entries, next })
    }

    /// Changes an entry of a system, if it is what is expected.
    pub async fn put_entry(&self, system: &str, name: &str, body: EntryBody) -> Result<EntryView, Refusal> {
        self.visitor.check_entries_of(system)?;
        let shown = view(name, body.body.clone());
        self.by().put_entry(change(system, name, body)).await?;
        Ok(shown)
    }

    /// Takes the changes that come with an answer, if the visitor may make them.
    pub(crate) fn entry_changes(&self, bodies: Vec<EntryChangeBody>) -> Result<Vec<EntryChange>, Refusal> {
        let changes = bodies.into_iter().map(|EntryChangeBody { system, name, expected, body }| {
            self.visitor.check_entries_of(&system)?;
            Ok(EntryChange { system, name, expected, body })
        });
        changes.collect()
    }
}

fn change(system: &str, name: &str, EntryBody { expected, body }: EntryBody) -> EntryChange {
    EntryChange { system: system.into(), name: name.into(), expected, body }
}

fn view(name: &str, body: Option<Json>) -> EntryView {
    EntryView { name: Name::from(name), digest: body.as_ref().map(EntryChange::digest_of), body }
}
