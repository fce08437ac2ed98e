//! The API of the list server, as its clients know it: every answer says `OK` or `KO`.

use std::sync::Arc;

use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN};
use http::{HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use system::{Call, Need, Rate, Reply, Room, Route};
use wire::api::SubmitBody;

use crate::PIPELINE;
use crate::action::Action;
use crate::backoff::Backoff;
use crate::published::{Places, Shelf};
use crate::rules::{Host, Onions};

/// The most requests that one address may make.
const READS: Rate = Rate::per_second(20);
const SUBMITS: Rate = Rate::per_second(1);

/// The addresses of the API.
pub(crate) struct Paths {
    root: &'static str,
    submissions: &'static str,
    submission: &'static str,
}

/// The addresses beside the server's own.
pub(crate) const BESIDE: Paths = Paths {
    root: "/compat/site-list/",
    submissions: "/compat/site-list/submission",
    submission: "/compat/site-list/submission/{id}",
};

/// An answer of the API that is no good one.
type Ko = (StatusCode, String);

/// Returns the routes of the API.
pub(crate) fn routes(paths: &Paths, shelf: &Shelf) -> Vec<Route> {
    let backoff = Arc::new(Backoff::default());
    let reading = || (Need::Public(READS), Room::Request);
    let (submits, counts, shows) = (shelf.clone(), shelf.clone(), shelf.clone());
    let mut routes = vec![
        Route::new((Method::GET, paths.root), reading(), "", |_| async { Ok(answer(Ok(json!({})))) }),
        Route::new(
            (Method::POST, paths.submissions),
            (Need::Public(SUBMITS), Room::Request),
            "",
            move |call| {
                let (shelf, backoff) = (submits.clone(), backoff.clone());
                async move { Ok(answer(submit(&call, &shelf, &backoff).await)) }
            },
        ),
        Route::new((Method::GET, paths.submissions), reading(), "", move |_| {
            let shelf = counts.clone();
            async move { Ok(answer(count(&shelf).await)) }
        }),
        Route::new((Method::GET, paths.submission), reading(), "", move |call| {
            let shelf = shows.clone();
            async move { Ok(answer(show(&call, &shelf).await)) }
        }),
    ];
    for path in [paths.root, paths.submissions, paths.submission] {
        let asked = |_| async { Ok(answer(Ok(json!({})))) };
        routes.push(Route::new((Method::OPTIONS, path), reading(), "", asked));
    }
    routes.into_iter().map(Route::not_described).collect()
}

/// Renders an answer in the API's own words. Any page may ask: all of it is public.
fn answer(said: Result<Value, Ko>) -> Reply {
    let (status, mut body) = match said {
        Ok(body) => (StatusCode::OK, body),
        Err((status, message)) => (status, json!({ "message": message })),
    };
    body["status"] = json!(if status == StatusCode::OK { "OK" } else { "KO" });
    let mut reply = Reply::json(&body).with_status(status);
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    ] {
        reply.headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// A request for a change. More fields than these say nothing here.
#[derive(Debug, Deserialize)]
struct Wish {
    fqdn: Option<String>,
    action: Option<String>,
}

async fn submit(call: &Call, shelf: &Shelf, backoff: &Backoff) -> Result<Value, Ko> {
    let bad = |message: String| (StatusCode::BAD_REQUEST, message);
    let is_json = call.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    if !is_json.is_some_and(|kind| kind.trim_start().starts_with("application/json")) {
        let message = "send JSON, with the content type application/json".to_owned();
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let wish: Wish =
        serde_json::from_slice(&call.body).map_err(|error| bad(format!("no such JSON: {error}")))?;
    let fqdn = wish.fqdn.ok_or_else(|| bad("the key `fqdn` is missing".to_owned()))?;
    let action = wish.action.ok_or_else(|| bad("the key `action` is missing".to_owned()))?;
    let known = Action::read(&action).filter(|action| action.is_public());
    let action = known.ok_or_else(|| bad("the action must be ADD, MODIFY or DELETE".to_owned()))?;
    let host = Host::read(&fqdn, Onions::Refused).map_err(|refused| bad(refused.message))?;
    backoff.take(&host).map_err(|wait| {
        let message =
            format!("{host} was submitted a moment ago; ask again in {} seconds", wait.as_secs() + 1);
        (StatusCode::TOO_MANY_REQUESTS, message)
    })?;
    let payload = json!({ "fqdn": host, "action": action });
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    let made = call.client.submit(PIPELINE, &body, None).await.map_err(|error| match error.code() {
        Some("duplicate-key") => bad(format!("a change of {host} is under way already")),
        Some(_) => bad(error.to_string()),
        None => (StatusCode::SERVICE_UNAVAILABLE, "the server cannot take it now; ask again soon".to_owned()),
    })?;
    let list = current(shelf).await?;
    let number = list.number_of(made.id);
    let late = || (StatusCode::SERVICE_UNAVAILABLE, "it is taken, and has no number yet".to_owned());
    Ok(json!({ "id": number.ok_or_else(late)? }))
}

async fn count(shelf: &Shelf) -> Result<Value, Ko> {
    Ok(json!({ "total_submissions": current(shelf).await?.submissions() }))
}

async fn show(call: &Call, shelf: &Shelf) -> Result<Value, Ko> {
    let missing = || (StatusCode::NOT_FOUND, "there is no such submission".to_owned());
    let number: usize = call.part("id").parse().map_err(|_| missing())?;
    let id = current(shelf).await?.submission(number).ok_or_else(missing)?;
    let client = places(shelf)?.keeper.client();
    let view = client.submission(id).await.map_err(|_| unavailable())?;
    let events = client.events(id, 0).await.map_err(|_| unavailable())?.events;
    let mut log: Vec<Value> = Vec::new();
    let mut last = None;
    for event in &events {
        if last.replace(event.to.clone()).as_ref() != Some(&event.to) {
            log.push(json!({ "status": event.to, "timestamp": event.at }));
        }
    }
    let payload: Value = view
        .payload
        .as_ref()
        .and_then(|payload| serde_json::from_str(payload.as_str()).ok())
        .unwrap_or_default();
    Ok(json!({ "submission": {
        "id": number,
        "fqdn": payload["fqdn"],
        "type": payload["action"],
        "status": view.state,
        "log": log,
    }}))
}

fn unavailable() -> Ko {
    (StatusCode::SERVICE_UNAVAILABLE, "the list cannot be read now; ask again soon".to_owned())
}

fn places(shelf: &Shelf) -> Result<&Places, Ko> {
    shelf.get().ok_or_else(unavailable)
}

async fn current(shelf: &Shelf) -> Result<Arc<crate::list::List>, Ko> {
    places(shelf)?.keeper.current().await.map_err(|error| {
        tracing::warn!(%error, "cannot read the list");
        unavailable()
    })
}
