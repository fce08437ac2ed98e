//! What figures are compared to: measured in the same run, before what is compared to it.

use anyhow::Result;

use super::home::{MANY, SINGLE};
use super::{Run, Workload, ground};
use crate::pipelines::FIVE;
use crate::raw::{RawLoop, Sample};
use crate::{bare, naive};

/// A figure, and what it is of.
pub(super) type Reference = Option<(f64, &'static str)>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct References {
    pub(super) single: Reference,
    pub(super) bulk: Reference,
    pub(super) drain: Reference,
    pub(super) walk: Reference,
    /// For what is submitted over HTTP, one a call.
    pub(super) bare: Reference,
}

impl References {
    pub(super) fn single_over_http(&self) -> Reference {
        self.bare.or(self.single)
    }
}

impl Run<'_> {
    /// The raw loop over SQLite, and a server that does nothing.
    pub(super) async fn raw(&mut self) -> Result<References> {
        const RAW: &str = "raw loop";
        const BARE: &str = "bare server";
        let mut references = References::default();
        let sample = self.sample().await?;
        let folder = || ground::folder(self.plan);
        let open = |sample: &Sample| -> Result<(RawLoop, tempfile::TempDir)> {
            let folder = folder()?;
            Ok((RawLoop::open(folder.path(), sample.clone())?, folder))
        };
        if self.wants(Workload::Submit) {
            let (mut raw, _folder) = open(&sample)?;
            let rate = raw.submits(self.sized(50_000), 500)?;
            references.bulk = Some((rate.per_second(), RAW));
            references.single = references.bulk;
            let bare = bare::posts(self.sized(20_000), SINGLE.callers).await?;
            references.bare = Some((bare.per_second(), BARE));
            self.add(self.rate(Workload::Submit, "the same inserts, 500 a commit", RAW, rate));
            self.add(self.rate(Workload::Submit, "posts that do nothing, 64 callers", BARE, bare));
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            let (mut raw, _folder) = open(&sample)?;
            raw.submits(self.sized(20_000), 500)?;
            let rate = raw.steps(1, SINGLE.callers)?;
            references.drain = Some((rate.per_second(), RAW));
            self.add(self.rate(Workload::Drain, "the same writes, 64 a commit", RAW, rate));
        }
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            let (mut raw, _folder) = open(&sample)?;
            raw.submits(self.sized(5_000), 500)?;
            let rate = raw.steps(FIVE.steps, MANY.callers * MANY.claim)?;
            references.walk = Some((rate.per_second(), RAW));
            self.add(self.rate(Workload::Walk, "the same writes, 512 a commit", RAW, rate));
        }
        Ok(references)
    }

    /// What a status column by hand does: one transaction for each move.
    pub(super) async fn naive(&mut self, url: &str) -> Result<References> {
        const NAIVE: &str = "naive table";
        let (submits, steps) = naive::run(url, self.sized(2_000), FIVE.steps, SINGLE.callers).await?;
        self.add(self.rate(Workload::Submit, "an insert a transaction, 64 callers", NAIVE, submits));
        self.add(self.rate(Workload::Walk, "a transaction for each move", NAIVE, steps));
        let (submits, steps) = (Some((submits.per_second(), NAIVE)), Some((steps.per_second(), NAIVE)));
        Ok(References { single: submits, bulk: submits, drain: steps, walk: steps, bare: None })
    }

    /// What the engine writes for a submission, for the raw loop to write, too.
    async fn sample(&self) -> Result<Sample> {
        let room = ground::Ground::folder(self.plan).room().await?;
        crate::workload::fill(&room.engine, FIVE, 10).await?;
        crate::workload::work(&room.engine, FIVE, 30, MANY).await?;
        // From a copy: the engine's threads let go of the store in their own time.
        let copy = ground::folder(self.plan)?;
        for entry in std::fs::read_dir(room.folder())? {
            let path = entry?.path();
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap_or_default()))?;
        }
        room.leave().await?;
        Sample::read(copy.path())
    }
}
