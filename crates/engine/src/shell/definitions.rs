//! Definitions as callers bring them into force and ask for them.

use std::sync::Arc;

use model::pipeline::{Problems, Source};
use model::{Digest, Pipeline, Refusal};
use thiserror::Error;

use super::Engine;
use super::handle::unexpected;
use crate::core::{Ask, Output};
use crate::pipelines::{Apply, Brought, Intent, pipeline_of};

#[derive(Debug, Error)]
pub enum ApplyError {
    #[error("the definition has problems")]
    Problems(Problems),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Engine {
    /// Goes on to a definition.
    pub async fn apply(&self, source: &Source) -> Result<(Arc<Pipeline>, bool), ApplyError> {
        let brought = self.bring(source, Intent::Forward).await?;
        Ok((brought.pipeline, brought.changed))
    }

    /// Brings a definition into force. Of its parameters, those that are set are set, null ones are set back to their
    /// defaults, and the others stay as they are.
    pub async fn bring(&self, source: &Source, intent: Intent) -> Result<Brought, ApplyError> {
        let pipeline = Arc::new(model::pipeline::load(source).map_err(ApplyError::Problems)?);
        let params = source.params.as_object().cloned().unwrap_or_default();
        Ok(self.bring_loaded(Apply { pipeline, params, intent }).await?)
    }

    /// Brings a definition into force that was loaded.
    pub async fn bring_loaded(&self, apply: Apply) -> Result<Brought, Refusal> {
        match self.ask(Ask::Apply(Box::new(apply)).into()).await? {
            Output::Applied(brought) => Ok(*brought),
            _ => Err(unexpected()),
        }
    }

    /// The pipeline of a definition that was applied once, whether it decides anything still or not.
    pub async fn definition(&self, digest: Digest) -> Result<Option<Arc<Pipeline>>, Refusal> {
        let versions = self.pipelines().current();
        if let Some(known) = versions.by_digest(&digest) {
            return Ok(Some(known.clone()));
        }
        self.read(move |store| pipeline_of(store, &versions, &digest)).await
    }
}
