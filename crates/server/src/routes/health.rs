//! Tells whether the server lives, whether it is ready, and what it is.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use engine::{Condition, DutyReport, Standing};
use model::{Code, Refusal};

use crate::openapi::{openapi, openapi_with};
use crate::pages;
use crate::problem::Answer;
use crate::state::Server;

/// The engine's own thread, as it is called among the duties.
const STEPS: &str = "steps";

const WELCOME: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Milepost</title>
<h1>Milepost</h1>
<p>Walks submissions through declared pipelines, and keeps the proof.</p>
<ul>
<li><a href=\"/console\">/console</a>: all of it, for people
<li><a href=\"/v1/pipelines\">/v1/pipelines</a>: what is in force, and how many submissions are where
<li><a href=\"/v1/submissions\">/v1/submissions</a>: the newest submissions
<li><a href=\"/openapi.json\">/openapi.json</a>: everything that can be asked
<li><a href=\"/readyz\">/readyz</a>, <a href=\"/livez\">/livez</a>: how this server is
</ul>
</html>
";

/// Sends people to the console, and tells everybody else what is here.
pub(crate) async fn welcome(headers: HeaderMap) -> Response {
    match pages::is_browser(&headers) {
        true => Redirect::to("/console").into_response(),
        false => Html(WELCOME).into_response(),
    }
}

/// Describes what can be asked of the server, for programs.
pub(crate) async fn describe(State(server): State<Server>) -> Response {
    let described = match server.mounts.is_empty() {
        true => openapi().into_response(),
        false => openapi_with(&server.mounts).into_response(),
    };
    ([(header::CONTENT_TYPE, "application/json")], described).into_response()
}

/// Restarting helps only when the engine is broken.
pub(crate) async fn live(State(server): State<Server>) -> Answer<Response> {
    match &*server.engine.condition().borrow() {
        Condition::Broken(reason) => Err(broken(reason).into()),
        _ => Ok("ok\n".into_response()),
    }
}

/// Tells whether to send requests here.
pub(crate) async fn ready(State(server): State<Server>) -> Answer<Response> {
    let condition = server.engine.condition().borrow().clone();
    match unready(&condition, server.is_stopping(), &server.engine.duties()) {
        None => {
            // Committing goes on: whoever sends requests here need not go elsewhere, but somebody has to look.
            let log = match server.engine.log_standing() {
                Some(Standing::Refused { reason, .. }) => format!("the audit log stands still: {reason}\n"),
                _ => String::new(),
            };
            let doubt = server.engine.clock().doubt.map(|doubt| format!("the clock is in doubt: {doubt}\n"));
            let ended = server.running.lines();
            Ok(format!("ok\n{log}{}{ended}", doubt.unwrap_or_default()).into_response())
        }
        Some(refusal) => Err(refusal.into()),
    }
}

/// A duty that is late delays what it does; without steps nothing is done at all.
fn unready(condition: &Condition, stopping: bool, duties: &[DutyReport]) -> Option<Refusal> {
    let stuck = duties.iter().any(|duty| duty.name == STEPS && duty.overdue);
    match condition {
        Condition::Running if stuck => {
            Some(Refusal::new(Code::Unavailable, "the engine has not been able to do anything for a while"))
        }
        Condition::Running if !stopping => None,
        Condition::Running | Condition::Drained => {
            Some(Refusal::new(Code::Draining, "the server is stopping"))
        }
        Condition::Unreachable => {
            Some(Refusal::new(Code::Unavailable, "the store cannot be reached or written now"))
        }
        Condition::Broken(reason) => Some(broken(reason)),
    }
}

fn broken(reason: &str) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("the store cannot be used, the server must be restarted: {reason}"),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_server_whose_steps_are_overdue_is_not_ready() {
        let store = Arc::new(store::MemoryStore::new(Arc::new(engine::SystemClock::new())));
        let engine = engine::Engine::start(store, &engine::Options::default()).unwrap();
        let steps = engine.duties().into_iter().find(|duty| duty.name == STEPS).unwrap();
        let fine = [
            DutyReport { overdue: false, ..steps.clone() },
            DutyReport { name: "housekeeping", overdue: true, ..steps.clone() },
        ];
        let stuck = [DutyReport { overdue: true, ..steps }];
        let code = |condition, stopping, duties: &[DutyReport]| {
            unready(&condition, stopping, duties).map(|refusal| refusal.code)
        };
        assert_eq!(code(Condition::Running, false, &fine), None);
        assert_eq!(code(Condition::Running, false, &stuck), Some(Code::Unavailable));
        assert_eq!(code(Condition::Running, true, &fine), Some(Code::Draining));
        assert_eq!(code(Condition::Unreachable, false, &fine), Some(Code::Unavailable));
        assert_eq!(code(Condition::Drained, false, &stuck), Some(Code::Draining));
    }
}
