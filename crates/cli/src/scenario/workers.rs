//! The steps of workers in a scenario: claim, answer, fail, and fall silent.

use engine::core::{Ask, ClaimMany, Output};
use model::admit::{Admission, Application, Door, admit};
use model::command::{self, Command};
use model::pipeline::Kind;
use model::submission::{Failure, Wait};
use model::{Caller, LeaseToken, Millis, Role, Submission, SubmissionId};

use super::stage::{Done, Stage, impossible};
use super::verbs::{self, Child};

const WORKER: &str = "worker";

impl Stage<'_> {
    /// As a worker asks: of whatever waits, in the order of the queue.
    pub(super) fn claim(&mut self, claim: &verbs::Claim) -> Done {
        let asked = ClaimMany {
            worker: WORKER.into(),
            tasks: vec![claim.task.clone()],
            pipelines: Vec::new(),
            labels: claim.labels.clone(),
            max: claim.max,
            arriving: false,
            only: None,
            lease: None,
        };
        let Output::Tasks(granted) = self.world.ask(Ask::Claim(asked))? else {
            return impossible("a claim was answered with something else");
        };
        for task in &granted {
            self.heard.gets.push(self.name_of(task.row.id));
        }
        if let Some(first) = granted.first() {
            self.current = Some(first.row.id);
            self.leases.extend(claim.name.clone().map(|name| (name, first.token)));
        }
        Ok(())
    }

    /// The lease a step names, else the one in force, else a new one.
    pub(super) fn lease(&mut self, name: Option<&str>) -> Done<LeaseToken> {
        if let Some(name) = name {
            let token = self.leases.get(name).copied();
            return token.map_or_else(|| impossible(format!("no step claimed a lease called `{name}`")), Ok);
        }
        if let Some(token) = token(&self.row()?) {
            return Ok(token);
        }
        self.claim_here()?;
        let row = self.row()?;
        match (token(&row), self.pipeline(Some(&row.pipeline))?.limit_that_parks(&row)) {
            (Some(token), _) => Ok(token),
            (None, Some((label, value, most))) => impossible(format!(
                "the limit keeps it from workers: {most} with {label} {value} are with some already"
            )),
            (None, None) => impossible("a hold keeps it from workers"),
        }
    }

    /// Claims the submission the steps are about, whoever comes before it in the queue.
    fn claim_here(&mut self) -> Done {
        let row = self.row()?;
        let Wait::Worker { task, .. } = &row.wait else {
            let command = command::Claim { worker: WORKER.into(), tasks: Vec::new(), lease: None };
            return self.tell(Command::Claim(command));
        };
        self.world.ask(Ask::Claim(ClaimMany {
            worker: WORKER.into(),
            tasks: vec![task.clone()],
            pipelines: vec![row.pipeline.clone()],
            labels: row.labels.clone(),
            max: 1,
            arriving: false,
            only: Some(row.id),
            lease: None,
        }))?;
        Ok(())
    }

    /// A settlement or a renewal, to the submission whose lease it names.
    pub(super) fn settle(&mut self, command: Command) -> Done {
        let id = self.here()?;
        if let Output::Settled { repeated, .. } = self.world.ask(Ask::Tell(id, command))? {
            self.heard.repeated = repeated;
        }
        Ok(())
    }

    pub(super) fn answer(&mut self, answer: &verbs::Answer) -> Done {
        let token = self.lease(answer.lease.as_deref())?;
        let children = self.admissions(&answer.children)?;
        self.settle(Command::Finish(command::Finish {
            token,
            outcome: answer.outcome.clone(),
            output: answer.output.clone(),
            result: answer.result.clone(),
            children,
            entries: Vec::new(),
        }))
    }

    pub(super) fn spawn(&mut self, children: &[Child], lease: Option<&str>) -> Done {
        let token = self.lease(lease)?;
        let children = self.admissions(children)?;
        self.settle(Command::Spawn(command::Spawn { token, children }))
    }

    /// Children go to the pipeline the state names; elsewhere the engine says that it makes none.
    fn admissions(&mut self, children: &[Child]) -> Done<Vec<Admission>> {
        if children.is_empty() {
            return Ok(Vec::new());
        }
        let row = self.row()?;
        let state = self.pipeline(Some(&row.pipeline))?.state(&row.state);
        let pipeline = match state.map(|state| &state.kind) {
            Some(Kind::Join { child, .. }) => self.pipeline(Some(child))?,
            _ => self.pipeline(None)?,
        };
        let mut admissions = Vec::new();
        for child in children {
            self.named.insert(child.name.clone(), SubmissionId::of_child(row.id, &child.name));
            admissions.push(admit(
                pipeline,
                Application {
                    caller: Caller::new(WORKER, Role::Worker),
                    payload: child.payload.clone(),
                    key: None,
                    priority: None,
                    not_before: None,
                    reason: None,
                    door: Door::Child(row.id, child.name.as_str().into()),
                },
                &mut model::schema::Fuel::whole(),
            )?);
        }
        Ok(admissions)
    }

    pub(super) fn fail(&mut self, fail: &verbs::Fail) -> Done {
        for index in 0..fail.times {
            if let Wait::Delay { until, .. } = self.row()?.wait
                && index > 0
            {
                self.world.pass(until.since(self.world.now()));
            }
            let token = self.lease(fail.lease.as_deref())?;
            let failure = Failure { code: fail.code.clone(), message: fail.message.clone() };
            self.settle(Command::Fail(command::Fail {
                token,
                failure,
                retryable: fail.retryable,
                after: None,
            }))?;
        }
        Ok(())
    }

    pub(super) fn crash(&mut self) -> Done {
        self.lease(None)?;
        if let Some(expires_at) = self.row()?.lease().map(|lease| lease.expires_at) {
            self.world.pass(expires_at.since(self.world.now()));
        }
        Ok(())
    }

    pub(super) fn stall(&mut self) -> Done {
        let token = self.lease(None)?;
        while let Some(lease) = self.row()?.lease().filter(|lease| lease.no == token.lease_no).cloned() {
            let Some(ends_at) = lease.times_out_at else {
                return impossible(
                    "the task has no `timeout`, so nothing ends a worker that goes on renewing",
                );
            };
            let left = ends_at.since(self.world.now());
            let half = Millis::new((lease.span.millis() / 2).max(1));
            self.world.pass(left.min(half));
            if self.row()?.lease().is_some_and(|lease| lease.no == token.lease_no) {
                self.settle(Command::Renew(command::Renew { token, progress: None }))?;
            }
        }
        Ok(())
    }
}

fn token(row: &Submission) -> Option<LeaseToken> {
    let lease = row.lease()?;
    Some(LeaseToken { submission: row.id, lease_no: lease.no, bits: lease.bits })
}
