//! The door: everything about a new submission that can be checked before the store is asked.
//!
//! Runs outside any transaction, because it is the costly part: the schema, the key, the labels and the way in are
//! functions of the payload and the pipeline alone. The schema takes as long as its fuel lasts.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use serde_json::json;

use crate::Name;
use crate::actor::Caller;
use crate::derive::Derivation;
use crate::digest::Digest;
use crate::expr::GuardError;
use crate::json::{Json, Value};
use crate::owed::DELIVERY;
use crate::pipeline::{Edge, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::role::Role;
use crate::schema::{Fuel, Misfit};
use crate::submission::{Seat, SubmissionId};
use crate::time::Time;
use crate::token::Bits;
use crate::trace::Trace;

/// A key or label longer than this is a document in the wrong place.
pub const KEY_BYTES_MAX: usize = 512;
pub const REASON_BYTES_MAX: usize = 4_000;
/// A payload, an output, a result.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Far beyond any sensible priority, and small enough that ranks never overflow.
pub const PRIORITY_MAX: i64 = 1_000_000;

/// An application: what somebody wants submitted.
#[derive(Debug, Clone)]
pub struct Application {
    pub caller: Caller,
    pub payload: Json,
    pub key: Option<String>,
    pub priority: Option<i64>,
    pub not_before: Option<Time>,
    pub reason: Option<String>,
    pub door: Door,
}

/// The way by which an application comes in. Guards of `start` see its name as `door`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Door {
    /// Asked for with a token, or on a server that is open to its own machine.
    Api,
    /// Asked for by anybody, at a public address of a system.
    Form,
    /// Made by the submission, under this name among its children.
    Child(SubmissionId, Name),
    /// Made by the clock.
    Schedule,
    /// Put into the database in a transaction of somebody's own.
    Sql,
}

impl Door {
    /// The names that guards compare with.
    pub const NAMES: [&str; 5] = ["api", "form", "child", "schedule", "sql"];

    #[must_use]
    pub fn as_str(&self) -> &'static str {
        let [api, form, child, schedule, sql] = Door::NAMES;
        match self {
            Door::Api => api,
            Door::Form => form,
            Door::Child(..) => child,
            Door::Schedule => schedule,
            Door::Sql => sql,
        }
    }

    /// Returns the submission that makes this one.
    #[must_use]
    pub fn parent(&self) -> Option<SubmissionId> {
        match self {
            Door::Child(parent, _) => Some(*parent),
            _ => None,
        }
    }
}

/// An application that fits its pipeline. Only `admit` makes one.
#[derive(Debug, Clone)]
pub struct Admission {
    pub(crate) application: Application,
    pub(crate) pipeline: Name,
    pub(crate) version: u32,
    pub(crate) key: Option<Name>,
    pub(crate) is_compared: bool,
    pub(crate) labels: BTreeMap<Name, Name>,
    /// The submission's place in the pipeline's lane, before anybody looked whether the lane is free.
    pub(crate) seat: Option<Seat>,
    /// The index of the start edge of the pipeline that the submission takes.
    pub(crate) edge: usize,
    /// A child that is there already: its maker repeats itself.
    pub(crate) made: bool,
    /// The place of a child in its queue, where it begins in one.
    pub(crate) queued_at: Option<Time>,
    /// The id it was promised, where its sender did not wait for one.
    pub(crate) promised: Option<SubmissionId>,
    /// The trace the submission is part of, as far as its sender said.
    pub(crate) trace: Option<Trace>,
    /// The person who submitted the first of its parents, if it is a child.
    pub(crate) on_behalf_of: Option<Name>,
    /// Set if a schedule makes the submission, and nobody else.
    pub(crate) by_clock: bool,
    /// The payload's digest, where it was made ready for the log at the door.
    pub(crate) sealed: Option<Sealed>,
}

/// The digest of a document, and what it was salted with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed {
    pub(crate) salt: Bits,
    pub(crate) digest: Digest,
}

impl Sealed {
    pub(crate) fn of(document: &Json, salt: Bits) -> Self {
        Sealed { salt, digest: Digest::salted(salt, document.as_str()) }
    }
}

impl Admission {
    #[must_use]
    pub fn pipeline(&self) -> &Name {
        &self.pipeline
    }

    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    #[must_use]
    pub fn key(&self) -> Option<&Name> {
        self.key.as_ref()
    }

