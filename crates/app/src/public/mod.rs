//! Public pages: what everybody may submit to, and what whoever holds a receipt is told.
//!
//! That a pipeline is public is a setting of the deployment and no key of its file: definitions are kept for ever and are part
//! of the log, and whether the world may use one is an operator's decision that changes from place to place.

mod expected;
mod receipt;
mod told;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Engine;
use model::admit::Application;
use model::json::Value;
use model::{Caller, Code, Json, Millis, Name, Refusal, Role, Time};
use serde_json::json;
use wire::api::SubmitBody;

use crate::{App, Submitting, Visitor};

pub use expected::{Expected, Flow};
pub use receipt::{ReceiptView, Step};
pub use told::told;

/// The time for which figures of the flow are good enough for everybody who asks meanwhile.
const FLOW_FOR: Millis = Millis::from_secs(15);

/// A pipeline that everybody may submit to, as the settings have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicPipeline {
    pub name: Name,
    /// The heading of its pages; `None`: the pipeline's title.
    pub title: Option<String>,
    /// Paragraphs over the form.
    pub intro: String,
    /// Paragraphs on the receipt.
    pub thanks: String,
    /// The fields of the payload that may be given, in their order; `None`: all.
    pub fields: Option<Vec<String>>,
    /// The words for states, where those of the pipeline are not for everybody.
    pub states: BTreeMap<Name, String>,
    /// The names in the metadata of moves that receipts show.
    pub metadata: Vec<Name>,
    /// Submissions a minute from one address.
    pub rate: u32,
    /// Submissions a minute from everybody together.
    pub rate_all: u32,
}

/// The public pipelines of a server.
#[derive(Debug, Default)]
pub struct PublicPages {
    pipelines: BTreeMap<Name, Arc<PublicPipeline>>,
    flow: Mutex<Option<(Time, Arc<Flow>)>>,
}

impl PublicPages {
    #[must_use]
    pub fn new(pipelines: impl IntoIterator<Item = PublicPipeline>) -> PublicPages {
        let named = pipelines.into_iter().map(|public| (public.name.clone(), Arc::new(public)));
        PublicPages { pipelines: named.collect(), flow: Mutex::default() }
    }

    /// Returns a pipeline that is public.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<PublicPipeline>> {
        self.pipelines.get(name)
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<PublicPipeline>> {
        self.pipelines.values()
    }

    /// Returns how submissions flowed lately. Read once for all who ask within a few seconds.
    pub async fn flow(&self, app: &App) -> Result<Arc<Flow>, Refusal> {
        let now = app.engine.now();
        let known = self.flow.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, flow)) = known.filter(|(at, _)| now.since(*at) < FLOW_FOR) {
            return Ok(flow);
        }
        let flow = Arc::new(Flow::of(&app.engine.flow().await?));
        *self.flow.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, flow.clone()));
        Ok(flow)
    }
}

impl PublicPipeline {
    /// Returns the application as anybody at this pipeline's pages has it: a submitter to it, and to nothing else.
    #[must_use]
    pub fn app(&self, engine: Engine) -> App {
        let caller = Caller::new(format!("public:{}", self.name), Role::Submitter);
        App::new(engine, Visitor::public(caller, vec![self.name.clone()]))
    }

    /// Refuses a payload with fields that are not asked for.
    fn check_fields(&self, payload: &Json) -> Result<(), Refusal> {
        let Some(fields) = &self.fields else { return Ok(()) };
        let Value::Object(members) = payload.value() else { return Ok(()) };
        let odd: Vec<&String> = members.keys().filter(|name| !fields.contains(name)).collect();
        let Some(first) = odd.first() else { return Ok(()) };
        let violation = |name: &&String| json!({ "path": format!("/{}", name.replace('~', "~0").replace('/', "~1")), "message": "this is not asked for here" });
        let message = format!("the payload has {}, which is not asked for here", crate::quote(first));
        let list: Vec<_> = odd.iter().map(violation).collect();
        Err(Refusal::new(Code::SchemaViolation, message).with("violations", list))
    }
}

impl App {
    /// Returns the schema of what is submitted to a pipeline, where it has one.
    pub fn payload_schema(&self, pipeline: &str) -> Result<Option<String>, Refusal> {
        let machine = self.machine(pipeline, None)?;
        Ok(machine.payload.as_ref().map(|schema| schema.source().to_owned()))
    }

    /// Tells whether somebody who submits has to say why.
    pub fn submitting_takes_a_reason(&self, pipeline: &str) -> Result<bool, Refusal> {
        Ok(self.machine(pipeline, None)?.start.iter().any(|edge| edge.reason))
    }

    /// Checks whether a payload would be taken, and submits nothing.
    pub async fn check_public(&self, public: &PublicPipeline, body: SubmitBody) -> Result<(), Refusal> {
        let name = self.check_submits_to(&public.name)?;
        public.check_fields(&body.payload)?;
        let SubmitBody { payload, key, priority, not_before, reason } = body;
        let (caller, door) = (self.visitor.caller.clone(), self.visitor.door());
        let application = Application { caller, payload, key, priority, not_before, reason, door };
        self.engine.check_application(&name, application).await
    }

    /// Submits what somebody brought to a public page, and returns the receipt. Where an open submission stands for it
    /// already nothing is given away: that one has a receipt, and whoever submitted it has that.
    pub async fn submit_public(
        &self,
        public: &PublicPipeline,
        body: SubmitBody,
        terms: Submitting,
    ) -> Result<String, Refusal> {
        public.check_fields(&body.payload)?;
        let made = self.submit(&public.name, body, terms).await?;
        match made.duplicate {
            true => Err(told::taken()),
            false => Ok(self.engine.receipts().receipt(&public.name, made.id)),
        }
    }

    /// Makes a key by which a form that is sent twice is known again.
    #[must_use]
    pub fn fresh_key(&self) -> String {
        engine::clock::fresh_id().to_string()
    }
}
