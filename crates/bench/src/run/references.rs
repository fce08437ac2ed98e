//! References that figures are compared to: measured in the same run, before those figures.

use anyhow::Result;

use super::home::{MANY, SINGLE};
use super::{Run, Workload, measured_store};
use crate::naive;
use crate::pipelines::FIVE;
use crate::raw::Sample;

/// A figure, and what it is of.
pub(super) type Reference = Option<(f64, &'static str)>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct References {
    pub(super) single: Reference,
    pub(super) bulk: Reference,
    pub(super) drain: Reference,
    pub(super) walk: Reference,
}

impl Run<'_> {
    /// Measures what a status column by hand does: one transaction for each move.
    pub(super) async fn naive(&mut self, url: &str) -> Result<References> {
        const NAIVE: &str = "naive table";
        let (submits, steps) = naive::run(url, self.sized(2_000), FIVE.steps, SINGLE.callers).await?;
        self.add(self.rate(Workload::Submit, "an insert a transaction, 64 callers", NAIVE, submits));
        self.add(self.rate(Workload::Walk, "a transaction for each move", NAIVE, steps));
        let (submits, steps) = (Some((submits.per_second(), NAIVE)), Some((steps.per_second(), NAIVE)));
        Ok(References { single: submits, bulk: submits, drain: steps, walk: steps })
    }

    /// Returns what the engine writes for a submission, for the raw loop to write, too.
    pub(super) async fn sample(&self) -> Result<Sample> {
        let room = measured_store::Ground::folder(self.plan).room().await?;
        crate::workload::fill(&room.engine, FIVE, 10).await?;
        crate::workload::work(&room.engine, FIVE, 30, MANY).await?;
        // From a copy: the engine's threads let go of the store in their own time.
        let copy = measured_store::folder(self.plan)?;
        for entry in std::fs::read_dir(room.folder())? {
            let path = entry?.path();
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap_or_default()))?;
        }
        room.leave().await?;
        Sample::read(copy.path())
    }
}
