//! Bringing a definition into force.

use model::{Code, Pipeline, Refusal};
use store::RegistryChange;

use super::batch::Batch;
use super::{Outcome, Output};
use crate::pipelines::definition_key;

impl Batch<'_> {
    pub(super) fn apply(&mut self, pipeline: &Pipeline) -> Outcome {
        let key = definition_key(&pipeline.name, pipeline.version);
        if let Some(stored) = self.taken.registry.get(&key) {
            if stored.as_str() == pipeline.definition.as_str() {
                return Ok(Output::Applied { changed: false });
            }
            return Err(Refusal::new(
                Code::VersionExists,
                format!(
                    "version {} of `{}` was applied with other contents; raise `version`",
                    pipeline.version, pipeline.name
                ),
            ));
        }
        if let Some(latest) = self.latest(&pipeline.name)
            && latest.version > pipeline.version
        {
            return Err(Refusal::new(
                Code::VersionOutdated,
                format!(
                    "version {} of `{}` is in force; raise `version` above it",
                    latest.version, pipeline.name
                ),
            ));
        }
        self.check_delivery(pipeline)?;
        self.check_metrics(pipeline)?;
        self.log_applied(pipeline)?;
        if self.by.is_some() {
            self.administered("pipeline-applied", &format!("{}@{}", pipeline.name, pipeline.version), &[]);
        }
        self.next_epoch();
        self.taken.registry.insert(key.clone(), pipeline.definition.clone());
        self.changes.registry.push(RegistryChange { key, body: Some(pipeline.definition.clone()) });
        Ok(Output::Applied { changed: true })
    }

    /// Metrics of all pipelines are told together: one must not take a name of another's.
    fn check_metrics(&self, pipeline: &Pipeline) -> Result<(), Refusal> {
        for other in self.versions().all().filter(|other| other.name != pipeline.name) {
            if let Some((name, taken)) = pipeline.metric_clash(other) {
                let message = format!(
                    "the metric `{name}` takes a name that `{taken}` of `{}` has already; call it something else",
                    other.name
                );
                return Err(Refusal::new(Code::MetricTaken, message).with("metric", &**name));
            }
        }
        Ok(())
    }
}
