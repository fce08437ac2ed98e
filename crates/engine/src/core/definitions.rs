//! Bringing a definition into force, and letting go of one.

use model::{Code, Command, Name, Pipeline, Refusal};

use super::commit::Commit;
use super::{Output, Reply};
use crate::pipelines::{Apply, Brought, RetiredVersion, Versions, definition_key, past_key, retired_key};

impl<'a> Commit<'a> {
    pub(super) fn in_force(&self, name: &str) -> Option<&'a Pipeline> {
        self.versions().in_force(name).map(|pipeline| &**pipeline)
    }

    pub(super) fn apply(&mut self, apply: &Apply) -> Reply {
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
                self.put(&past_key(&past.digest), &past.definition);
            }
            self.put(&key, &pipeline.definition);
        }
        let mut definitions = self.definitions().clone();
        definitions.bring_in(pipeline.clone());
        self.brought = Some(definitions);
        Ok(())
    }

    /// Lets go of a version. That nothing follows it was looked at before; what began to meanwhile still finds it.
    pub(super) fn retire_version(&mut self, name: &Name, version: u32) -> Reply {
        let Some(pipeline) = self.definitions().retirable(name, version)?.cloned() else {
            return Ok(Output::Gone);
        };
        // The log names it for ever.
        self.put(&past_key(&pipeline.digest), &pipeline.definition);
        let retired = RetiredVersion::of(&pipeline);
        self.put(&retired_key(name, version), &retired);
        self.remove(&definition_key(name, version));
        self.next_epoch();
        self.administered(
            "pipeline-retired",
            &pipeline.label(),
            &[("definition", pipeline.digest.to_string())],
        );
        let mut definitions = self.definitions().clone();
        definitions.retire(name, version, retired);
        self.brought = Some(definitions);
        Ok(Output::Gone)
    }

    /// Checks that a submission may follow a version from here on, where that is what is asked.
    pub(super) fn check_followed(
        &self,
        pipeline: &str,
        version: u32,
        command: &Command,
    ) -> Result<(), Refusal> {
        match command {
            Command::Submit(_) if self.definitions().is_retired(pipeline, version) => {
                let message = format!(
                    "version {version} of `{pipeline}` was retired while this was on its way; try again"
                );
                Err(Refusal::new(Code::Unavailable, message))
            }
            Command::Migrate(migrate) if self.definitions().is_retired(pipeline, migrate.target.version) => {
                let message = format!("version {} of `{pipeline}` was retired", migrate.target.version);
                Err(Refusal::new(Code::UnknownVersion, message))
            }
            _ => Ok(()),
        }
    }

    /// A version that decides for a submission and is not at hand: a retired one will be when this is decided again.
    pub(super) fn not_loaded(&self, pipeline: &str, version: u32) -> Refusal {
        if self.versions().is_retired(pipeline, version) {
            self.missing.borrow_mut().insert((pipeline.into(), version));
        }
        Refusal::new(Code::Internal, format!("version {version} of `{pipeline}` is not loaded"))
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
