//! Receipts: what whoever holds one is told of the submission. States, titles and times; of a move's metadata what the
//! settings name; no actor, no document, no error and no id.

use std::collections::BTreeMap;

use model::event::Kind;
use model::json::Value;
use model::pipeline::Kind as StateKind;
use model::{Code, Json, Millis, Name, Pipeline, Refusal, Status, SubmissionId, Time};
use serde::Serialize;
use wire::api::{EventView, SubmissionView};

use super::{Expected, Flow, PublicPipeline};
use crate::App;

/// Events that are read at a time, and how often.
const EVENTS_PAGE: usize = 200;
const EVENTS_PAGES_MAX: usize = 10;
/// The last so many steps are shown.
const STEPS_MAX: usize = 50;
/// The most bytes of metadata that a step shows.
const METADATA_BYTES_MAX: usize = 2_000;

/// A submission, as its receipt shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReceiptView {
    pub pipeline: Name,
    /// The heading of the pipeline's pages.
    pub title: String,
    pub state: Name,
    /// The state in words.
    pub state_title: String,
    /// `open` until it has ended.
    pub status: Status,
    pub submitted_at: Time,
    pub entered_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// The states it has been in, the first one first.
    pub history: Vec<Step>,
    /// The steps before those.
    pub earlier: usize,
    /// The time it still takes, as far as others show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

/// A move, as a receipt shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    pub at: Time,
    pub state: Name,
    pub title: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<Name, Json>,
}

impl App {
    /// Shows what a receipt is for. A receipt that this deployment did not make, and one of what is gone, is nothing.
    pub async fn receipt(
        &self,
        public: &PublicPipeline,
        receipt: &str,
        flow: &Flow,
    ) -> Result<ReceiptView, Refusal> {
        let missing = || Refusal::new(Code::UnknownRoute, "there is nothing at this address");
        let id = self.engine.receipts().read(&public.name, receipt).ok_or_else(missing)?;
        let view = self.show(id).await.map_err(|refusal| match refusal.code {
            Code::UnknownSubmission | Code::Refused => missing(),
            _ => refusal,
        })?;
        let machine = self
            .machine(&view.pipeline, Some(view.version))
            .or_else(|_| self.machine(&view.pipeline, None))?;
        let steps = self.steps(id, (public, &machine)).await?;
        let earlier = steps.len().saturating_sub(STEPS_MAX);
        Ok(ReceiptView {
            title: public.title.clone().unwrap_or_else(|| machine.title.clone()),
            state_title: words(public, &machine, &view.state),
            // That something stopped is for those who run the pipeline: to its submitter it is under way.
            status: if view.status == Status::Dead { Status::Open } else { view.status },
            submitted_at: view.created_at,
            entered_at: view.entered_at,
            finished_at: view.finished_at,
            history: steps.into_iter().skip(earlier).collect(),
            earlier,
            expected: self.expected(&view, &machine, flow),
            pipeline: view.pipeline,
            state: view.state,
        })
    }

    fn expected(&self, view: &SubmissionView, machine: &Pipeline, flow: &Flow) -> Option<Expected> {
        if view.status != Status::Open || !view.holds.is_empty() {
            return None;
        }
        let waited: Millis = self.engine.now().since(view.entered_at);
        let ends = |state: &str| {
            machine.state(state).is_some_and(|state| matches!(state.kind, StateKind::Final { .. }))
        };
        flow.expected(&view.pipeline, (&view.state, waited), ends)
    }

    async fn steps(
        &self,
        id: SubmissionId,
        (public, machine): (&PublicPipeline, &Pipeline),
    ) -> Result<Vec<Step>, Refusal> {
        let (mut steps, mut after) = (Vec::new(), 0);
        for _ in 0..EVENTS_PAGES_MAX {
            let page = self.events(id, after, EVENTS_PAGE).await?;
            let moves =
                page.events.iter().filter(|event| matches!(event.kind, Kind::Submitted | Kind::Moved));
            steps.extend(moves.map(|event| step(public, machine, event)));
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        Ok(steps)
    }
}

fn step(public: &PublicPipeline, machine: &Pipeline, event: &EventView) -> Step {
    Step {
        at: event.at,
        state: event.to.clone(),
        title: words(public, machine, &event.to),
        metadata: event.metadata.as_ref().map(|metadata| shown(public, metadata)).unwrap_or_default(),
    }
}

/// Returns what the settings let everybody see of a move's metadata.
fn shown(public: &PublicPipeline, metadata: &Json) -> BTreeMap<Name, Json> {
    let Value::Object(members) = metadata.value() else { return BTreeMap::new() };
    let value = |name: &Name| {
        let json = Json::from_value(members.get(&**name)?);
        (json.as_str().len() <= METADATA_BYTES_MAX).then(|| (name.clone(), json))
    };
    public.metadata.iter().filter_map(value).collect()
}

/// Returns a state in words: those of the settings, else its title, else its name as a person would say it.
fn words(public: &PublicPipeline, machine: &Pipeline, state: &str) -> String {
    let title = || machine.state(state).and_then(|state| state.title.clone());
    public.states.get(state).cloned().or_else(title).unwrap_or_else(|| spoken(state))
}

fn spoken(name: &str) -> String {
    let words = name.replace(['_', '-', '.'], " ").to_lowercase();
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
