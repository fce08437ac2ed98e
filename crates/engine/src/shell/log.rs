//! The audit log as callers ask for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use audit::guard::Guard;
use audit::leaf::Record;
use audit::note::{Checkpoint, Note};
use audit::proof::Evidence;
use audit::tiles::{TilePath, TileSource as _};
use model::{Code, Name, Refusal, SubmissionId};

use super::Engine;
use crate::core::{ActorNames, Ask, LogDeed};
use crate::log::{
    EvidenceError, KeyFileError, LogReport, LogState, Standing, StoreTiles, checkpoint, evidence,
    newest_acts, size_of,
};
use crate::registry;

/// The time a wait for a proof trusts in hints: over a shared store another server may publish.
const PROOF_SWEEP: Duration = Duration::from_millis(250);

impl Engine {
    fn logged(&self) -> Result<&Arc<LogState>, Refusal> {
        self.log.as_ref().ok_or_else(|| Refusal::new(Code::NoLog, "this server publishes no audit log"))
    }

    /// The published checkpoint, as a signed note.
    pub async fn checkpoint(&self) -> Result<Option<String>, Refusal> {
        self.logged()?;
        self.read(checkpoint).await
    }

    /// A tile of hashes or of entries; `None`: it is not there, not yet or not any more.
    pub async fn tile(&self, path: TilePath) -> Result<Option<Vec<u8>>, Refusal> {
        self.logged()?;
        self.read(move |store| {
            // Entries are there before a checkpoint covers them; nobody could check them.
            let size = checkpoint(store)?.map_or(0, |note| size_of(&note));
            if !is_covered(&path, size) {
                return Ok(None);
            }
            match StoreTiles(store).tile(&path) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(audit::tiles::SourceError::Missing(_)) => Ok(None),
                Err(error) => Err(store::Error::unavailable(error.to_string())),
            }
        })
        .await
    }

    /// The log's keys, one line each, as verifiers are given them.
    pub fn log_keys(&self) -> Result<Vec<String>, Refusal> {
        let keys = self.logged()?.keys.verifiers().map_err(|error| key_refusal(&error))?;
        Ok(keys.iter().map(ToString::to_string).collect())
    }

    /// Reports how the log is doing, and how many leaves wait for the next checkpoint.
    pub async fn log_report(&self) -> Result<(LogReport, u64), Refusal> {
        let state = self.logged()?;
        let newest = *self.hints.subscribe().borrow();
        let size = self.read(checkpoint).await?.map_or(0, |note| size_of(&note));
        Ok((state.report(size), newest.saturating_sub(size)))
    }

    /// Returns the standing of the log: whether it goes on, and if not, why.
    #[must_use]
    pub fn log_standing(&self) -> Option<Standing> {
        self.log.as_ref().map(|state| state.standing())
    }

    /// Everything a third party needs to check what happened to a submission.
    pub async fn evidence(
        &self,
        id: SubmissionId,
        reveal: bool,
        known_size: Option<u64>,
    ) -> Result<Evidence, Refusal> {
        self.logged()?;
        let versions = self.pipelines().current();
        let made = self.read(move |store| match evidence(store, &versions, id, (reveal, known_size)) {
            Err(EvidenceError::Store(error)) => Err(error),
            other => Ok(other),
        });
        made.await?.map_err(|error| {
            let code = match &error {
                EvidenceError::NotYet | EvidenceError::Prove(_) => Code::NotProven,
                EvidenceError::Retired => Code::FeedRetired,
                EvidenceError::TooLarge => Code::TooLarge,
                EvidenceError::Definition(_) | EvidenceError::Store(_) => Code::Internal,
            };
            Refusal::new(code, error.to_string())
        })
    }

    /// Waits until a signed checkpoint covers what has happened to a submission so far.
    pub async fn proven(&self, id: SubmissionId, within: Duration) -> Result<(), Refusal> {
        let state = self.logged()?;
        let mut sizes = state.sizes();
        let seq = self.read(move |store| {
            let Some((row, _)) = store.submission(id)? else { return Ok(0) };
            let newest = store.history(id, row.revision.saturating_sub(1), 1)?;
            Ok(newest.last().map_or(u64::MAX, |recorded| recorded.seq))
        });
        let seq = seq.await?;
        let over = tokio::time::sleep(within);
        tokio::pin!(over);
        loop {
            if *sizes.borrow_and_update() >= seq {
                return Ok(());
            }
            self.duties.wake("log");
            let refused = matches!(state.standing(), Standing::Refused { .. });
            let swept = tokio::select! {
                () = &mut over => return Err(not_proven(id)),
                _ = sizes.changed() => false,
                () = tokio::time::sleep(PROOF_SWEEP) => true,
            };
            if swept && self.read(checkpoint).await?.is_some_and(|note| size_of(&note) >= seq) {
                return Ok(());
            }
            if refused {
                return Err(not_proven(id));
            }
        }
    }

    /// Lets a log go on that stands still because its store is not what was signed: what was signed is given up, and the
    /// log says so.
    pub async fn fork(&self, reason: String) -> Result<(), Refusal> {
        let state = self.logged()?;
        model::admit::check_reason(Some(&reason))?;
        let Standing::Refused { seen, .. } = state.standing() else {
            let message = match self.store.is_shared() {
                true => "the log goes on, or another server publishes it: ask that one",
                false => "the log goes on; there is nothing to give up",
            };
            return Err(Refusal::new(Code::LogRunning, message));
        };
        let guard = Guard::open(&state.guard, Vec::new());
        let guard = guard.map_err(|error| Refusal::new(Code::Unavailable, error.to_string()))?;
        let given_up = match guard.last() {
            Some(last) => Some((last.size, last.root)),
            None => self.read(checkpoint).await?.and_then(|note| {
                let note = Note::parse(note.as_bytes()).ok()?;
                note.text.parse::<Checkpoint>().ok().map(|last| (last.size, last.root))
            }),
        };
        let (size, root) = given_up.ok_or_else(|| {
            Refusal::new(Code::LogRunning, "nothing was signed; there is nothing to give up")
        })?;
        let forgiven = seen.max(size);
        self.ask(Ask::Log(Box::new(LogDeed::Fork { size, root, forgiven, reason })).into()).await?;
        self.duties.wake("log");
        Ok(())
    }

    /// The acts of the log with an index below `before`, newest first, each with its index.
    pub async fn acts(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, Record)>, Refusal> {
        self.read(move |store| newest_acts(store, before, limit)).await
    }

    /// The names that pseudonyms of acts stand for, where they are still known.
    pub async fn actors(&self) -> Result<BTreeMap<String, Name>, Refusal> {
        Ok(self.read(registry::readable::<ActorNames>).await?.into_iter().collect())
    }

    /// Says which keys have signed from the beginning, before they change: the log's own duty may not have come to it yet, and
    /// would take the first key for one that was added.
    async fn know_log_keys(&self) -> Result<Arc<LogState>, Refusal> {
        let state = self.logged()?.clone();
        let keys = state.keys.verifiers().map_err(|error| key_refusal(&error))?;
        let keys = keys.iter().map(ToString::to_string).collect();
        self.ask(Ask::Log(Box::new(LogDeed::KnowKeys(keys))).into()).await?;
        Ok(state)
    }

    /// Makes one more key. It signs along with the others from the next checkpoint on.
    pub async fn add_log_key(&self) -> Result<String, Refusal> {
        let state = self.know_log_keys().await?;
        let key = state.keys.add().map_err(|error| key_refusal(&error))?.to_string();
        self.ask(Ask::Log(Box::new(LogDeed::AddKey(key.clone()))).into()).await?;
        self.duties.wake("log");
        Ok(key)
    }

    /// Takes a key away, by its line or its id.
    pub async fn retire_log_key(&self, key: &str) -> Result<String, Refusal> {
        let state = self.know_log_keys().await?;
        let key = state.keys.retire(key).map_err(|error| key_refusal(&error))?.to_string();
        self.ask(Ask::Log(Box::new(LogDeed::RetireKey(key.clone()))).into()).await?;
        self.duties.wake("log");
        Ok(key)
    }
}

/// Tells whether a checkpoint of `size` covers all of a tile.
fn is_covered(path: &TilePath, size: u64) -> bool {
    let level = match path.shelf {
        audit::tiles::Shelf::Hashes(level) => level,
        audit::tiles::Shelf::Entries => 0,
    };
    let nodes = size.checked_shr(8 * u32::from(level)).unwrap_or(0);
    let end = path.index.checked_mul(256).and_then(|first| first.checked_add(u64::from(path.width)));
    end.is_some_and(|end| end <= nodes)
}

fn not_proven(id: SubmissionId) -> Refusal {
    let message = "it is committed, and not yet under a signed checkpoint; ask for its evidence in a while";
    Refusal::new(Code::NotProven, message).with("submission", id.to_string())
}

fn key_refusal(error: &KeyFileError) -> Refusal {
    let code = match error {
        KeyFileError::Unknown(_) => Code::UnknownKey,
        KeyFileError::Last => Code::LastKey,
        _ => Code::Unavailable,
    };
    Refusal::new(code, error.to_string())
}
