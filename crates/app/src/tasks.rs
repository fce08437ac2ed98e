//! The requests of workers: claim, finish, fail, snooze, give back, renew, spawn.

use engine::Child;
use engine::core::{ClaimMany, Granted, Output, Reply};
use futures_util::future::join_all;
use model::admit::{Admission, KEY_BYTES_MAX};
use model::command::{Fail, Finish, GiveBack, Renew, Snooze, Spawn};
use model::entry::EntryChange;
use model::owed::is_delivery_task;
use model::submission::Failure;
use model::{Code, Command, LeaseToken, Millis, Name, Refusal};
use wire::api::{
    ChildBody, ClaimAnswer, ClaimBody, EntryChangeBody, FailBody, FinishBody, GiveBackBody, Problem,
    RenewBody, SettleAnswer, SettleResult, SnoozeBody, SpawnBody, TaskView, Tasks,
};

use crate::{App, Visitor, invalid, quote};

const WORKER_CHARS_MAX: usize = 128;
const CLAIM_TASKS_MAX: usize = 100;
const CLAIM_FILTERS_MAX: usize = 20;
const CLAIM_MAX: usize = 1_000;
const WAIT_MAX: Millis = Millis::from_secs(60);
/// The leases that a worker may ask for in place of what the states say.
const LEASE_MIN: Millis = Millis::from_secs(1);
const LEASE_MAX: Millis = Millis::from_secs(12 * 3600);
const SETTLE_MAX: usize = 1_000;

impl App {
    /// Leases tasks to a worker, waiting for the first if there is none. `ended` ends the wait early; a claim must not be
    /// dropped while it waits, or what it is granted at that moment would be nobody's.
    pub async fn claim(
        &self,
        body: ClaimBody,
        ended: impl Future<Output = ()>,
    ) -> Result<ClaimAnswer, Refusal> {
        let wait = body.wait.unwrap_or_default();
        if wait > WAIT_MAX {
            return Err(invalid(format!("`wait` is at most {WAIT_MAX}; claim again after it")));
        }
        let wish = wish(body, &self.visitor)?;
        let (tasks, pipelines) = (wish.tasks.clone(), wish.pipelines.clone());
        let granted = self.engine.claim_until(wish, wait.into(), ended).await?;
        let versions = self.engine.pipelines().current();
        let unknown = tasks.iter().filter(|task| !versions.have_task(task, &pipelines));
        Ok(ClaimAnswer {
            unknown_tasks: unknown.map(|task| task.to_string()).collect(),
            tasks: granted.into_iter().map(view).collect(),
        })
    }

    /// Settles leases, or says something else about them: all at once, so that they share a commit, and each with its own
    /// result, in the order given.
    pub async fn settle<T: Settlement>(&self, tasks: Tasks<T>, proof: bool) -> Result<SettleAnswer, Refusal> {
        let Tasks { tasks } = tasks;
        if tasks.len() > SETTLE_MAX {
            let message = format!("{} tasks in one call; send at most {SETTLE_MAX}", tasks.len());
            return Err(Refusal::new(Code::TooLarge, message).with("max", SETTLE_MAX));
        }
        let each = tasks.into_iter().map(|task| async {
            let text = task.token().to_owned();
            let outcome = self.settle_one(task, proof).await;
            result(text, outcome)
        });
        Ok(SettleAnswer { results: join_all(each).await })
    }

    async fn settle_one<T: Settlement>(&self, mut task: T, proof: bool) -> Reply {
        let token: LeaseToken =
            task.token().parse().map_err(|_| invalid("`token` is no lease token; send one a claim gave"))?;
        self.check_sees(token.submission).await?;
        let children = task.children().into_iter().map(child).collect::<Result<Vec<_>, _>>()?;
        let children = self.engine.admit_children(token, children).await?;
        if !children.iter().all(|child| self.visitor.sees_with(child.pipeline(), child.labels())) {
            return Err(self.visitor.elsewhere());
        }
        let entries = self.entry_changes(task.entries())?;
        let command = task.command(token, With { children, entries })?;
        let settled = match self.visitor.subject() {
            Some(_) => self.by().settle(token, command).await?,
            None => self.engine.settle(token, command).await?,
        };
        self.proven(token.submission, proof).await?;
        Ok(settled)
    }
}

