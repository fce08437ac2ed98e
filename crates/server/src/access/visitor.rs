//! A caller who was let in, and what of everything is theirs to see.
//!
//! A token's scope is a filter that is always on: submissions of its pipelines that have all its labels. What is outside
//! is not there (404); asking for it by name is refused (403).

use std::collections::BTreeMap;

use engine::Engine;
use model::owed::DELIVERY;
use model::{Caller, Code, Name, Refusal, Role, Submission};

/// The name of whoever asks an open server.
pub(super) const LOCAL: &str = "local";

#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    /// The pipelines the token is for; `None` is all.
    pub(crate) pipelines: Option<Vec<Name>>,
    /// The labels a submission must have.
    pub(crate) labels: BTreeMap<Name, Name>,
    /// The name the token is registered under; none where nobody needs one.
    pub(crate) token: Option<Name>,
}

impl Visitor {
    /// The name a worker is recorded under. It calls itself what it likes, below the name its token gives it.
    pub(crate) fn worker(&self, called: String) -> Name {
        let subject = &self.caller.name;
        if self.token.is_none() && &**subject == LOCAL {
            called.into()
        } else {
            format!("{subject}/{called}").into()
        }
    }

    /// The engine, to be asked in the visitor's name and for no more than their part of what is bounded.
    pub(crate) fn asks(&self, engine: &Engine) -> Engine {
        let engine = engine.by(&self.caller);
        if self.is_owner() { engine } else { engine.sharing() }
    }

    /// Tells whether this is an admin for everything.
    pub(crate) fn is_owner(&self) -> bool {
        self.caller.role == Role::Admin && self.is_unlimited()
    }

    /// Tells whether everything there is may be seen.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.pipelines.is_none() && self.labels.is_empty()
    }

    pub(crate) fn sees(&self, pipeline: &str) -> bool {
        self.pipelines.as_ref().is_none_or(|list| list.iter().any(|name| &**name == pipeline))
    }

    pub(crate) fn sees_row(&self, row: &Submission) -> bool {
        self.sees_with(&row.pipeline, &row.labels)
    }

    pub(crate) fn sees_with(&self, pipeline: &str, labels: &BTreeMap<Name, Name>) -> bool {
        self.sees(pipeline) && self.covers(labels)
    }

    /// Tells whether these labels have all that the token's submissions must have.
    pub(crate) fn covers(&self, labels: &BTreeMap<Name, Name>) -> bool {
        self.labels.iter().all(|(label, value)| labels.get(label) == Some(value))
    }

    /// Tells whether a submission could have all these labels and all the token's.
    pub(crate) fn may_cover(&self, labels: &BTreeMap<Name, Name>) -> bool {
        self.labels.iter().all(|(label, value)| labels.get(label).is_none_or(|other| other == value))
    }

    pub(crate) fn check_sees(&self, pipeline: &str) -> Result<(), Refusal> {
        if self.sees(pipeline) { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// For what concerns whole pipelines, whoever's submissions are in them.
    pub(crate) fn check_all_labels(&self) -> Result<(), Refusal> {
        if self.labels.is_empty() { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// Brings a choice of pipelines within those the token is for; none chosen is all of them.
    pub(crate) fn narrow(&self, chosen: Vec<Name>) -> Result<Vec<Name>, Refusal> {
        match &self.pipelines {
            // To the engine, none is all: a token for none must not become one for all.
            Some(scope) if scope.is_empty() => Err(self.elsewhere()),
            Some(scope) if chosen.is_empty() => Ok(scope.clone()),
            _ if chosen.iter().all(|name| self.sees(name)) => Ok(chosen),
            _ => Err(self.elsewhere()),
        }
    }

    /// Tells whether messages may be sent by this caller, who then needs the whole address of each. A worker reads everybody's
    /// and speaks in the server's name, so its token has to be made for that.
    pub(crate) fn delivers(&self) -> bool {
        let is_for_it =
            self.pipelines.as_ref().is_some_and(|list| list.iter().any(|name| &**name == DELIVERY));
        self.token.is_none()
            || self.caller.role == Role::Admin
            || (self.caller.role == Role::Worker && is_for_it)
    }

    /// For the tasks that send messages.
    pub(crate) fn check_delivers(&self) -> Result<(), Refusal> {
        if self.delivers() {
            return Ok(());
        }
        let message = format!("sending messages takes a token that is made for the pipeline `{DELIVERY}`");
        Err(Refusal::new(Code::RoleRequired, message))
    }

    /// Adds the token's labels to those somebody looks for.
    pub(crate) fn narrow_labels(&self, labels: &mut BTreeMap<Name, Name>) -> Result<(), Refusal> {
        for (label, value) in &self.labels {
            if labels.get(label).is_some_and(|given| given != value) {
                return Err(self.elsewhere());
            }
            labels.insert(label.clone(), value.clone());
        }
        Ok(())
    }

    pub(crate) fn elsewhere(&self) -> Refusal {
        let pipelines: Vec<&str> = self.pipelines.iter().flatten().map(|name| &**name).collect();
        let labels: Vec<String> =
            self.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
        let message = match (&self.pipelines, labels.is_empty()) {
            (None, _) => format!("this token is for submissions with {} only", labels.join(", ")),
            (Some(_), true) => format!("this token is for the pipelines {} only", pipelines.join(", ")),
            (Some(_), false) => format!(
                "this token is for the pipelines {} and submissions with {} only",
                pipelines.join(", "),
                labels.join(", ")
            ),
        };
        Refusal::new(Code::RoleRequired, message).with("pipelines", pipelines).with("labels", labels)
    }
}
