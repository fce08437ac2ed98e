//! Service levels as they are kept to.

use super::Engine;
use crate::levels::{LevelReport, Measurements, report};

impl Engine {
    /// Every service level that the newest version of a pipeline declares, beside what was measured of it.
    #[must_use]
    pub fn level_reports(&self, measured: &Measurements) -> Vec<LevelReport> {
        let (versions, now) = (self.pipelines().current(), self.now());
        versions.all().flat_map(|pipeline| report::of(pipeline, measured, now)).collect()
    }

    /// Returns the same as [`Engine::level_reports`], as of now.
    pub async fn levels(&self) -> Result<Vec<LevelReport>, model::Refusal> {
        let metrics = self.metrics.clone();
        let measured = self.read(move |store| metrics.levels.read(store)).await?;
        Ok(self.level_reports(&measured))
    }
}
