//! Submitting, one or many.

use engine::Within;
use engine::core::{Answered, Once};
use futures_util::future::join_all;
use model::admit::Application;
use model::{Code, Name, Refusal, Trace};
use wire::api::{ManyAnswer, ManyResult, Problem, SubmitAnswer, SubmitBody, SubmitMany};

use crate::App;
use crate::once::one_of_many;

/// Submissions in one call.
const MANY: usize = 1_000;

/// The terms on which something is submitted.
#[derive(Debug, Clone, Default)]
pub struct Submitting {
    /// Set if a repeat of the request gets the first answer again.
    pub once: Option<Once>,
    /// Set if the answer waits for a signed checkpoint.
    pub proof: bool,
    pub trace: Option<Trace>,
}

impl App {
    /// Refuses a pipeline that the visitor cannot submit to.
    pub fn check_submits_to(&self, pipeline: &str) -> Result<Name, Refusal> {
        self.visitor.check_sees(pipeline)?;
        Ok(self.in_force(&self.engine.pipelines().current(), pipeline)?.name.clone())
    }

    /// Submits one document.
    pub async fn submit(
        &self,
        pipeline: &str,
        body: SubmitBody,
        terms: Submitting,
    ) -> Result<SubmitAnswer, Refusal> {
        let to = To { app: self, pipeline: self.check_submits_to(pipeline)?, terms: &terms };
        let answers = to.submit(vec![(to.application(body), terms.once.clone())]).await;
        let answered = answers.into_iter().next().expect("one was asked for, and one was answered")?;
        Ok(answer(&answered))
    }

    /// Submits many documents, each with an answer of its own. They share a commit where they can, and are queued and
    /// answered in the order given.
    pub async fn submit_many(
        &self,
        pipeline: &str,
        many: SubmitMany,
        terms: Submitting,
    ) -> Result<ManyAnswer, Refusal> {
        let to = To { app: self, pipeline: self.check_submits_to(pipeline)?, terms: &terms };
        let count = many.submissions.len();
        if count > MANY {
            let message = format!("{count} submissions in one call; send at most {MANY}");
            return Err(Refusal::new(Code::TooLarge, message).with("max", MANY));
        }
        let each = many.submissions.into_iter().enumerate().map(|(index, body)| {
            let once = terms.once.as_ref().map(|once| one_of_many(once, index));
            (to.application(body), once)
        });
        let results = to.submit(each.collect()).await.into_iter().map(result).collect();
        Ok(ManyAnswer { results })
    }
}

/// A pipeline that is submitted to, and the terms.
struct To<'a> {
    app: &'a App,
    pipeline: Name,
    terms: &'a Submitting,
}

impl To<'_> {
    fn application(&self, body: SubmitBody) -> Application {
        Application {
            caller: self.app.visitor.caller.clone(),
            payload: body.payload,
            key: body.key,
            priority: body.priority,
            not_before: body.not_before,
            reason: body.reason,
            door: self.app.visitor.door(),
        }
    }

    async fn submit(&self, applications: Vec<(Application, Option<Once>)>) -> Vec<Result<Answered, Refusal>> {
        let visitor = &self.app.visitor;
        let within = Within {
            trace: self.terms.trace.as_ref(),
            covers: &|labels| visitor.covers(labels),
            outside: &|| visitor.elsewhere(),
        };
        let answers = self.app.engine.submit_within(&self.pipeline, applications, within).await;
        join_all(answers.into_iter().map(|answered| async {
            let answered = answered?;
            self.app.proven(answered.row.id, self.terms.proof).await?;
            Ok(answered)
        }))
        .await
    }
}

fn answer(answered: &Answered) -> SubmitAnswer {
    model::view::submit_answer(&answered.row, answered.duplicate)
}

fn result(answered: Result<Answered, Refusal>) -> ManyResult {
    match answered {
        Ok(answered) => {
            let status = if answered.duplicate { 200 } else { 201 };
            ManyResult { status, submission: Some(answer(&answered)), problem: None }
        }
        Err(refusal) => {
            let problem = Problem::from(&refusal);
            ManyResult { status: problem.status, submission: None, problem: Some(problem) }
        }
    }
}
