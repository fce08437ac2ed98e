//! The audit log: its files, the evidence about a submission, and what operators do to it.
//!
//! The answers are not checked here: whoever wants to know whether one is true hands it to a verifier.

use serde::Serialize;
use wire::api::ActPage;
use wire::{Json, SubmissionId};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

/// Evidence is as long as a history; one larger than this is no answer of a server in good order.
const EVIDENCE_BYTES_MAX: usize = 256 << 20;

#[derive(Debug, Serialize)]
struct ForkBody<'a> {
    reason: &'a str,
}

/// The key to retire; without one, a key is added.
#[derive(Debug, Serialize)]
struct KeysBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retire: Option<&'a str>,
}

/// The choice of what evidence holds besides what is always in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceWish {
    /// A proof that the log goes on from a checkpoint of this size.
    pub known_size: Option<u64>,
    /// Leave out payloads, outputs and metadata.
    pub without_documents: bool,
}

impl Client {
    /// A file of the log, such as `checkpoint` or `tile/0/000`; `None` where there is none. More than `bytes_max` bytes
    /// are not read.
    pub async fn log_file(&self, path: &str, bytes_max: usize) -> Result<Option<Vec<u8>>, Error> {
        let call = Call::get(self.outside_v1(path.split('/'))).accepting("*/*")?;
        let answer = self.send(call.at_most(bytes_max).may_be_missing()).await?;
        Ok(answer.found())
    }

    /// The evidence about a submission, to the byte.
    pub async fn evidence(&self, id: SubmissionId, wish: EvidenceWish) -> Result<String, Error> {
        let mut url = self.at(["submissions", &id.to_string(), "evidence"]);
        if let Some(size) = wish.known_size {
            url.query_pairs_mut().append_pair("known", &size.to_string());
        }
        if wish.without_documents {
            url.query_pairs_mut().append_pair("documents", "none");
        }
        self.send(Call::get(url).at_most(EVIDENCE_BYTES_MAX)).await?.text()
    }

    /// The lines a verifier is given: the keys that sign checkpoints now.
    pub async fn audit_key(&self) -> Result<String, Error> {
        self.send(Call::get(self.at(["audit", "key"])).accepting("text/plain")?).await?.text()
    }

    /// Returns the condition of the log.
    pub async fn audit_status(&self) -> Result<Json, Error> {
        self.send(Call::get(self.at(["audit"]))).await?.document()
    }

    /// Returns acts besides what happened to submissions, newest first: those before an index of the log.
    pub async fn audit_acts(&self, after: Option<u64>, limit: usize) -> Result<ActPage, Error> {
        let mut url = self.at(["audit", "acts"]);
        url.query_pairs_mut().append_pair("limit", &limit.to_string());
        if let Some(after) = after {
            url.query_pairs_mut().append_pair("after", &after.to_string());
        }
        self.json(Call::get(url)).await
    }

    /// Lets the log go on although more was signed once. Not repeated by itself: a second one would fork again.
    pub async fn audit_fork(&self, reason: &str) -> Result<Json, Error> {
        self.send(Call::post(self.at(["audit", "fork"]), &ForkBody { reason })?).await?.document()
    }

    /// Lets the server make a key and sign with it beside the others. Not repeated by itself: a second call would add
    /// another.
    pub async fn add_audit_key(&self) -> Result<Json, Error> {
        self.change_audit_keys(None).await
    }

    /// Lets the server sign no more with a key, named by its line or by the id within it.
    pub async fn retire_audit_key(&self, key: &str) -> Result<Json, Error> {
        self.change_audit_keys(Some(key)).await
    }

    async fn change_audit_keys(&self, retire: Option<&str>) -> Result<Json, Error> {
        self.send(Call::post(self.at(["audit", "keys"]), &KeysBody { retire })?).await?.document()
    }
}
