//! The entries of the registry, kind by kind: definitions, holds, operations, schedules, cursors, and the epoch that
//! tells servers to read them again.

use std::collections::BTreeMap;

use engine::Hold;
use engine::pipelines::AppliedVersion;
use model::{Digest, Json};

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::faults::Commit;
use crate::finding::finding;

type Entries = BTreeMap<String, Json>;

#[derive(Debug, Default)]
pub(crate) struct Registry {
    kinds: BTreeMap<String, Entries>,
    /// The digests of the definitions, by the names they are registered under.
    digests: BTreeMap<String, Digest>,
}

impl Registry {
    pub(super) fn entry(&self, kind: &str, name: &str) -> Option<&Json> {
        self.kinds.get(kind)?.get(name)
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = (&String, &Entries)> {
        self.kinds.iter()
    }

    fn take(&mut self, commit: &Commit) {
        for change in &commit.changes.registry {
            if change.key.kind == "pipeline" {
                // One that is retired goes on deciding for what follows it.
                let digest = change.body.as_ref().map(|body| Digest::of(body.as_str().as_bytes()));
                self.digests.extend(digest.map(|digest| (change.key.name.clone(), digest)));
            }
            let entries = self.kinds.entry(change.key.kind.clone()).or_default();
            match &change.body {
                Some(body) => drop(entries.insert(change.key.name.clone(), body.clone())),
                None => drop(entries.remove(&change.key.name)),
            }
        }
    }

    /// Tells whether a definition is the newest of a version.
    pub(super) fn decides(&self, pipeline: &str, version: u32, definition: &Digest) -> bool {
        self.digests.get(&format!("{pipeline}@{version}")) == Some(definition)
    }

    /// Tells whether nothing may begin to follow a version any more.
    pub(super) fn is_retired(&self, pipeline: &str, version: u32) -> bool {
        self.entry("pipeline-retired", &format!("{pipeline}@{version}")).is_some()
    }

    /// Returns the versions that were applied of a pipeline, in order.
    pub(super) fn applied(&self, pipeline: &str) -> Vec<AppliedVersion> {
        let body = self.entry("applied", pipeline);
        body.and_then(|body| serde_json::from_str(body.as_str()).ok()).unwrap_or_default()
    }

    /// Returns the state of holds and definitions that servers have to know.
    fn epoch(&self) -> u64 {
        let entry = self.entry("epoch", "engine");
        entry.and_then(|body| body.as_str().parse().ok()).unwrap_or(0)
    }
}

impl Ledger {
    pub(super) fn take_registry(&mut self, commit: &Commit) -> Checked {
        let before = self.registry.epoch();
        let changes = &commit.changes.registry;
        for change in changes.iter().filter(|change| change.key.kind == "hold") {
            let name = &change.key.name;
            // One that is written again may have ended and been placed again in this step.
            self.lasting_holds.remove(name.as_str());
            let Some(body) = &change.body else {
                self.holds.remove(name.as_str());
                continue;
            };
            let hold: Hold = serde_json::from_str(body.as_str())
                .map_err(|error| finding!("hold {name} does not parse: {error}"))?;
            ensure!(*hold.id == **name, "hold {name} is kept under another name");
            self.holds.insert(hold.id.clone(), hold);
        }
        self.registry.take(commit);
        let news = changes.iter().any(|change| matches!(&*change.key.kind, "hold" | "pipeline"));
        ensure!(
            self.registry.epoch() > before || !news,
            "holds or definitions changed, and no other server hears of it"
        );
        Ok(())
    }
}