fn wish(body: ClaimBody, visitor: &Visitor) -> Result<ClaimMany, Refusal> {
    let max = body.max.unwrap_or(1);
    if !(1..=WORKER_CHARS_MAX).contains(&body.worker.chars().count()) {
        return Err(invalid(format!("`worker` takes 1 to {WORKER_CHARS_MAX} characters")));
    }
    if !(1..=CLAIM_TASKS_MAX).contains(&body.tasks.len()) {
        return Err(invalid(format!("`tasks` takes 1 to {CLAIM_TASKS_MAX} names")));
    }
    if !(1..=CLAIM_MAX).contains(&max) {
        return Err(invalid(format!("`max` must be between 1 and {CLAIM_MAX}")));
    }
    if body.tasks.iter().any(|task| is_delivery_task(task)) {
        visitor.check_delivers()?;
    }
    if body.lease.is_some_and(|lease| !(LEASE_MIN..=LEASE_MAX).contains(&lease)) {
        return Err(invalid(format!("`lease` is between {LEASE_MIN} and {LEASE_MAX}")));
    }
    let (labels, pipelines) = (body.labels.unwrap_or_default(), body.pipelines.unwrap_or_default());
    if pipelines.len() > CLAIM_FILTERS_MAX || labels.len() > CLAIM_FILTERS_MAX {
        return Err(invalid(format!("`pipelines` and `labels` take at most {CLAIM_FILTERS_MAX} each")));
    }
    let words = body.tasks.iter().chain(&pipelines).chain(labels.keys()).chain(labels.values());
    if words.clone().any(|word| word.len() > KEY_BYTES_MAX) {
        return Err(invalid(format!(
            "names of tasks, pipelines and labels have at most {KEY_BYTES_MAX} bytes"
        )));
    }
    let mut labels = labels.into_iter().map(|(label, value)| (label.into(), value.into())).collect();
    visitor.narrow_labels(&mut labels)?;
    Ok(ClaimMany {
        worker: visitor.worker(body.worker),
        tasks: names(body.tasks),
        pipelines: visitor.narrow(names(pipelines))?,
        labels,
        max,
        arriving: false,
        only: None,
        lease: body.lease,
    })
}

fn names(texts: Vec<String>) -> Vec<Name> {
    texts.into_iter().map(Name::from).collect()
}

fn view(granted: Granted) -> TaskView {
    let lease = granted.row.lease().expect("a granted row is leased");
    let (task, lease_expires_at, lease) = (lease.task.clone(), lease.expires_at, lease.span);
    let wanted = granted.pipeline.wanted_task(&granted.row);
    let (with, timeout) = (wanted.with.clone(), wanted.timeout);
    let Granted { token, row, documents, pipeline } = granted;
    TaskView {
        token: token.to_string(),
        submission: row.id,
        pipeline: row.pipeline.clone(),
        state: row.state.clone(),
        task,
        with,
        params: (&*pipeline.params).into(),
        attempt: row.attempt,
        requeues: row.requeues,
        priority: row.priority,
        key: row.key.clone(),
        parent: row.parent,
        failed_from: row.failed_from.clone(),
        last_good: row.last_good.clone(),
        payload: documents.payload,
        payload_revision: row.payload_revision,
        outputs: documents.outputs,
        labels: row.labels.clone(),
        lease,
        lease_expires_at,
        timeout,
        traceparent: row.trace.as_ref().map(|trace| trace.parent.clone()),
        tracestate: row.trace.as_ref().and_then(|trace| trace.state.clone()),
    }
}

/// A word of a worker about a lease it holds.
pub trait Settlement {
    /// The token of the lease.
    fn token(&self) -> &str;

    /// Takes the submissions that the word makes.
    fn children(&mut self) -> Vec<ChildBody> {
        Vec::new()
    }

