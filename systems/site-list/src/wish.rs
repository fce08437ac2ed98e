//! Wishes of strangers for a change, by whatever door they come: the form, or the list's own API.

use std::sync::Arc;
use std::time::Duration;

use client::Client;
use http::StatusCode;
use serde_json::json;
use wire::api::SubmitBody;

use crate::PIPELINE;
use crate::action::Action;
use crate::list::List;
use crate::published::{Places, Shelf};
use crate::rules::{Host, Onions};

/// A wish that is not taken: the status that says so, and a sentence for whoever has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotTaken {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl NotTaken {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> NotTaken {
        NotTaken { status, message: message.into() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> NotTaken {
        NotTaken::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn unavailable() -> NotTaken {
        NotTaken::new(StatusCode::SERVICE_UNAVAILABLE, "the list cannot be read now; ask again soon")
    }
}

/// Submits a change in a stranger's name, and returns the number by which everybody can follow it.
pub(crate) async fn submit(
    client: &Client,
    shelf: &Shelf,
    (fqdn, action): (&str, &str),
) -> Result<usize, NotTaken> {
    let known = Action::read(action).filter(|action| action.is_public());
    let action = known.ok_or_else(|| NotTaken::bad("the action must be ADD, MODIFY or DELETE"))?;
    let host = Host::read(fqdn, Onions::Refused).map_err(|refused| NotTaken::bad(refused.message))?;
    let keeper = &places(shelf)?.keeper;
    let now = keeper.now().await.map_err(|_| NotTaken::unavailable())?;
    current(shelf).await?.lately().may_ask(&host, now).map_err(|wait| too_soon(&host, wait))?;
    let payload = json!({ "fqdn": host, "action": action });
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    let made = client.submit(PIPELINE, &body, None).await.map_err(|error| match error.code() {
        Some("duplicate-key") => NotTaken::bad(format!("a change of {host} is under way already")),
        Some(_) => NotTaken::bad(error.to_string()),
        None => {
            NotTaken::new(StatusCode::SERVICE_UNAVAILABLE, "the server cannot take it now; ask again soon")
        }
    })?;
    let number = keeper.number_of(made.id).await.map_err(|_| NotTaken::unavailable())?;
    number.ok_or_else(|| {
        NotTaken::new(StatusCode::SERVICE_UNAVAILABLE, "it is taken, and has no number yet; look again soon")
    })
}

fn too_soon(host: &Host, wait: Duration) -> NotTaken {
    let message = format!("{host} was submitted a moment ago; ask again in {} seconds", wait.as_secs() + 1);
    NotTaken::new(StatusCode::TOO_MANY_REQUESTS, message)
}

pub(crate) fn places(shelf: &Shelf) -> Result<&Places, NotTaken> {
    shelf.get().ok_or_else(NotTaken::unavailable)
}

pub(crate) async fn current(shelf: &Shelf) -> Result<Arc<List>, NotTaken> {
    places(shelf)?.keeper.current().await.map_err(|error| {
        tracing::warn!(%error, "cannot read the list");
        NotTaken::unavailable()
    })
}
