//! The API of the list server, as its clients know it: every answer says `OK` or `KO`.

use std::net::SocketAddr;

use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN};
use http::{HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use system::{Call, Listener, Need, Rate, Reply, Room, Route};
use wire::{Code, Refusal};

use crate::followed::Followed;
use crate::published::Shelf;
use crate::wish::{NotTaken, current, submit};

/// The most requests that one address may make.
const READS: Rate = Rate::per_second(20);
const SUBMITS: Rate = Rate::per_minute(10);

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

/// The addresses at a listener of the list's own, where its clients expect them.
const OWN: Paths = Paths { root: "/", submissions: "/submission", submission: "/submission/{id}" };

/// Returns the listener of the API, which owns all of its address.
pub(crate) fn listener(address: SocketAddr, shelf: &Shelf) -> Listener {
    Listener::new(address, routes(&OWN, shelf))
        .refusing(|status, refusal| answer(Err(NotTaken::new(status, said(refusal)))))
}

fn said(refusal: &Refusal) -> String {
    match refusal.code {
        Code::UnknownRoute => "there is nothing at this address".to_owned(),
        Code::MethodNotAllowed => "this address does not take this method".to_owned(),
        _ => refusal.message.clone(),
    }
}

/// Returns the routes of the API.
pub(crate) fn routes(paths: &Paths, shelf: &Shelf) -> Vec<Route> {
    let reading = || (Need::Public(READS), Room::Request);
    let (submits, counts, shows) = (shelf.clone(), shelf.clone(), shelf.clone());
    let mut routes = vec![
        Route::new((Method::GET, paths.root), reading(), "", |_| async { Ok(answer(Ok(json!({})))) }),
        Route::new(
            (Method::POST, paths.submissions),
            (Need::Public(SUBMITS), Room::Request),
            "",
            move |call| {
                let shelf = submits.clone();
                async move { Ok(answer(take(&call, &shelf).await)) }
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
fn answer(said: Result<Value, NotTaken>) -> Reply {
    let (status, mut body) = match said {
        Ok(body) => (StatusCode::OK, body),
        Err(NotTaken { status, message }) => (status, json!({ "message": message })),
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

async fn take(call: &Call, shelf: &Shelf) -> Result<Value, NotTaken> {
    let is_json = call.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    if !is_json.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("application/json")) {
        let message = "send JSON, with the content type application/json";
        return Err(NotTaken::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let wish: Wish = serde_json::from_slice(&call.body)
        .map_err(|error| NotTaken::bad(format!("no such JSON: {error}")))?;
    let fqdn = wish.fqdn.ok_or_else(|| NotTaken::bad("the key `fqdn` is missing"))?;
    let action = wish.action.ok_or_else(|| NotTaken::bad("the key `action` is missing"))?;
    Ok(json!({ "id": submit(&call.client, shelf, (&fqdn, &action)).await? }))
}

async fn count(shelf: &Shelf) -> Result<Value, NotTaken> {
    Ok(json!({ "total_submissions": current(shelf).await?.submissions() }))
}

async fn show(call: &Call, shelf: &Shelf) -> Result<Value, NotTaken> {
    let Followed { number, fqdn, action, status, steps, .. } = Followed::read(shelf, call.part("id")).await?;
    let log: Vec<Value> =
        steps.iter().map(|step| json!({ "status": step.state, "timestamp": step.at })).collect();
    Ok(json!({ "submission": {
        "id": number,
        "fqdn": fqdn,
        "type": action,
        "status": status,
        "log": log,
    }}))
}
