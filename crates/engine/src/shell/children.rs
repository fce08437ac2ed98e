//! The children a worker wants made: checked against their pipeline before the store is asked.

use std::collections::HashSet;
use std::sync::Arc;

use model::admit::{Admission, Application, Door, admit};
use model::decide::CHILDREN_MAX;
use model::pipeline::{Kind, OnDuplicate};
use model::schema::Fuel;
use model::token::Bits;
use model::{
    Caller, Code, Digest, Json, LeaseToken, Name, Pipeline, Refusal, Role, Submission, SubmissionId, Time,
    Trace,
};

use super::Engine;
use crate::clock;

/// A submission to be made by another.
#[derive(Debug, Clone, Default)]
pub struct Child {
    pub payload: Json,
    pub key: Option<String>,
    pub priority: Option<i64>,
    pub not_before: Option<Time>,
    /// The child's name among its parent's children: the same name is the same child.
    pub name: Option<String>,
}

impl Child {
    /// Returns the child's name, or else its key, or else its place in the call and its payload: an exact repeat makes
    /// nothing twice.
    fn name(&self, index: usize) -> Name {
        match (&self.name, &self.key) {
            (Some(name), _) => format!("name:{name}").into(),
            (None, Some(key)) => format!("key:{key}").into(),
            (None, None) => format!("no:{index}:{}", Digest::of(self.payload.as_str().as_bytes())).into(),
        }
    }
}

impl Engine {
    /// Admits the children of a leased submission to the pipeline its state joins. The first that does not fit
    /// refuses them all, and is named.
    pub async fn admit_children(
        &self,
        token: LeaseToken,
        children: Vec<Child>,
    ) -> Result<Vec<Admission>, Refusal> {
        if children.is_empty() {
            return Ok(Vec::new());
        }
        if children.len() > CHILDREN_MAX {
            let message = format!("{} children in one call; send at most {CHILDREN_MAX}", children.len());
            return Err(Refusal::new(Code::TooLarge, message).with("max", CHILDREN_MAX));
        }
        let parent = token.submission;
        let first = SubmissionId::of_child(parent, &children[0].name(0));
        let found = self.read(move |store| Ok((store.submission(parent)?, store.submission(first)?))).await?;
        let (Some((row, _)), made) = found else {
            return Err(Refusal::new(Code::UnknownSubmission, format!("no submission {parent}")));
        };
        let pipeline = self.joined(&row, made.map(|(row, _)| row))?;
        let worker = row.lease().map_or("worker".into(), |lease| lease.worker.clone());
        let caller = Caller { name: worker.clone(), role: Role::Worker };
        let mut admitted = Admitted {
            pipeline,
            person: row.person().clone(),
            trace: row.trace,
            names: HashSet::new(),
            keys: HashSet::new(),
            list: Vec::new(),
            fuel: Fuel::whole(),
        };
        let admit = move || {
            for (index, child) in children.into_iter().enumerate() {
                let name = child.name(index);
                let application = Application {
                    caller: caller.clone(),
                    payload: child.payload,
                    key: child.key,
                    priority: child.priority,
                    not_before: child.not_before,
                    reason: None,
                    door: Door::Child(parent, name.clone()),
                };
                admitted.add(application, name).map_err(|refusal| blame(index, refusal))?;
            }
            Ok(admitted.list)
        };
        self.aside(&worker, admit).await?
    }

    /// The pipeline whose submissions a state makes. A repeat may come when its submission has left the state: then it
    /// is that of the child that was made.
    fn joined(&self, row: &Submission, made: Option<Submission>) -> Result<Arc<Pipeline>, Refusal> {
        let versions = self.pipelines().current();
        let own = versions.version(&row.pipeline, row.version);
        let state = own.and_then(|pipeline| pipeline.state(&row.state));
        let name = match state.map(|state| &state.kind) {
            Some(Kind::Join { child, .. }) => child.clone(),
            _ => match made {
                Some(child) => child.pipeline,
                None => {
                    let message = format!("state {} makes no children; only join states do", row.state);
                    return Err(Refusal::new(Code::InvalidRequest, message));
                }
            },
        };
        versions.in_force(&name).cloned().ok_or_else(|| {
            let message = format!("no pipeline `{name}`, of which the children would be; apply it first");
            Refusal::new(Code::UnknownPipeline, message)
        })
    }
}

struct Admitted {
    pipeline: Arc<Pipeline>,
    /// The person behind the parent.
    person: Name,
    /// Children are part of what their parent is part of.
    trace: Option<Trace>,
    names: HashSet<Name>,
    keys: HashSet<Name>,
    list: Vec<Admission>,
    /// The fuel for all children together.
    fuel: Fuel,
}

impl Admitted {
    fn add(&mut self, application: Application, name: Name) -> Result<(), Refusal> {
        let salt = Bits(clock::entropy());
        let admission = admit(&self.pipeline, application, &mut self.fuel)?;
        let admission = admission.on_behalf_of(self.person.clone()).traced(self.trace.clone()).sealed(salt);
        if !self.names.insert(name) {
            return Err(Refusal::new(Code::InvalidRequest, "an earlier child of the call has the same name"));
        }
        if let Some(key) = admission.key()
            && self.pipeline.on_duplicate != OnDuplicate::Queue
            && !self.keys.insert(key.clone())
        {
            return Err(Refusal::new(Code::DuplicateKey, "an earlier child of the call has the same key"));
        }
        self.list.push(admission);
        Ok(())
    }
}

fn blame(index: usize, refusal: Refusal) -> Refusal {
    Refusal { message: format!("child {index}: {}", refusal.message), ..refusal }.with("child", index)
}
