//! Explains every reason a submission is not moving, as data and as a sentence.
//!
//! A function of the row, its pipeline and what surrounds it, so that a console, a command and a simulation say the
//! same. It never gives nothing: whatever is open waits for something.

pub(crate) mod guards;

use serde_json::{Map, Value, json};
use wire::api::{Held, Reason};

use crate::Name;
use crate::pipeline::{Holds, Kind, Pipeline, State, Times};
use crate::submission::{
    Cause, Documents, Failure, Investigation, Lease, SlaClock, Status, Submission, SubmissionId, Wait,
};
use crate::time::{Millis, Time};

/// The surroundings of a submission: what the row itself does not tell.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub now: Time,
    /// Every hold that covers it.
    pub holds: Vec<Held>,
    /// The state of the submission's lane, where it is in line.
    pub line: Option<LanePlace>,
    /// The submission that has the key this one waits for.
    pub key_holder: Option<Other<SubmissionId>>,
    /// The time since a worker last asked for the submission's task; none: not since the server started.
    pub polled_ago: Option<Millis>,
    /// Messages about it that have not got out, the newest first: dead, or failing.
    pub unsent: Vec<Submission>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePlace {
    /// From 1; none when it is not among those that were looked at.
    pub position: Option<usize>,
    pub holder: Option<Other<Holder>>,
}

/// Another submission, as far as whoever asks may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Other<T> {
    Seen(T),
    Unseen,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub id: SubmissionId,
    pub state: Name,
    pub status: Status,
}

/// Every reason a submission is where it is, what stops it before what it waits for. `pipeline` is the version the
/// row is pinned to; without documents, guards are told but not tried.
#[must_use]
pub fn why(
    pipeline: &Pipeline,
    row: &Submission,
    documents: Option<&Documents>,
    around: &Surroundings,
) -> Vec<Reason> {
    let look = Look { pipeline, state: pipeline.known(&row.state), row, around };
    let mut reasons = look.holds();
    reasons.push(match &row.wait {
        Wait::Worker { task, rank } => look.worker(task, *rank),
        Wait::Lease(lease) => look.leased(lease),
        Wait::Delay { until, cause: Cause::Retry } => look.retry(*until),
        Wait::Delay { until, cause: Cause::Snooze } => {
            look.timed("snoozed", *until, "its worker said \"not yet\"")
        }
        Wait::Delay { until, cause: Cause::NotBefore } => {
            look.timed("not-before", *until, "it was submitted for later")
        }
        Wait::Clock { until } => look.timed("clock", *until, &format!("state {} waits", row.state)),
        Wait::Line => look.line(),
        Wait::Key => look.key(),
        Wait::Children => look.children(),
        Wait::Person => look.person(),
        Wait::Guard => guards::reason(pipeline, row, documents, !around.holds.is_empty()),
        Wait::Redrive => look.dead(),
        Wait::Nothing => look.ended(),
    });
    reasons.extend(look.assigned());
    reasons.extend(look.requested());
    reasons.extend(look.late());
    reasons.extend(look.investigated());
    reasons.extend(look.unsent());
    reasons
}

struct Look<'a> {
    pipeline: &'a Pipeline,
    state: &'a State,
    row: &'a Submission,
    around: &'a Surroundings,
}