    /// Tells whether its payload has to be compared with that of an open submission with its key, if there is one.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.is_compared
    }

    #[must_use]
    pub fn payload(&self) -> &Json {
        &self.application.payload
    }

    /// Makes it the machine's own: the event of a scheduled submission shows nobody.
    #[must_use]
    pub fn by_clock(mut self) -> Self {
        self.by_clock = true;
        self
    }

    /// Gives it this id: whoever sent it knows it already.
    #[must_use]
    pub fn promised(mut self, id: SubmissionId) -> Self {
        self.promised = Some(id);
        self
    }

    /// Makes the submission part of this trace.
    #[must_use]
    pub fn traced(mut self, trace: Option<Trace>) -> Self {
        self.trace = trace;
        self
    }

    /// Makes the submission count as this person's, too: a child is that of whoever submitted its parent.
    #[must_use]
    pub fn on_behalf_of(mut self, person: Name) -> Self {
        self.on_behalf_of = Some(person);
        self
    }

    /// Digests its payload here and not where it is decided, with a salt nobody can guess: that takes the longer the
    /// larger it is, and others wait there.
    #[must_use]
    pub fn sealed(mut self, salt: Bits) -> Self {
        self.sealed = Some(Sealed::of(&self.application.payload, salt));
        self
    }

    /// The id it must have, where its parent has named it.
    #[must_use]
    pub fn child_id(&self) -> Option<SubmissionId> {
        match &self.application.door {
            Door::Child(parent, name) => Some(SubmissionId::of_child(*parent, name)),
            _ => None,
        }
    }

    #[must_use]
    pub fn labels(&self) -> &BTreeMap<Name, Name> {
        &self.labels
    }

    /// Says that the child it would make is there.
    pub fn mark_made(&mut self) {
        self.made = true;
    }

    #[must_use]
    pub fn is_made(&self) -> bool {
        self.made
    }

    /// The lane it will stand in.
    #[must_use]
    pub fn lane(&self) -> Option<&Name> {
        self.seat.as_ref().map(|seat| &seat.lane)
    }

    /// The text that those who come to its lane at the same time are ordered by.
    #[must_use]
    pub fn tie_order(&self) -> Option<&Name> {
        self.seat.as_ref().map(Seat::tie_order)
    }
}

/// The proof that an application has been checked: `enter` takes it in.
#[derive(Debug)]
pub struct Checked(());

/// Checks an application against a pipeline, and takes it in. Messages to the outside are the engine's own: nobody
/// submits one.
pub fn admit(
    pipeline: &Pipeline,
    mut application: Application,
    fuel: &mut Fuel,
) -> Result<Admission, Refusal> {
    let checked = check(pipeline, &mut application, fuel)?;
    enter(pipeline, application, checked)
}

/// Checks all of an application that takes the longer the larger it is, and brings its payload into the normal form that
/// the pipeline's system has for it. Where the fuel is not enough, the refusal's code is `too-complex`, and the application
/// may be checked once more.
pub fn check(
    pipeline: &Pipeline,
    application: &mut Application,
    fuel: &mut Fuel,
) -> Result<Checked, Refusal> {
    if &*pipeline.name == DELIVERY {
        let message = format!(
            "nobody submits to `{DELIVERY}`; a pipeline that declares `notify` has messages sent, and \
             `milepost deliveries replay` sends one again"
        );
        return Err(Refusal::new(Code::Reserved, message));
    }
    check_any(pipeline, application, fuel)
}

/// Checks an application that may be a message to the outside: one of the engine's own, or one that is sent again.
pub fn admit_any(
    pipeline: &Pipeline,
    mut application: Application,
    fuel: &mut Fuel,
) -> Result<Admission, Refusal> {
    let checked = check_any(pipeline, &mut application, fuel)?;
    enter(pipeline, application, checked)
}

fn check_any(
    pipeline: &Pipeline,
    application: &mut Application,
    fuel: &mut Fuel,
) -> Result<Checked, Refusal> {
    check_bounds(application)?;
    check_priority(pipeline, application)?;
    check_schema(pipeline, application, fuel)?;
    let normal = match &pipeline.payload_check {
        Some(check) => check.run(&application.payload)?,
        None => None,
    };
    if let Some(normal) = normal {
        application.payload = normal;
        check_bounds(application)?;
        check_schema(pipeline, application, fuel)?;
    }
    Ok(Checked(()))
}

fn check_schema(pipeline: &Pipeline, application: &Application, fuel: &mut Fuel) -> Result<(), Refusal> {
    let Some(schema) = &pipeline.payload else { return Ok(()) };
    schema.check(&application.payload, fuel).map_err(|misfit| schema_refusal("the payload", &misfit))
}

