//! The witnesses of a deployment's policy, asked for their cosignatures after each checkpoint.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use audit::note::{Checkpoint, Note};
use audit::tiles::CheckedTiles;
use audit::tree::prove_consistency;
use audit::witness::{CollectError, Policy, Post, collect};

use super::publish::failing;
use super::state::{LogState, Standing};
use super::tiles::StoreTiles;
use crate::clock;

/// The time for which a witness that did not answer is left alone: a slow witness must not slow the log.
const REST: Duration = Duration::from_secs(30);

/// The witnesses that are asked, and how they are reached.
#[derive(Clone)]
pub struct Witnesses {
    policy: Policy,
    post: Arc<dyn Post + Send + Sync>,
    resting: HashMap<Vec<u8>, Instant>,
}

impl fmt::Debug for Witnesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Witnesses").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// The answer of the witnesses.
pub(super) enum Asked {
    /// The note with their cosignatures, if there was one.
    Cosigned(Option<Note>),
    Objected(Standing),
}

impl Witnesses {
    #[must_use]
    pub fn new(policy: Policy, post: Arc<dyn Post + Send + Sync>) -> Self {
        Witnesses { policy, post, resting: HashMap::new() }
    }

    /// Asks everybody who is not resting about a checkpoint. Those who remember what was given up are passed over.
    pub(super) fn ask(
        &mut self,
        tiles: &StoreTiles<'_>,
        text: &str,
        forgiven: u64,
        state: &LogState,
    ) -> Result<Asked, Standing> {
        let mut note = Note::parse(text.as_bytes()).map_err(failing)?;
        note.signatures.retain(|signature| signature.name == state.origin);
        let checkpoint: Checkpoint = note.text.parse().map_err(failing)?;
        let (size, root) = checkpoint.tree();
        let checked = CheckedTiles::open(tiles, size, root).map_err(failing)?;
        let mut prove = |old| prove_consistency(&checked, old, size).map_err(|error| error.to_string());
        let mut policy = self.awake();
        loop {
            match collect(&policy, &note, &*self.post, &mut prove) {
                Ok(collected) => {
                    let missing =
                        collected.missing.iter().map(|(name, reason)| (name.clone(), reason.clone()));
                    self.tell(&policy, &missing.collect(), size, state);
                    let more = collected.note.signatures.len() > note.signatures.len();
                    return Ok(Asked::Cosigned(more.then_some(collected.note)));
                }
                Err(error) => {
                    let (witness, seen) = match &error {
                        CollectError::Behind { witness, seen, .. } => (witness, *seen),
                        CollectError::Forked { witness, size } => (witness, *size),
                    };
                    state.witness(witness, Err(error.to_string()));
                    if seen > forgiven {
                        return Ok(Asked::Objected(Standing::Refused { reason: error.to_string(), seen }));
                    }
                    policy.witnesses.retain(|line| String::from_utf8_lossy(&line.name) != *witness);
                }
            }
        }
    }

    /// The policy without those who are left alone for now.
    fn awake(&mut self) -> Policy {
        let now = clock::instant();
        self.resting.retain(|_, until| *until > now);
        let mut policy = self.policy.clone();
        policy.witnesses.retain(|line| line.url.is_some() && !self.resting.contains_key(&line.name));
        policy
    }

    fn tell(&mut self, asked: &Policy, missing: &HashMap<String, String>, size: u64, state: &LogState) {
        for line in &asked.witnesses {
            let name = String::from_utf8_lossy(&line.name).into_owned();
            match missing.get(&name) {
                None => state.witness(&name, Ok(size)),
                Some(reason) => {
                    self.resting.insert(line.name.clone(), clock::instant() + REST);
                    state.witness(&name, Err(reason.clone()));
                }
            }
        }
    }
}
