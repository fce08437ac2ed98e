//! Bringing definitions into force.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::pipelines::{Apply, Brought, Intent, Versions};
use model::pipeline::diff::diff;
use model::pipeline::{Problems, Source};
use model::view::file_problems;
use model::{Code, Json, Pipeline, Refusal};
use serde_json::json;
use wire::api::ApplyAnswer;

use crate::{App, Visitor, invalid, quote};

impl App {
    /// Refuses a pipeline that the visitor may not define: its definition concerns whoever's submissions are in it.
    pub fn check_defines(&self, pipeline: &str) -> Result<(), Refusal> {
        self.visitor.check_sees(pipeline)?;
        self.visitor.check_all_labels()
    }

    /// Brings the definition of the pipeline `name` into force, or says what that would change.
    pub async fn apply(
        &self,
        name: &str,
        source: &Source,
        intent: Intent,
        dry_run: bool,
    ) -> Result<ApplyAnswer, Refusal> {
        self.check_defines(name)?;
        if source.params.as_object().is_none() {
            return Err(invalid("`params` must be an object"));
        }
        let pipeline = checked(name, source).await?;
        let params = source.params.as_object().cloned().unwrap_or_default();
        let apply = Apply { pipeline, params, intent };
        check_reach(&self.engine.pipelines().current(), &self.visitor, &apply.pipeline)?;
        let brought = match dry_run {
            true => self.engine.pipelines().current().bring(&apply)?,
            false => {
                self.by().bring_loaded(apply).await.map_err(|refusal| unnamed(&self.visitor, refusal))?
            }
        };
        Ok(answer(&brought, dry_run))
    }
}

/// Refuses a definition by which a token would reach pipelines that it is not for: submissions made there as children, and
/// workers whose tasks have the same names.
fn check_reach(versions: &Versions, visitor: &Visitor, pipeline: &Pipeline) -> Result<(), Refusal> {
    pipeline.child().map_or(Ok(()), |child| visitor.check_sees(child))?;
    let theirs = |task: &str| {
        let others = versions.all().filter(|other| !visitor.sees(&other.name));
        others.flat_map(|other| versions.versions(&other.name)).any(|other| other.has_task(task))
    };
    match pipeline.tasks().find(|task| theirs(&task.name)) {
        None => Ok(()),
        Some(task) => Err(Refusal::new(
            Code::RoleRequired,
            format!(
                "a pipeline that this token is not for has the task {}; call it otherwise, or have an admin without a \
                 scope apply this",
                quote(&task.name)
            ),
        )),
    }
}

/// Returns a refusal without the name of a pipeline that a token may not know of.
fn unnamed(visitor: &Visitor, refusal: Refusal) -> Refusal {
    if refusal.code != Code::MetricTaken || visitor.is_unlimited() {
        return refusal;
    }
    let metric = refusal.details.get("metric").and_then(serde_json::Value::as_str).unwrap_or_default();
    let message = format!(
        "the metric {} takes a name that another pipeline has; call it something else",
        quote(metric)
    );
    Refusal { message, ..refusal }
}

fn answer(brought: &Brought, dry_run: bool) -> ApplyAnswer {
    let pipeline = &brought.pipeline;
    let before = brought.before.as_ref().filter(|_| brought.changed);
    let diff = before.map(|before| diff(before, pipeline)).unwrap_or_default();
    ApplyAnswer {
        name: pipeline.name.clone(),
        version: pipeline.version,
        revision: pipeline.revision,
        digest: pipeline.digest,
        params: set_params(pipeline),
        changed: brought.changed,
        dry_run,
        rolled_back: brought.is_rollback(),
        compared_to: before.map(|before| before.version),
        lost_states: diff.lost_states().to_vec(),
        diff: diff.differences,
    }
}

/// Returns the parameters that are set in place of their defaults.
pub(crate) fn set_params(pipeline: &Pipeline) -> BTreeMap<String, Json> {
    let set = pipeline.set_params.iter();
    set.map(|(name, value)| (name.clone(), Json::from_value(value))).collect()
}

/// Loads a file, which must be of the pipeline that is named: only a loaded one tells. Loading takes a thread of its own.
async fn checked(name: &str, source: &Source) -> Result<Arc<Pipeline>, Refusal> {
    let loading = source.clone();
    let loaded = tokio::task::spawn_blocking(move || model::pipeline::load(&loading)).await;
    let loaded =
        loaded.map_err(|_| Refusal::new(Code::Internal, "loading the file did not end as it should"))?;
    let pipeline = loaded.map_err(|problems| bad_definition(&problems, source))?;
    if &*pipeline.name != name {
        return Err(invalid(format!(
            "the file is of pipeline {}, the address of {}; put it to /v1/pipelines/{}",
            quote(&pipeline.name),
            quote(name),
            pipeline.name
        )));
    }
    Ok(Arc::new(pipeline))
}

fn bad_definition(problems: &Problems, source: &Source) -> Refusal {
    let list = file_problems(problems, source);
    Refusal::new(
        Code::InvalidDefinition,
        format!("the file has {} problems; none of it was applied", list.len()),
    )
    .with("problems", json!(list))
    .with("rendered", problems.render(source))
}