impl Look<'_> {
    /// The holds that stop it: of what it waits for, they stop leases, wakes and turns in a lane.
    fn holds(&self) -> Vec<Reason> {
        let stoppable = matches!(
            self.row.wait,
            Wait::Worker { .. } | Wait::Delay { .. } | Wait::Clock { .. } | Wait::Line
        );
        if !stoppable || self.pipeline.holds == Holds::Route {
            return Vec::new();
        }
        let limit = self.pipeline.limit_that_parks(self.row);
        let parked = self.row.parked.as_ref().filter(|_| limit.is_none());
        let mut reasons: Vec<_> =
            self.around.holds.iter().map(|hold| held(hold, parked == Some(&hold.id))).collect();
        if let Some(parked) =
            parked.filter(|parked| !self.around.holds.iter().any(|hold| hold.id == **parked))
        {
            let sentence =
                format!("it was set aside by {parked}, which is over; it goes back to its queue in a moment");
            reasons.push(reason("parked", sentence, json!({ "parked": parked })));
        }
        reasons.extend(limit.map(|(label, value, most)| {
            let sentence = format!("{most} with {label} {value} are with workers, which is the limit");
            reason("limit", sentence, json!({ "label": label, "value": value, "limit": most }))
        }));
        reasons
    }

    fn worker(&self, task: &Name, place: i64) -> Reason {
        let since = self.pipeline.ageing.ready_at(place, self.row.priority);
        let polled = match self.around.polled_ago {
            None => "no worker has asked for it since the server started".to_owned(),
            Some(ago) => format!("a worker last asked for it {ago} ago"),
        };
        let given_back = self.row.given_back.times;
        let handed = match given_back {
            0 => String::new(),
            1 => "; a worker that stopped gave it back".to_owned(),
            times => format!("; workers that stopped gave it back {times} times"),
        };
        let sentence = format!("it waits for a worker of task {task} since {since}; {polled}{handed}");
        let details = json!({
            "task": task, "since": since, "attempt": self.row.attempt, "crashes": self.row.crashes,
            "given_back": given_back, "polled_ago": self.around.polled_ago,
        });
        reason("worker", sentence, details)
    }

    fn leased(&self, lease: &Lease) -> Reason {
        let Lease { task, worker, granted_at, expires_at, times_out_at, progress, .. } = lease;
        let late = if *expires_at <= self.around.now { ", which is over: it will be taken back" } else { "" };
        let far = progress.as_ref().map(|progress| format!("; it has come to {progress}"));
        let sentence = format!(
            "worker {worker} has task {task} since {granted_at}, until {expires_at}{late}{}",
            far.unwrap_or_default()
        );
        let details = json!({
            "task": task, "worker": worker, "granted_at": granted_at, "expires_at": expires_at,
            "times_out_at": times_out_at, "attempt": self.row.attempt, "progress": progress,
        });
        reason("leased", sentence, details)
    }

    fn retry(&self, until: Time) -> Reason {
        let task = self.pipeline.wanted_task(self.row);
        let code = self.row.error.as_ref().map_or("", |error| &error.code);
        let (counted, rule) = task.retry.rule_for(code);
        let failures = self.row.failures.get(counted).copied().unwrap_or(0);
        let (of, times) = match rule.times {
            Times::AtMost(times) => (format!(" of {times}"), Some(times)),
            Times::Forever => (String::new(), None),
        };
        let told = self.row.error.as_ref().map(failure).unwrap_or_default();
        let sentence = format!("task {} failed{told}; retry {failures}{of} comes at {until}", task.name);
        let details = json!({
            "task": task.name, "until": until, "retry": failures, "retries": times, "error": self.row.error,
        });
        reason("retry", sentence, details)
    }

    fn timed(&self, code: &str, until: Time, because: &str) -> Reason {
        let soon = if until <= self.around.now { "; that is over, it goes on in a moment" } else { "" };
        reason(code, format!("{because} until {until}{soon}"), json!({ "until": until }))
    }

    fn line(&self) -> Reason {
        let lane = self.row.seat.as_ref().map_or("", |seat| &seat.lane);
        let line = self.around.line.as_ref();
        let position = line.and_then(|line| line.position);
        let place = position.map_or("in line".to_owned(), |position| format!("number {position} in line"));
        let holder = line.and_then(|line| line.holder.as_ref());
        let blocker = match holder {
            None => "nobody has it now, the first in line gets it in a moment".to_owned(),
            Some(Other::Unseen) => "another submission, which you may not see, has it".to_owned(),
            Some(Other::Seen(Holder { id, state, status: Status::Dead })) => {
                format!("submission {id} blocks it: it is dead in state {state}")
            }
            Some(Other::Seen(Holder { id, state, .. })) => {
                format!("submission {id} has it, in state {state}")
            }
        };
        let holder = holder.map(|holder| match holder {
            Other::Unseen => json!({ "submission": null, "state": null, "status": null }),
            Other::Seen(Holder { id, state, status }) => {
                json!({ "submission": id, "state": state, "status": status })
            }
        });
        let details = json!({ "lane": lane, "position": position, "holder": holder });
        reason("line", format!("it is {place} for lane {lane}; {blocker}"), details)
    }

    fn key(&self) -> Reason {
        let key = self.row.key.as_deref().unwrap_or_default();
        let (who, submission) = match &self.around.key_holder {
            Some(Other::Seen(id)) => (format!("until submission {id}, which has it, has ended"), Some(id)),
            Some(Other::Unseen) => {
                ("until another submission, which you may not see, has ended".to_owned(), None)
            }
            None => ("which is free now; it goes on in a moment".to_owned(), None),
        };
        let details = json!({ "key": key, "submission": submission });
        reason("key", format!("it waits for the key {key}, {who}"), details)
    }

    fn children(&self) -> Reason {
        let children = self.row.children;
        let sentence = format!(
            "it waits for its children: {} of {} are open, {} succeeded, {} failed, {} were cancelled",
            children.open, children.total, children.succeeded, children.failed, children.cancelled
        );
        reason("children", sentence, json!({ "children": children }))
    }

    fn person(&self) -> Reason {
        let mut told = Vec::new();
        let mut actions = Vec::new();
        for action in &self.state.actions {
            let mut roles: Vec<_> =
                action.edges.iter().map(|edge| self.state.role_of(edge).as_str()).collect();
            roles.dedup();
            let mut who: Vec<String> = action.edges.iter().flat_map(|edge| self.state.who(edge)).collect();
            who.dedup();
            let needed = action.edges.iter().map(|edge| edge.approvals).max().unwrap_or(1);
            let agreed: Vec<_> = self.row.approvals.iter().filter(|yes| yes.action == action.name).collect();
            let agreed: Vec<_> = agreed.iter().map(|yes| &*yes.by).collect();
            let votes = match (needed, agreed.as_slice()) {
                (..=1, _) => String::new(),
                (_, []) => format!(", needs {needed} people"),
                (_, by) => format!(", {} of {needed} agreed: {}", by.len(), by.join(", ")),
            };
            told.push(format!("{} ({}{votes})", action.name, who.join(" or ")));
            let named = action.edges.iter().flat_map(|edge| &edge.reviewers);
            let reviewers: Vec<String> = named.map(ToString::to_string).collect();
            let mut details = json!({
                "name": action.name, "roles": roles, "approvals": needed, "agreed": agreed,
            });
            if !reviewers.is_empty() {
                details["reviewers"] = json!(reviewers);
            }
            actions.push(details);
        }
        reason("person", format!("it waits for a person: {}", told.join(", ")), json!({ "actions": actions }))
    }

    fn dead(&self) -> Reason {
        let told = self.row.error.as_ref().map(failure).unwrap_or_default();
        let redrive = match (&self.row.kept, &self.state.kind) {
            (Some(kept), _) => format!("looks again where outcome {} leads", kept.outcome),
            (None, Kind::Task { task, .. } | Kind::Join { task: Some(task), .. }) => {
                format!("queues task {} again", task.name)
            }
            _ => format!("sets it going again in state {}", self.row.state),
        };
        let sentence = format!("it is a dead letter in state {}{told}; a redrive {redrive}", self.row.state);
        let details =
            json!({ "error": self.row.error, "failed_from": self.row.failed_from, "redrive": redrive });
        reason("dead", sentence, details)
    }

    fn ended(&self) -> Reason {
        let (state, status) = (&self.row.state, self.row.status);
        let at = self.row.finished_at.map_or(String::new(), |at| format!(" at {at}"));
        let sentence = format!("it has ended in state {state}{at}: {}", status.as_str());
        let details =
            json!({ "status": status, "finished_at": self.row.finished_at, "error": self.row.error });
        reason("ended", sentence, details)
    }

    /// Returns that the submission is late: nothing that stops it, but what whoever asks wants to know.
    fn late(&self) -> Option<Reason> {
        let missed: Vec<_> = self.row.clocks.iter().filter(|clock| clock.due_at <= self.around.now).collect();
        let name = |clock: &SlaClock| clock.leg.as_ref().unwrap_or(&self.row.state).to_string();
        let told: Vec<_> =
            missed.iter().map(|clock| format!("{} was due at {}", name(clock), clock.due_at)).collect();
        let details: Vec<_> =
            missed.iter().map(|clock| json!({ "sla": name(clock), "due_at": clock.due_at })).collect();
        let is_late = !missed.is_empty() && !self.row.status.is_final();
        is_late
            .then(|| reason("late", format!("it is late: {}", told.join(", ")), json!({ "missed": details })))
    }

    /// Returns that somebody is wanted, although nothing stops the submission.
    fn investigated(&self) -> Option<Reason> {
        let role = self.state.investigate()?;
        matches!(self.row.investigation()?, Investigation::Open).then(|| {
            let sentence = format!("somebody should look into how it ended, and acknowledge it ({role})");
            reason("investigate", sentence, json!({ "role": role.as_str() }))
        })
    }

    /// Whoever waits for news of it waits for these.
    fn unsent(&self) -> Option<Reason> {
        let unsent = &self.around.unsent;
        let first = unsent.first()?;
        let told = first.error.as_ref().map(failure).unwrap_or_default();
        let more = if unsent.len() > 1 { format!(", and {} more", unsent.len() - 1) } else { String::new() };
        let sentence = format!(
            "a message about it has not got out: delivery {} is {} in state {}{told}{more}",
            first.id,
            first.status.as_str(),
            first.state
        );
        let details: Vec<_> = unsent
            .iter()
            .map(|row| json!({ "delivery": row.id, "state": row.state, "status": row.status, "error": row.error }))
            .collect();
        Some(reason("unsent", sentence, json!({ "deliveries": details })))
    }

    fn assigned(&self) -> Option<Reason> {
        let held = self.row.assigned(self.around.now)?;
        let sentence = format!("{} has taken the review on until {}", held.to, held.until);
        Some(reason("assigned", sentence, json!({ "to": held.to, "by": held.by, "until": held.until })))
    }

    fn requested(&self) -> Option<Reason> {
        let request = self.row.request.as_ref()?;
        let (action, to, by) = (&request.action, &request.to, &request.caller.name);
        let sentence = format!("{by} was granted {action}: it moves to {to} when the task for it is done");
        Some(reason("requested", sentence, json!({ "action": action, "to": to, "by": by })))
    }
}

fn held(hold: &Held, parked: bool) -> Reason {
    let until = hold.expires_at.map_or(String::new(), |at| format!(" until {at}"));
    let sentence = format!("{} holds it{until}: {}", hold.owner.name, hold.reason);
    let details = json!({
        "hold": hold.id, "reason": hold.reason, "owner": hold.owner, "expires_at": hold.expires_at, "parked": parked,
    });
    reason("held", sentence, details)
}

fn failure(error: &Failure) -> String {
    format!(" with {}: {}", error.code, error.message)
}

fn reason(code: &str, sentence: String, details: Value) -> Reason {
    let details = match details {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    Reason { code: code.to_owned(), sentence, details }
}
