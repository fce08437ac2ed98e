//! The audit log: its files, the evidence about a submission, and what operators do to it.
//!
//! Nothing here is checked: whoever wants to know whether it is true hands it to a verifier.

use model::{Json, SubmissionId};
use serde::Serialize;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;

/// Evidence is as long as a history; one larger than this is no answer of a server in good order.
const EVIDENCE_BYTES_MAX: usize = 256 << 20;

#[derive(Debug, Serialize)]
struct ForkBody<'a> {
    reason: &'a str,
}

/// What is to be done to the keys that sign checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum KeyChange {
    /// The server makes a key of its own and signs with it beside the others.
    Add,
    /// The server signs no more with this key, named by its line or by the id within it.
    Retire { key: String },
}

impl Client {
    /// A file of the log, such as `checkpoint` or `tile/0/000`; `None` where there is none. More than `bytes_max` bytes
    /// are not read.
    pub async fn log_file(&self, path: &str, bytes_max: usize) -> Result<Option<Vec<u8>>, Error> {
        let call = Call::get(self.outside_v1(path.split('/'))).accepting("*/*")?;
        let answer = self.send(call.at_most(bytes_max).may_be_missing()).await?;
        Ok(answer.found())
    }

    /// The evidence about a submission, to the byte. `known_size` asks for a proof that the log goes on from a checkpoint
    /// of that size.
    pub async fn evidence(&self, id: SubmissionId, known_size: Option<u64>) -> Result<String, Error> {
        let mut url = self.at(["submissions", &id.to_string(), "evidence"]);
        if let Some(size) = known_size {
            url.query_pairs_mut().append_pair("known_size", &size.to_string());
        }
        self.send(Call::get(url).at_most(EVIDENCE_BYTES_MAX)).await?.text()
    }

    /// The lines a verifier is given: the keys that sign checkpoints now.
    pub async fn audit_key(&self) -> Result<String, Error> {
        self.send(Call::get(self.at(["audit", "key"])).accepting("text/plain")?).await?.text()
    }

    /// How the log is doing.
    pub async fn audit_status(&self) -> Result<Json, Error> {
        self.send(Call::get(self.at(["audit"]))).await?.document()
    }

    /// Lets the log go on although more was signed once. Not repeated by itself: a second one would fork again.
    pub async fn audit_fork(&self, reason: &str) -> Result<Json, Error> {
        self.send(Call::post(self.at(["audit", "fork"]), &ForkBody { reason })?).await?.document()
    }

    /// Adds or retires a key. Not repeated by itself: a second one would add another key.
    pub async fn audit_keys(&self, change: &KeyChange) -> Result<Json, Error> {
        self.send(Call::post(self.at(["audit", "keys"]), change)?).await?.document()
    }
}
