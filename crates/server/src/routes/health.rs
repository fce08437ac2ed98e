//! Whether the server lives, whether it is ready, and what it is.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use engine::Condition;
use model::{Code, Refusal};

use crate::app::App;
use crate::problem::Answer;

const WELCOME: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Milepost</title>
<h1>Milepost</h1>
<p>Walks submissions through declared pipelines, and keeps the proof.</p>
<ul>
<li><a href=\"/v1/pipelines\">/v1/pipelines</a>: what is in force, and how many submissions are where
<li><a href=\"/v1/submissions\">/v1/submissions</a>: the newest submissions
<li><a href=\"/readyz\">/readyz</a>, <a href=\"/livez\">/livez</a>: how this server is
</ul>
</html>
";

pub(crate) async fn welcome() -> Html<&'static str> {
    Html(WELCOME)
}

/// Restarting helps only when the engine is broken.
pub(crate) async fn live(State(app): State<App>) -> Answer<Response> {
    match &*app.engine.condition().borrow() {
        Condition::Broken(reason) => Err(broken(reason).into()),
        _ => Ok("ok\n".into_response()),
    }
}

/// Whether to send requests here.
pub(crate) async fn ready(State(app): State<App>) -> Answer<Response> {
    let condition = app.engine.condition().borrow().clone();
    let refusal = match condition {
        Condition::Running if !app.is_stopping() => return Ok("ok\n".into_response()),
        Condition::Running | Condition::Drained => Refusal::new(Code::Draining, "the server is stopping"),
        Condition::Unreachable => {
            Refusal::new(Code::Unavailable, "the store cannot be reached or written now")
        }
        Condition::Broken(reason) => broken(&reason),
    };
    Err(refusal.into())
}

fn broken(reason: &str) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("the store cannot be used, the server must be restarted: {reason}"),
    )
}
