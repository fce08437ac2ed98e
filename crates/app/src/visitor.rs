//! A caller who was let in, and what of everything is theirs to see.
//!
//! A token's scope is a filter that is always on: submissions of its pipelines that have all its labels. What is outside
//! is not there (404); asking for it by name is refused (403).

use std::collections::BTreeMap;

use model::admit::Door;
use model::owed::DELIVERY;
use model::{Caller, Code, Name, Refusal, Role, Submission};

/// The name of whoever asks an open server.
pub const LOCAL: &str = "local";

/// A caller and the part of everything that is theirs.
#[derive(Debug, Clone)]
pub struct Visitor {
    pub caller: Caller,
    /// The pipelines the token is for; `None` is all.
    pub pipelines: Option<Vec<Name>>,
    /// The labels a submission must have.
    pub labels: BTreeMap<Name, Name>,
    pub entry: Entry,
}

/// The way by which a visitor came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A server without tokens, which is open to its own machine.
    Open,
    /// A token, by the name it is registered under.
    Token(Name),
    /// The server's own process: a part of the program, under a name that no token can have.
    Inside,
    /// The same for anybody who comes to a public address of a system: nobody has shown anything.
    Public,
}

impl Entry {
    /// Returns the token by which a visitor came in, as it is registered.
    #[must_use]
    pub fn token(&self) -> Option<&Name> {
        match self {
            Entry::Token(name) => Some(name),
            Entry::Open | Entry::Inside | Entry::Public => None,
        }
    }
}

impl Visitor {
    /// Returns a part of the program that asks in its own name, for these pipelines.
    #[must_use]
    pub fn inside(caller: Caller, pipelines: Option<Vec<Name>>) -> Visitor {
        Visitor { caller, pipelines, labels: BTreeMap::new(), entry: Entry::Inside }
    }

    /// Returns anybody who comes to a public address of a part of the program.
    #[must_use]
    pub fn public(caller: Caller, pipelines: Vec<Name>) -> Visitor {
        Visitor { entry: Entry::Public, ..Visitor::inside(caller, Some(pipelines)) }
    }

    /// Returns the way by which submissions of this visitor come in.
    #[must_use]
    pub fn door(&self) -> Door {
        match self.entry {
            Entry::Public => Door::Form,
            Entry::Open | Entry::Token(_) | Entry::Inside => Door::Api,
        }
    }

    /// Returns the name under which what this visitor does is counted and recorded; none on an open server, where nobody
    /// can be told from anybody else.
    #[must_use]
    pub fn subject(&self) -> Option<&Name> {
        (self.entry != Entry::Open).then_some(&self.caller.name)
    }

    /// Returns the name a worker is recorded under. It calls itself what it likes, below the name its token gives it.
    #[must_use]
    pub fn worker(&self, called: String) -> Name {
        let subject = &self.caller.name;
        if self.entry == Entry::Open && &**subject == LOCAL {
            called.into()
        } else {
            format!("{subject}/{called}").into()
        }
    }

    /// Tells whether this is an admin for everything.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        self.caller.role == Role::Admin && self.is_unlimited()
    }

    /// Tells whether everything there is may be seen.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.pipelines.is_none() && self.labels.is_empty()
    }

    /// Tells whether submissions of a pipeline may be seen, some of them at least.
    #[must_use]
    pub fn sees(&self, pipeline: &str) -> bool {
        self.pipelines.as_ref().is_none_or(|list| list.iter().any(|name| &**name == pipeline))
    }

    /// Tells whether a submission may be seen.
    #[must_use]
    pub fn sees_row(&self, row: &Submission) -> bool {
        self.sees_with(&row.pipeline, &row.labels)
    }

    /// Tells whether a submission of a pipeline with these labels may be seen.
    #[must_use]
    pub fn sees_with(&self, pipeline: &str, labels: &BTreeMap<Name, Name>) -> bool {
        self.sees(pipeline) && self.covers(labels)
    }

    /// Tells whether these labels have all that the token's submissions must have.
    #[must_use]
    pub fn covers(&self, labels: &BTreeMap<Name, Name>) -> bool {
        self.labels.iter().all(|(label, value)| labels.get(label) == Some(value))
    }

    /// Tells whether a submission could have all these labels and all the token's.
    #[must_use]
    pub fn may_cover(&self, labels: &BTreeMap<Name, Name>) -> bool {
        self.labels.iter().all(|(label, value)| labels.get(label).is_none_or(|other| other == value))
    }

    /// Refuses a pipeline that is not the visitor's.
    pub fn check_sees(&self, pipeline: &str) -> Result<(), Refusal> {
        if self.sees(pipeline) { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// Refuses a visitor with labels what concerns whole pipelines, whoever's submissions are in them.
    pub fn check_all_labels(&self) -> Result<(), Refusal> {
        if self.labels.is_empty() { Ok(()) } else { Err(self.elsewhere()) }
    }

    /// Brings a choice of pipelines within those the token is for; none chosen is all of them.
    pub fn narrow(&self, chosen: Vec<Name>) -> Result<Vec<Name>, Refusal> {
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
    #[must_use]
    pub fn delivers(&self) -> bool {
        let is_for_it =
            self.pipelines.as_ref().is_some_and(|list| list.iter().any(|name| &**name == DELIVERY));
        self.entry == Entry::Open
            || self.caller.role == Role::Admin
            || (self.caller.role == Role::Worker && is_for_it)
    }

    /// Refuses the tasks that send messages to whoever may not send.
    pub fn check_delivers(&self) -> Result<(), Refusal> {
        if self.delivers() {
            return Ok(());
        }
        let message = format!("sending messages takes a token that is made for the pipeline `{DELIVERY}`");
        Err(Refusal::new(Code::RoleRequired, message))
    }

    /// Adds the token's labels to those somebody looks for.
    pub fn narrow_labels(&self, labels: &mut BTreeMap<Name, Name>) -> Result<(), Refusal> {
        for (label, value) in &self.labels {
            if labels.get(label).is_some_and(|given| given != value) {
                return Err(self.elsewhere());
            }
            labels.insert(label.clone(), value.clone());
        }
        Ok(())
    }

    /// Makes the refusal of what is outside of the visitor's scope.
    #[must_use]
    pub fn elsewhere(&self) -> Refusal {
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
