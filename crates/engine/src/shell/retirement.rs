//! Retiring versions of a pipeline: first it is looked at that nothing follows them, then each is let go of in a commit of
//! its own.

use std::collections::BTreeMap;

use model::{Code, Name, Refusal, SubmissionId};
use store::{Query, Store};

use super::Engine;
use super::handle::unexpected;
use crate::core::{Ask, Deed, Operation, Output, RunningOperations};
use crate::pipelines::Versions;
use crate::registry;

/// Rows read at a time, so that nobody waits for a long read.
const PAGE: usize = 1_000;

/// The result of retiring versions.
#[derive(Debug, Default)]
pub struct Retirement {
    /// The versions that were retired, or would be.
    pub retired: Vec<u32>,
    /// The versions that were not, each with the reason.
    pub kept: Vec<(u32, Refusal)>,
}

impl Engine {
    /// Retires one version, or says why it cannot be.
    pub async fn retire_version(
        &self,
        pipeline: &Name,
        version: u32,
        dry_run: bool,
    ) -> Result<Retirement, Refusal> {
        let known = self.pipelines().current();
        let wanted: Vec<u32> =
            known.retirable(pipeline, version)?.map(|known| known.version).into_iter().collect();
        let Retirement { retired, kept } = self.retire(pipeline, wanted, dry_run).await?;
        match kept.into_iter().next() {
            Some((_, refusal)) => Err(refusal),
            None => Ok(Retirement { retired, kept: Vec::new() }),
        }
    }

    /// Retires every version that nothing follows or may have to go back to.
    pub async fn retire_unused(&self, pipeline: &Name, dry_run: bool) -> Result<Retirement, Refusal> {
        let known = self.pipelines().current();
        known.in_force_or_refuse(pipeline)?;
        let (wanted, spared) = candidates(&known, pipeline);
        let mut done = self.retire(pipeline, wanted, dry_run).await?;
        done.kept.extend(spared);
        done.kept.sort_by_key(|(version, _)| *version);
        Ok(done)
    }

    async fn retire(&self, pipeline: &Name, wanted: Vec<u32>, dry_run: bool) -> Result<Retirement, Refusal> {
        let mut used = self.migrations(pipeline, &wanted).await?;
        used.extend(self.followers(pipeline, &wanted, &used).await?);
        let mut done = Retirement::default();
        for version in wanted {
            if let Some(refusal) = used.remove(&version) {
                done.kept.push((version, refusal));
                continue;
            }
            let ask = Ask::RetireVersion { pipeline: pipeline.clone(), version };
            match if dry_run { Ok(Output::Gone) } else { self.ask(ask.into()).await } {
                Ok(Output::Gone) => done.retired.push(version),
                Ok(_) => return Err(unexpected()),
                // Another server brought it into force meanwhile.
                Err(refusal) if refusal.code == Code::VersionInUse => done.kept.push((version, refusal)),
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(done)
    }

    /// Finds those of some versions that a running operation brings submissions to.
    async fn migrations(&self, pipeline: &Name, wanted: &[u32]) -> Result<BTreeMap<u32, Refusal>, Refusal> {
        let running = self.read(running).await?;
        let mut used = BTreeMap::new();
        for operation in running.iter().filter(|operation| operation.filter.pipeline == *pipeline) {
            if let Deed::Migrate { version, .. } = operation.deed
                && wanted.contains(&version)
            {
                let message = format!(
                    "operation {} migrates submissions to version {version} of `{pipeline}`; stop it or let it end",
                    operation.id
                );
                used.insert(version, Refusal::new(Code::VersionInUse, message));
            }
        }
        Ok(used)
    }

    /// Finds those of some versions that a submission follows, open or ended: its row says which. As many rows are read as the
    /// pipeline has, unless each version is found before.
    async fn followers(
        &self,
        pipeline: &Name,
        wanted: &[u32],
        used: &BTreeMap<u32, Refusal>,
    ) -> Result<BTreeMap<u32, Refusal>, Refusal> {
        let mut found: BTreeMap<u32, Refusal> = BTreeMap::new();
        let mut after: Option<SubmissionId> = None;
        while wanted.iter().any(|version| !found.contains_key(version) && !used.contains_key(version)) {
            let query = Query { pipeline: Some(pipeline.clone()), after, limit: PAGE, ..Query::default() };
            let page = self.read(move |store| store.find(&query)).await?;
            for row in page.rows.iter().filter(|row| wanted.contains(&row.version)) {
                found.entry(row.version).or_insert_with(|| {
                    let message = format!(
                        "submission {} ({}) follows version {} of `{pipeline}`; migrate those that are open, and wait until the \
                         others are forgotten",
                        row.id,
                        row.status.as_str(),
                        row.version
                    );
                    Refusal::new(Code::VersionInUse, message).with("submission", row.id.to_string())
                });
            }
            after = page.rows.last().map(|row| row.id);
            if !page.more {
                break;
            }
        }
        Ok(found)
    }
}

/// The versions that may be retired as far as the others go, and why the rest may not.
fn candidates(known: &Versions, pipeline: &Name) -> (Vec<u32>, Vec<(u32, Refusal)>) {
    let (mut wanted, mut spared) = (Vec::new(), Vec::new());
    for version in known.versions(pipeline).map(|known| known.version) {
        match known.retirable(pipeline, version) {
            Ok(_) => wanted.push(version),
            Err(refusal) => spared.push((version, refusal)),
        }
    }
    (wanted, spared)
}

fn running(store: &dyn Store) -> Result<Vec<Operation>, store::Error> {
    let all = registry::all::<RunningOperations>(store)?.into_iter();
    all.map(|(_, operation)| Ok(operation?)).collect()
}
