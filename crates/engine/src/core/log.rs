//! Log entries besides events: definitions that come into force, and what is done to the log itself. Each is an act of
//! a series, committed with what it tells of.

use audit::leaf::{Applied, Entry as Logged, Forked, KeyChange, Pruned, Record};
use audit::tiles::{LEAF_BYTES_MAX, check_leaf};
use model::event::Leaf;
use model::{Code, Digest, Pipeline, Refusal, SubmissionId};
use serde::{Deserialize, Serialize};
use store::Store;

use super::commit::Commit;
use super::{LoggedRecord, Output, Reply};
use crate::pipelines::{AppliedVersion, history_key};
use crate::registry::{self, Entry, EntryKey, OneEntry};

/// The registry kind of what the log needs to know.
pub const LOG: &str = "log";
/// The entry that counts its acts.
pub const ACTS: &str = "acts";

/// The entry that keeps what the acts so far came to.
#[derive(Debug)]
pub enum LogActs {}

impl Entry for LogActs {
    const KIND: &'static str = LOG;
    type Body = Acts;
}

impl OneEntry for LogActs {
    const NAME: &'static str = ACTS;
}

/// The acts whose place in the sequence of events is gone.
#[derive(Debug)]
pub enum KeptActs {}

impl Entry for KeptActs {
    const KIND: &'static str = "applied-act";
    type Body = LoggedRecord;
}

/// Something done to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Entries below this index may go.
    Prune {
        minimum_index: u64,
        reason: String,
    },
    /// The log goes on although more was signed: that is given up, and what witnesses have seen up to `forgiven`
    /// leaves.
    Fork {
        size: u64,
        root: Digest,
        forgiven: u64,
        reason: String,
    },
    /// These keys have signed from the beginning.
    KnowKeys(Vec<String>),
    AddKey(String),
    RetireKey(String),
}

/// The result of the acts so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acts {
    /// The number of acts.
    pub revision: u64,
    /// The keys that sign, as verifiers know them.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Witnesses who have seen no more than this are not believed: it was given up.
    #[serde(default)]
    pub forgiven: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<LoggedPrune>,
}

/// The last act that let entries go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedPrune {
    pub minimum_index: u64,
    pub revision: u64,
}

/// The series of a pipeline's definitions: the n-th act of it is the n-th of what was applied.
#[must_use]
pub fn applied_series(pipeline: &str) -> SubmissionId {
    SubmissionId::of_series(&format!("pipeline/{pipeline}"))
}

/// Returns the key of the first act that applied a definition, kept once its place in the sequence of events is gone.
#[must_use]
pub fn kept_key(applied: &Applied) -> EntryKey<KeptActs> {
    EntryKey::new(format!("{}@{}", applied.pipeline, applied.definition))
}

/// The act that is kept of a definition.
pub fn kept_act(store: &dyn Store, definition: &Digest) -> Result<Option<LoggedRecord>, store::Error> {
    let is_of = |act: &LoggedRecord| matches!(Logged::read(act.leaf.as_bytes()), Ok(Logged::Record(Record::Applied(applied))) if applied.definition == *definition);
    Ok(registry::readable::<KeptActs>(store)?.into_iter().map(|(_, act)| act).find(is_of))
}

#[must_use]
pub fn log_series() -> SubmissionId {
    SubmissionId::of_series("log")
}

/// Checks that the log can hold an event. What cannot be logged does not happen.
pub(super) fn check_event(leaf: &Leaf) -> Result<(), Refusal> {
    // Everything but names is short; a letter of a name takes at most six bytes.
    const REST: usize = 2_000;
    let names = leaf.to.len() + leaf.trigger.len() + leaf.from.as_ref().map_or(0, |from| from.len());
    if 6 * names + REST <= LEAF_BYTES_MAX { Ok(()) } else { fits(&leaf.bytes()) }
}

fn fits(leaf: &[u8]) -> Result<(), Refusal> {
    check_leaf(leaf).map_err(|error| Refusal::new(Code::TooLarge, error.to_string()))
}

impl Commit<'_> {
    /// Logs that a definition is in force from here on.
    pub(super) fn log_applied(&mut self, pipeline: &Pipeline) -> Result<(), Refusal> {
        let key = history_key(&pipeline.name);
        let mut history = self.readable(&key).unwrap_or_default();
        history.push(AppliedVersion::from(pipeline));
        let act = Record::Applied(Applied {
            pipeline: pipeline.name.clone(),
            version: pipeline.version,
            revision: pipeline.revision,
            definition: pipeline.digest,
            at: self.now,
        });
        self.push_act(applied_series(&pipeline.name), history.len() as u64, &act)?;
        self.put(&key, &history);
        Ok(())
    }

    pub(super) fn log(&mut self, deed: &Deed) -> Reply {
        let key = EntryKey::<LogActs>::one();
        let mut acts = self.readable(&key).unwrap_or_default();
        let revision = acts.revision + 1;
        let at = self.now;
        let change = |key: &String| KeyChange { key: key.clone(), at };
        let act = match deed {
            Deed::KnowKeys(keys) => {
                if acts.keys.is_empty() {
                    acts.keys = keys.clone();
                    self.put(&key, &acts);
                }
                return Ok(Output::Gone);
            }
            // Said before: a repeat changes nothing.
            Deed::AddKey(key) if acts.keys.contains(key) => return Ok(Output::Gone),
            Deed::RetireKey(key) if !acts.keys.contains(key) => return Ok(Output::Gone),
            Deed::AddKey(key) => {
                acts.keys.push(key.clone());
                Record::KeyAdded(change(key))
            }
            Deed::RetireKey(key) => {
                acts.keys.retain(|known| known != key);
                Record::KeyRetired(change(key))
            }
            Deed::Prune { minimum_index, .. }
                if acts.pruned.is_some_and(|pruned| pruned.minimum_index >= *minimum_index) =>
            {
                return Ok(Output::Gone);
            }
            Deed::Prune { minimum_index, reason } => {
                acts.pruned = Some(LoggedPrune { minimum_index: *minimum_index, revision });
                Record::Pruned(Pruned { minimum_index: *minimum_index, at, reason: reason.clone() })
            }
            Deed::Fork { size, root, forgiven, reason } => {
                acts.forgiven = acts.forgiven.max(*forgiven);
                Record::Forked(Forked { size: *size, root: *root, at, reason: reason.clone() })
            }
        };
        acts.revision = revision;
        self.push_act(log_series(), revision, &act)?;
        self.put(&key, &acts);
        if self.by.is_some() {
            let (deed, of) = match deed {
                Deed::Fork { size, .. } => ("log-forked", size.to_string()),
                Deed::AddKey(key) => ("log-key-added", key.clone()),
                Deed::RetireKey(key) => ("log-key-retired", key.clone()),
                Deed::Prune { minimum_index, .. } => ("log-pruned", minimum_index.to_string()),
                Deed::KnowKeys(_) => return Ok(Output::Gone),
            };
            self.administered(deed, &of, &[]);
        }
        Ok(Output::Gone)
    }

    pub(super) fn push_act(
        &mut self,
        series: SubmissionId,
        revision: u64,
        act: &Record,
    ) -> Result<(), Refusal> {
        let leaf = act.bytes();
        fits(&leaf)?;
        self.changes.acts.push(store::Record { series, revision, leaf });
        Ok(())
    }
}
