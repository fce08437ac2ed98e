//! A deployment with a log of its own: real decisions make the events, a real publisher signs them.
#![allow(dead_code, reason = "the tests of the command line use the rest of it")]

#[path = "../../../model/tests/support/mod.rs"]
pub(crate) mod story;

use audit::follow::{FolderStore, Publisher, TileStore as _, put_definition};
use audit::guard::Guard;
use audit::leaf::{Applied, Record};
use audit::note::{Algorithm, SigningKey, Trust};
use audit::proof::{Document, Documents, Evidence, EvidenceRequest, LoggedDefinition, LoggedEvent, assemble};
use model::{Event, Pipeline, Time};
use story::Story;

pub(crate) const ORIGIN: &str = "milepost.example/log";

pub(crate) fn key(name: &str, seed: u8) -> SigningKey {
    SigningKey::from_seed(name, Algorithm::Ed25519, &[seed; 32]).unwrap()
}

pub(crate) fn witness_key(name: &str, seed: u8) -> SigningKey {
    SigningKey::from_seed(name, Algorithm::CosignatureV1, &[seed; 32]).unwrap()
}

pub(crate) fn trust() -> Trust {
    Trust::key(key(ORIGIN, 1).verifier())
}

/// The pipeline most tests use: guards on payload and output, retries, a person, a clock.
pub(crate) const REPORT: &str = r#"
name = "report"
version = 1
title = "Reports"
key = "payload.id"
start = [{ to = "REVIEW", when = "payload.pages > 100" }, "SENDING"]
ttl = { after = "30d", to = "FAILED" }
amend = { fields = ["pages"], role = "submitter" }

[states.REVIEW]
review = "reviewer"
actions.approve = "SENDING"
actions.reject = { to = "REJECTED", reason = true }

[states.SENDING]
task = "report.send"
lease = "30s"
timeout = "5m"
retry = { times = 2, delay = "10s" }
on.sent = [{ to = "COOLING", when = "output.copies > 1" }, "SENT"]
on.error = "FAILED"

[states.COOLING]
wait = "1h"
next = "SENT"

[states.SENT]
final = "success"

[states.REJECTED]
final = "failure"

[states.FAILED]
final = "failure"
"#;

/// A log in a folder, and what its operator knows about the leaves in it.
pub(crate) struct Deployment {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: FolderStore,
    pub(crate) leaves: Vec<Vec<u8>>,
}

impl Deployment {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderStore::create(folder.path().join("log")).unwrap();
        Deployment { folder, store, leaves: Vec::new() }
    }

    pub(crate) fn guard(&self) -> Guard {
        Guard::open(self.folder.path().join("guard"), vec![Box::new(key(ORIGIN, 1))]).unwrap()
    }

    pub(crate) fn publish(&mut self, leaves: &[Vec<u8>]) -> String {
        let mut publisher = Publisher::open(&self.store, ORIGIN, self.guard()).unwrap();
        assert_eq!(publisher.size(), self.leaves.len() as u64);
        self.leaves.extend_from_slice(leaves);
        let published = publisher.advance(leaves).unwrap();
        self.store.forget_partial(&published.full).unwrap();
        published.text
    }

    /// Logs a definition and keeps its bytes where verifiers look.
    pub(crate) fn apply(&mut self, pipeline: &Pipeline) -> u64 {
        put_definition(&self.store, pipeline.definition.as_str().as_bytes()).unwrap();
        let index = self.leaves.len() as u64;
        self.publish(&[applied(pipeline)]);
        index
    }

    pub(crate) fn checkpoint(&self) -> String {
        self.store.checkpoint().unwrap().unwrap()
    }

    pub(crate) fn index_of(&self, leaf: &[u8]) -> u64 {
        self.leaves.iter().position(|known| known == leaf).unwrap() as u64
    }

    /// Returns what the deployment exports about a story, with every document.
    pub(crate) fn evidence(&self, story: &Story) -> Evidence {
        self.evidence_from(story, None)
    }

    pub(crate) fn evidence_from(&self, story: &Story, known_size: Option<u64>) -> Evidence {
        let request = self.request(story, known_size);
        assemble(request, &self.checkpoint(), &self.store).unwrap()
    }

    pub(crate) fn request(&self, story: &Story, known_size: Option<u64>) -> EvidenceRequest {
        let event = |event: &Event| {
            let leaf = event.leaf.bytes();
            LoggedEvent {
                index: self.index_of(&leaf),
                leaf: String::from_utf8(leaf).unwrap(),
                documents: documents(event),
            }
        };
        let leaf = applied(&story.pipeline);
        let definition = LoggedDefinition {
            index: self.index_of(&leaf),
            leaf: String::from_utf8(leaf).unwrap(),
            definition: story.pipeline.definition.as_str().to_owned(),
        };
        let row = story.row();
        EvidenceRequest {
            submission: row.id,
            state: row.state.clone(),
            revision: row.revision,
            events: story.events.iter().map(event).collect(),
            definitions: vec![definition],
            known_size,
        }
    }
}

pub(crate) fn applied(pipeline: &Pipeline) -> Vec<u8> {
    let applied = Applied {
        pipeline: pipeline.name.clone(),
        version: pipeline.version,
        revision: pipeline.revision,
        definition: pipeline.digest,
        at: Time::from_millis(1_000_000_000_000),
    };
    Record::Applied(applied).bytes()
}

pub(crate) fn leaves(events: &[Event]) -> Vec<Vec<u8>> {
    events.iter().map(|event| event.leaf.bytes()).collect()
}

pub(crate) fn documents(event: &Event) -> Documents {
    let shown = |salt: Option<model::token::Bits>, document: Option<&model::Json>| {
        let (salt, text) = (salt?, document?.as_str().to_owned());
        Some(Document { salt, text })
    };
    let salts = &event.detail.salts;
    Documents {
        payload: shown(salts.payload, event.documents.payload.as_ref()),
        output: shown(salts.output, event.documents.output.as_ref()),
        metadata: shown(salts.metadata, event.detail.metadata.as_ref()),
    }
}

/// A report that was reviewed, failed once, was sent in many copies and cooled down.
pub(crate) fn eventful() -> Story {
    let mut story = Story::submitted(story::pipeline(REPORT), r#"{"id":"r-1","pages":120}"#);
    story.pass("1m");
    let mut reject = story::act("reject");
    reject.reason = Some("never".to_owned());
    assert!(story.clone().tell(&model::Command::Act(reject)).is_ok());
    story.act("approve").unwrap();
    let token = story.claim_any();
    story.fail(token, "smtp \"down\"").unwrap();
    story.pass("1m");
    story.wake();
    let token = story.claim_any();
    story.finish(token, "sent", r#"{"copies":3}"#).unwrap();
    story.pass("2h");
    story.wake();
    assert_eq!(story.state(), "SENT");
    story
}
