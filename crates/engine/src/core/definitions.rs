//! Bringing a definition into force.

use std::sync::Arc;

use model::{Code, Pipeline, Refusal};

use super::batch::Batch;
use super::{Outcome, Output};
use crate::pipelines::{Apply, Brought, Versions, definition_key, past_key};

impl<'a> Batch<'a> {
    pub(super) fn version(&self, name: &str, version: u32) -> Option<&'a Arc<Pipeline>> {
        self.versions().version(name, version)
    }

    pub(super) fn in_force(&self, name: &str) -> Option<&'a Pipeline> {
        self.versions().in_force(name).map(|pipeline| &**pipeline)
    }

    pub(super) fn apply(&mut self, apply: &Apply) -> Outcome {
        let brought = self.definitions().bring(apply)?;
        if brought.changed {
            self.bring(&brought)?;
        }
        Ok(Output::Applied(Box::new(brought)))
    }

    fn bring(&mut self, brought: &Brought) -> Result<(), Refusal> {
        let pipeline = &brought.pipeline;
        self.check_delivery(pipeline)?;
        self.check_metrics(pipeline)?;
        self.log_applied(pipeline)?;
        if self.by.is_some() {
            self.record_applied(brought);
        }
        self.next_epoch();
        if brought.new {
            let key = definition_key(&pipeline.name, pipeline.version);
            // The log names what was in force until now for ever.
            if let Some(past) = self.definitions().version(&pipeline.name, pipeline.version).cloned() {
                self.put_json(past_key(&past.digest), past.definition.clone());
            }
            self.put_json(key, pipeline.definition.clone());
        }
        let mut definitions = self.definitions().clone();
        definitions.bring_in(pipeline.clone());
        self.brought = Some(definitions);
        Ok(())
    }

    fn record_applied(&mut self, brought: &Brought) {
        let pipeline = &brought.pipeline;
        let before = brought.before.as_ref().filter(|before| before.label() != pipeline.label());
        let same = brought.before.as_ref().is_some_and(|before| before.version == pipeline.version);
        let deed = match (same, brought.is_rollback()) {
            (true, _) => "pipeline-parameters-set",
            (false, true) => "pipeline-rolled-back",
            (false, false) => "pipeline-applied",
        };
        let mut detail: Vec<(&'static str, String)> = Vec::new();
        detail.extend(before.map(|before| ("before", before.label())));
        if !pipeline.set_params.is_empty() {
            let names: Vec<&str> = pipeline.set_params.keys().map(String::as_str).collect();
            detail.push(("parameters", names.join(", ")));
        }
        self.administered(deed, &pipeline.label(), &detail);
    }

    /// The definitions as this batch has left them so far. Submissions are decided by those it began with.
    pub(super) fn definitions(&self) -> &Versions {
        self.brought.as_ref().unwrap_or(self.versions())
    }

    /// Metrics of all pipelines are told together: one must not take a name of another's.
    fn check_metrics(&self, pipeline: &Pipeline) -> Result<(), Refusal> {
        for other in self.definitions().all().filter(|other| other.name != pipeline.name) {
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