/// Takes in an application that was checked against this pipeline.
pub fn enter(
    pipeline: &Pipeline,
    application: Application,
    Checked(()): Checked,
) -> Result<Admission, Refusal> {
    let text = application.payload.clone();
    let payload = LazyCell::new(|| text.value());
    let value = || &*payload;
    let mut derived = Derivation::new(pipeline, &value);
    let labels = derived.labels()?;
    let key = derived.key(application.key.as_deref())?;
    let seat = derived.seat()?;
    let edge = way_in(pipeline, &derived, &application)?;
    Ok(Admission {
        pipeline: pipeline.name.clone(),
        version: pipeline.version,
        application,
        is_compared: key.is_some() && pipeline.on_duplicate.compares(),
        key,
        labels,
        seat,
        edge,
        made: false,
        queued_at: None,
        promised: None,
        trace: None,
        on_behalf_of: None,
        by_clock: false,
        sealed: None,
    })
}

fn check_bounds(application: &Application) -> Result<(), Refusal> {
    let over = |what: &str, max: usize| {
        Refusal::new(Code::TooLarge, format!("{what} is over {max} bytes")).with("max_bytes", max)
    };
    if application.payload.as_str().len() > DOCUMENT_BYTES_MAX {
        return Err(over("the payload", DOCUMENT_BYTES_MAX));
    }
    check_reason(application.reason.as_deref())?;
    match application.priority {
        Some(priority) if !(-PRIORITY_MAX..=PRIORITY_MAX).contains(&priority) => Err(Refusal::new(
            Code::InvalidRequest,
            format!("priority must be between -{PRIORITY_MAX} and {PRIORITY_MAX}"),
        )),
        _ => Ok(()),
    }
}

/// Whoever may choose its own place in a queue chooses the first.
fn check_priority(pipeline: &Pipeline, application: &Application) -> Result<(), Refusal> {
    if application.priority.is_none() || pipeline.priority.may_be_set_by(application.caller.role) {
        return Ok(());
    }
    let mut roles = pipeline.priority.set_by.clone();
    roles.push(Role::Admin);
    let names: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
    let message = format!(
        "setting a priority in pipeline `{}` needs the role {}; leave `priority` out",
        pipeline.name,
        names.join(" or ")
    );
    Err(Refusal::new(Code::RoleRequired, message).with("role", names[0]))
}

pub fn check_reason(reason: Option<&str>) -> Result<(), Refusal> {
    match reason {
        Some(reason) if reason.len() > REASON_BYTES_MAX => {
            Err(Refusal::new(Code::TooLarge, format!("the reason is over {REASON_BYTES_MAX} bytes")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn schema_refusal(what: &str, misfit: &Misfit) -> Refusal {
    let Misfit::Violations(violations) = misfit else {
        let message = format!(
            "{what} takes too long to check against its schema; send less at a time, or have the schema \
             combine fewer parts by `anyOf`, `oneOf` and `$ref`"
        );
        return Refusal::new(Code::TooComplex, message);
    };
    let list: Vec<_> = violations.iter().map(|v| json!({ "path": v.path, "message": v.message })).collect();
    let first = violations.first().map_or(String::new(), |v| {
        if v.path.is_empty() {
            format!(": {}", v.message)
        } else {
            format!(": {} at `{}`", v.message, v.path)
        }
    });
    Refusal::new(Code::SchemaViolation, format!("{what} does not fit its schema{first}"))
        .with("violations", list)
}

pub(crate) fn guard_refusal(error: &GuardError) -> Refusal {
    Refusal::new(Code::GuardError, error.message.clone())
}

/// The first start edge whose guard holds; then its role and reason are asked for, never the next edge's.
fn way_in(
    pipeline: &Pipeline,
    derived: &Derivation<'_>,
    application: &Application,
) -> Result<usize, Refusal> {
    let door = Value::from(application.door.as_str());
    for (index, edge) in pipeline.start.iter().enumerate() {
        let holds = match &edge.when {
            None => true,
            Some(guard) => guard
                .eval_bool(&derived.scope().with("door", &door))
                .map_err(|error| guard_refusal(&error))?,
        };
        if holds {
            check_right(edge, application)?;
            return Ok(index);
        }
    }
    Err(Refusal::new(
        Code::NotAdmitted,
        format!("no way into pipeline `{}` fits this payload; see its `start`", pipeline.name),
    ))
}

fn check_right(edge: &Edge, application: &Application) -> Result<(), Refusal> {
    if let Some(role) = edge.role
        && !application.caller.role.covers(role)
    {
        return Err(Refusal::new(Code::RoleRequired, format!("submitting this needs the role {role}"))
            .with("role", role.as_str()));
    }
    if edge.reason && application.reason.as_deref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(Refusal::new(Code::ReasonRequired, "submitting this needs a reason"));
    }
    Ok(())
}
