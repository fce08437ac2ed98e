//! A submission as everybody may follow it: all of them are public.

use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use wire::api::SubmissionView;
use wire::{Status, SubmissionId};

use crate::log::Proof;
use crate::published::Shelf;
use crate::wish::{NotTaken, current, places};

/// The states whose outputs are the proofs of the log, with the leaf that each proves.
const PROVEN: [(&str, &str, &str); 2] = [
    ("preliminary", "SUBMISSION_TO_LOG_IN_PROGRESS", "SUBMISSION_TO_LOG_OK"),
    ("confirmation", "SECOND_SUBMISSION_TO_LOG_IN_PROGRESS", "SECOND_SUBMISSION_TO_LOG_OK"),
];

/// A submission by its number, and what it has been through.
#[derive(Debug, Clone)]
pub(crate) struct Followed {
    pub(crate) number: usize,
    pub(crate) id: SubmissionId,
    pub(crate) fqdn: String,
    pub(crate) action: String,
    pub(crate) status: String,
    /// Set if nothing more will happen.
    pub(crate) is_over: bool,
    /// The code and the message by which it was refused.
    pub(crate) error: Option<(String, String)>,
    /// The end of the wait, while it lasts.
    pub(crate) due: Option<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) proofs: Vec<Proven>,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) state: String,
    pub(crate) at: String,
}

/// A leaf, and the proof that the log has it.
#[derive(Debug, Clone)]
pub(crate) struct Proven {
    pub(crate) phase: &'static str,
    pub(crate) leaf: String,
    pub(crate) index: u64,
    pub(crate) size: u64,
    pub(crate) tree_head: String,
}

#[derive(Deserialize)]
struct Payload {
    fqdn: String,
    action: String,
}

impl Followed {
    /// Reads a submission by the text of its number.
    pub(crate) async fn read(shelf: &Shelf, number: &str) -> Result<Followed, NotTaken> {
        let missing = || NotTaken::new(StatusCode::NOT_FOUND, "there is no such submission");
        let number: usize = number.parse().map_err(|_| missing())?;
        let id = current(shelf).await?.submission(number).ok_or_else(missing)?;
        let client = places(shelf)?.keeper.client();
        let view = client.submission(id).await.map_err(|_| NotTaken::unavailable())?;
        let events = client.events(id, 0).await.map_err(|_| NotTaken::unavailable())?.events;
        let mut steps: Vec<Step> = Vec::new();
        for event in &events {
            if steps.last().is_none_or(|step| *step.state != *event.to) {
                steps.push(Step { state: event.to.to_string(), at: event.at.to_string() });
            }
        }
        let payload = view.payload.as_ref().and_then(|payload| serde_json::from_str(payload.as_str()).ok());
        let Payload { fqdn, action } = payload.ok_or_else(missing)?;
        Ok(Followed {
            number,
            id,
            fqdn,
            action,
            status: view.state.to_string(),
            is_over: view.status != Status::Open,
            error: view.error.as_ref().map(|error| (error.code.to_string(), error.message.to_string())),
            due: view.wake_at.filter(|_| &*view.state == "WAITING_DELAY").map(|at| at.to_string()),
            steps,
            proofs: PROVEN.iter().filter_map(|proven| prove(&view, proven)).collect(),
        })
    }
}

fn prove(view: &SubmissionView, (phase, submitted, proven): &(&'static str, &str, &str)) -> Option<Proven> {
    let output = |state: &str| -> Option<Value> {
        serde_json::from_str(view.outputs.as_ref()?.get(state)?.as_str()).ok()
    };
    let leaf = output(submitted)?.get("leaf")?.as_str()?.to_owned();
    // One that does not verify has another shape.
    let Proof { proof, tree_head } = serde_json::from_value(output(proven)?).ok()?;
    Some(Proven { phase, leaf, index: proof.index, size: proof.size, tree_head })
}
