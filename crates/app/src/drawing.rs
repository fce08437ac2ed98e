//! Machines as SVG, with the path of a submission.

use std::sync::Arc;

use draw::{Overlay, Path, picture, svg};
use model::{Code, Pipeline, Refusal, SubmissionId};

use crate::App;
use crate::refusals::{no_submission, not_loaded};

/// The number of events that are drawn; of a longer history, the newest.
const EVENTS_MAX: u64 = 5_000;
const PAGE: usize = 1_000;

impl App {
    /// Draws the machine of a submission with the path it has taken.
    pub async fn drawing(&self, id: SubmissionId) -> Result<String, Refusal> {
        let (pipeline, path) = self.path(id).await?;
        draw(pipeline, Some(path)).await
    }

    /// Draws the machine of a submission and its path as a part of a page.
    pub async fn picture(&self, id: SubmissionId) -> Result<String, Refusal> {
        let (pipeline, path) = self.path(id).await?;
        drawn(move || picture(&pipeline, Some(&path), &Overlay::default())).await
    }

    /// Draws a version of a pipeline as a part of a page, with what is laid over it.
    pub async fn machine_picture(
        &self,
        name: &str,
        version: u32,
        overlay: Overlay,
    ) -> Result<String, Refusal> {
        let pipeline = self.machine(name, Some(version))?;
        drawn(move || picture(&pipeline, None, &overlay)).await
    }

    async fn path(&self, id: SubmissionId) -> Result<(Arc<Pipeline>, Path), Refusal> {
        let found = self.engine.read(move |store| {
            let Some((row, _)) = store.submission(id)? else { return Ok(None) };
            let mut events = Vec::new();
            let mut after = row.revision.saturating_sub(EVENTS_MAX);
            loop {
                let page = store.history(id, after, PAGE)?;
                let Some(last) = page.last() else { return Ok(Some((row, Path::of(&events)))) };
                after = last.event.leaf.revision;
                events.extend(page.into_iter().map(|recorded| recorded.event));
            }
        });
        let seen = found.await?.filter(|(row, _)| self.visitor.sees_row(row));
        let (row, path) = seen.ok_or_else(|| no_submission(id))?;
        let versions = self.engine.pipelines().current();
        let pipeline = versions.version(&row.pipeline, row.version).ok_or_else(|| not_loaded(&row))?;
        Ok((pipeline.clone(), path))
    }
}

/// Draws a machine off the threads that serve: laying a large one out takes a while.
pub async fn draw(pipeline: Arc<Pipeline>, path: Option<Path>) -> Result<String, Refusal> {
    drawn(move || svg(&pipeline, path.as_ref())).await
}

async fn drawn(make: impl FnOnce() -> String + Send + 'static) -> Result<String, Refusal> {
    let drawn = tokio::task::spawn_blocking(make).await;
    drawn.map_err(|_| Refusal::new(Code::Internal, "the machine could not be drawn"))
}
