//! `POST /v1/pipelines/{pipeline}/submissions`: one or many.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::Within;
use engine::core::{Answered, Once};
use futures_util::future::join_all;
use model::admit::Application;
use model::{Code, Name, Refusal, Trace};
use wire::api::{ManyAnswer, ManyResult, Problem, SubmitAnswer, SubmitBody, SubmitMany};

use super::submissions::no_pipeline;
use super::{Asking, At, etag, evidence};
use crate::access::Visitor;
use crate::app::App;
use crate::problem::Answer;
use crate::{body, conditions, trace};

/// Submissions in one call.
const MANY: usize = 1_000;
/// Larger bodies are read beside the threads that answer.
const ASIDE_BYTES: usize = 64 << 10;

pub(crate) async fn submit(
    State(app): State<App>,
    asking: Asking,
    At(pipeline): At<String>,
    request: Request,
) -> Answer<Response> {
    asking.check_sees(&pipeline)?;
    let versions = app.engine.pipelines().current();
    versions.in_force(&pipeline).ok_or_else(|| no_pipeline(&asking, &versions, &pipeline))?;
    let headers = request.headers().clone();
    let proof = evidence::wanted(&app, request.uri())?;
    let bytes = body::read_json(&request, body::MANY_MAX)?;
    let (bytes, many) = is_of_many(&app, &asking.caller.name, bytes).await?;
    let asked = conditions::Request {
        visitor: &asking,
        most: app.options.answers_max,
        route: format!("POST /v1/pipelines/{pipeline}/submissions"),
        body: &bytes,
    };
    let once = asked.once(&headers)?;
    let to = To { app, visitor: asking.0.clone(), pipeline, proof, trace: trace::of(&headers) };
    if many {
        return Ok(Json(to.many(body::shape(&bytes)?, once).await?).into_response());
    }
    if bytes.len() > body::ONE_MAX {
        return Err(body::too_large(body::ONE_MAX).into());
    }
    let answered = to.one(body::shape(&bytes)?, once).await?;
    let answer = model::view::submit_answer(&answered.row, answered.duplicate);
    Ok((status(&answered), [location(&answer), etag(answer.revision)], Json(answer)).into_response())
}

/// Checks that a body is strict JSON, and tells whether it has many submissions. Reading a large one takes long enough for
/// others to notice.
async fn is_of_many(app: &App, caller: &Name, bytes: Bytes) -> Result<(Bytes, bool), Refusal> {
    let look = |bytes: &Bytes| Ok(body::strict(bytes)?.has("submissions"));
    if bytes.len() <= ASIDE_BYTES {
        let many = look(&bytes)?;
        return Ok((bytes, many));
    }
    app.engine.aside(caller, move || look(&bytes).map(|many| (bytes, many))).await?
}

/// The caller who submits, and the pipeline.
struct To {
    app: App,
    visitor: Visitor,
    pipeline: String,
    /// Set if the answer waits for a signed checkpoint.
    proof: bool,
    trace: Option<Trace>,
}

impl To {
    fn application(&self, body: SubmitBody) -> Application {
        Application {
            caller: self.visitor.caller.clone(),
            payload: body.payload,
            key: body.key,
            priority: body.priority,
            not_before: body.not_before,
            reason: body.reason,
            parent: None,
        }
    }

    async fn submit(&self, applications: Vec<(Application, Option<Once>)>) -> Vec<Result<Answered, Refusal>> {
        let within = Within {
            trace: self.trace.as_ref(),
            covers: &|labels| self.visitor.covers(labels),
            outside: &|| self.visitor.elsewhere(),
        };
        let answers = self.app.engine.submit_within(&self.pipeline, applications, within).await;
        join_all(answers.into_iter().map(|answered| async {
            let answered = answered?;
            evidence::proven(&self.app, self.proof, answered.row.id).await?;
            Ok(answered)
        }))
        .await
    }

    async fn one(&self, body: SubmitBody, once: Option<Once>) -> Result<Answered, Refusal> {
        let answers = self.submit(vec![(self.application(body), once)]).await;
        answers.into_iter().next().expect("one was asked for, and one was answered")
    }

    /// All at once, so that they share a commit; queued and answered in the order given.
    async fn many(&self, many: SubmitMany, once: Option<Once>) -> Result<ManyAnswer, Refusal> {
        let count = many.submissions.len();
        if count > MANY {
            let message = format!("{count} submissions in one call; send at most {MANY}");
            return Err(Refusal::new(Code::TooLarge, message).with("max", MANY));
        }
        let each = many.submissions.into_iter().enumerate().map(|(index, body)| {
            let once = once.as_ref().map(|once| conditions::one_of_many(once, index));
            (self.application(body), once)
        });
        let results = self.submit(each.collect()).await.into_iter().map(result).collect();
        Ok(ManyAnswer { results })
    }
}

fn result(answered: Result<Answered, Refusal>) -> ManyResult {
    match answered {
        Ok(answered) => ManyResult {
            status: status(&answered).as_u16(),
            submission: Some(model::view::submit_answer(&answered.row, answered.duplicate)),
            problem: None,
        },
        Err(refusal) => {
            let problem = Problem::from(&refusal);
            ManyResult { status: problem.status, submission: None, problem: Some(problem) }
        }
    }
}

fn status(answered: &Answered) -> StatusCode {
    if answered.duplicate { StatusCode::OK } else { StatusCode::CREATED }
}

fn location(answer: &SubmitAnswer) -> (HeaderName, HeaderValue) {
    let path = format!("/v1/submissions/{}", answer.id);
    (header::LOCATION, HeaderValue::try_from(path).expect("an id is plain ASCII"))
}