    /// Takes the entries of systems that the word changes.
    fn entries(&mut self) -> Vec<EntryChangeBody> {
        Vec::new()
    }

    /// Returns what the engine is asked to do.
    fn command(self, token: LeaseToken, with: With) -> Result<Command, Refusal>;
}

/// The things that come with a word, checked.
#[derive(Debug, Default)]
pub struct With {
    pub children: Vec<Admission>,
    pub entries: Vec<EntryChange>,
}

fn child(body: ChildBody) -> Result<Child, Refusal> {
    let ChildBody { payload, key, priority, not_before, name } = body;
    match &name {
        Some(name) if name.is_empty() || name.len() > KEY_BYTES_MAX => {
            Err(invalid(format!("a child's `name` has 1 to {KEY_BYTES_MAX} bytes")))
        }
        _ => Ok(Child { payload, key, priority, not_before, name }),
    }
}

fn result(token: String, outcome: Reply) -> SettleResult {
    let blank = SettleResult {
        token,
        status: 200,
        state: None,
        submission_status: None,
        children: None,
        repeated: false,
        lease_expires_at: None,
        payload_revision: None,
        problem: None,
    };
    let refused = |refusal: &Refusal, blank: SettleResult| {
        let problem = Problem::from(refusal);
        SettleResult { status: problem.status, problem: Some(problem), ..blank }
    };
    match outcome {
        Ok(Output::Settled { state, status, repeated }) => {
            SettleResult { state: Some(state), submission_status: Some(status), repeated, ..blank }
        }
        Ok(Output::Renewed { expires_at, payload_revision }) => SettleResult {
            lease_expires_at: Some(expires_at),
            payload_revision: Some(payload_revision),
            ..blank
        },
        Ok(Output::Submission(answered)) => SettleResult {
            state: Some(answered.row.state.clone()),
            submission_status: Some(answered.row.status),
            children: Some(answered.row.children),
            ..blank
        },
        Ok(_) => {
            refused(&Refusal::new(Code::Internal, "the engine answered something else than was asked"), blank)
        }
        Err(refusal) => refused(&refusal, blank),
    }
}

impl Settlement for FinishBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn children(&mut self) -> Vec<ChildBody> {
        std::mem::take(&mut self.children)
    }

    fn entries(&mut self) -> Vec<EntryChangeBody> {
        std::mem::take(&mut self.entries)
    }

    fn command(self, token: LeaseToken, With { children, entries }: With) -> Result<Command, Refusal> {
        let FinishBody { outcome, output, result, .. } = self;
        let outcome = outcome.into();
        Ok(Command::Finish(Finish { token, outcome, output, result, children, entries }))
    }
}

impl Settlement for SpawnBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn children(&mut self) -> Vec<ChildBody> {
        std::mem::take(&mut self.children)
    }

    fn command(self, token: LeaseToken, With { children, .. }: With) -> Result<Command, Refusal> {
        Ok(Command::Spawn(Spawn { token, children }))
    }
}

impl Settlement for FailBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn command(self, token: LeaseToken, _: With) -> Result<Command, Refusal> {
        let error = self.error;
        if !Failure::is_code(&error.code) {
            let message =
                format!("the error code {} is not valid: {}", quote(&error.code), Failure::CODE_SPELLING);
            return Err(invalid(message));
        }
        let failure = Failure::new(error.code, &error.message);
        Ok(Command::Fail(Fail { token, failure, retryable: error.retryable, after: error.retry_after }))
    }
}

impl Settlement for SnoozeBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn command(self, token: LeaseToken, _: With) -> Result<Command, Refusal> {
        Ok(Command::Snooze(Snooze { token, span: self.span }))
    }
}

impl Settlement for GiveBackBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn command(self, token: LeaseToken, _: With) -> Result<Command, Refusal> {
        Ok(Command::GiveBack(GiveBack { token }))
    }
}

impl Settlement for RenewBody {
    fn token(&self) -> &str {
        &self.token
    }

    fn command(self, token: LeaseToken, _: With) -> Result<Command, Refusal> {
        Ok(Command::Renew(Renew { token, progress: self.progress }))
    }
}
