//! Leaves on their way into the log.

use std::time::Duration;

use client::Client;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wire::Json;
use worker::{Failure, Outcome, Task};

use crate::found::Found;
use crate::keeper::Keeper;
use crate::leaf::{Leaf, Phase};
use crate::log::{Lie, Log, Standing, Submitted, Taken, Unreachable};
use crate::rules::Host;

/// Puts leaves before the log, and waits for proofs.
#[derive(Debug)]
pub(crate) struct Logging {
    pub(crate) client: Client,
    pub(crate) keeper: Keeper,
    pub(crate) log: Log,
    /// The pause before the log is asked again.
    pub(crate) again: Duration,
}

#[derive(Debug, Deserialize)]
struct Payload {
    fqdn: Host,
}

#[derive(Debug, Deserialize)]
struct SubmitWith {
    phase: Phase,
    policy_from: String,
}

#[derive(Debug, Deserialize)]
struct ProveWith {
    leaf_from: String,
}

impl Logging {
    /// Puts the leaf of a validation before the log.
    pub(super) async fn submit(&self, task: &Task) -> Result<Outcome, Failure> {
        let Payload { fqdn } = task.payload()?;
        let SubmitWith { phase, policy_from } = task.with()?;
        let found: Found = output(task, &policy_from)?;
        // The moment the submission came here: the same whoever asks, and however often.
        let entered_at = self.client.submission(task.submission).await?.entered_at;
        let Found { signers, threshold, action, .. } = found;
        let leaf = Leaf { domain: fqdn, action, signers, threshold, phase, date: entered_at.to_string() };
        let leaf = leaf.json();
        let size_min = self.keeper.current().await?.log_size();
        match self.log.submit(&leaf, size_min).await.map_err(unreachable)? {
            Taken::Accepted(submitted) => Ok(Outcome::new("accepted").output(document(&submitted))),
            Taken::NotYet => Ok(Outcome::snooze(self.again)),
            Taken::Rejected(reason) => {
                let rejected = json!({ "leaf": leaf, "reason": reason });
                Ok(Outcome::new("rejected").output(Json::from_stored(&rejected.to_string())))
            }
        }
    }

    /// Asks for the proof that a leaf is in the log.
    pub(super) async fn prove(&self, task: &Task) -> Result<Outcome, Failure> {
        let ProveWith { leaf_from } = task.with()?;
        let submitted: Submitted = output(task, &leaf_from)?;
        match self.log.prove(&submitted).await.map_err(unreachable)? {
            Standing::Included(proof) => Ok(Outcome::new("included").output(document(&proof))),
            Standing::NotYet => Ok(Outcome::snooze(self.again)),
            Standing::Lies(Lie { reason, tree_head }) => {
                let submission = task.submission;
                tracing::error!(%submission, reason, "the log of the list lies; look into it");
                let lie = json!({ "proof": reason, "tree_head": tree_head });
                Ok(Outcome::new("bad_proof").output(Json::from_stored(&lie.to_string())))
            }
        }
    }
}

/// Reads what an earlier state's task answered.
fn output<T: serde::de::DeserializeOwned>(task: &Task, state: &str) -> Result<T, Failure> {
    let missing = || Failure::new("unexpected-input", format!("the state {state} has no output")).permanent();
    task.output_of(state)?.ok_or_else(missing)
}

fn unreachable(error: Unreachable) -> Failure {
    Failure::new("log", error.0)
}

fn document(output: &impl Serialize) -> Json {
    Json::from_stored(&serde_json::to_string(output).expect("texts and numbers can be written"))
}
