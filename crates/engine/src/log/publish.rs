//! One step of the log: what was committed since the last checkpoint, under the next.

use std::sync::Arc;

use audit::follow::{PublishError, Publisher};
use audit::guard::{Guard, GuardError};
use audit::leaf::{Entry, Forked, Record};
use model::Time;
use store::Store;

use super::state::{LogState, Standing};
use super::tiles::{StoreTiles, checkpoint};
use super::witnesses::{Asked, Witnesses};
use crate::core::{Acts, LogActs};
use crate::registry::EntryKey;

/// Leaves of one checkpoint. More than a second brings; after a standstill the rest follows at once.
const BATCH_MAX: usize = 10_000;

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Published {
    /// There was nothing to publish.
    Nothing,
    Done {
        more: bool,
    },
    /// Somebody else published meanwhile.
    Elsewhere,
}

/// Publishes, pass after pass. Keeps nothing of the log between them: another server may publish in between.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) state: Arc<LogState>,
    pub(crate) witnesses: Option<Witnesses>,
    /// Set if the witnesses were asked what they know before anything was signed.
    asked: bool,
    /// The objection of one of the witnesses.
    objected: Option<Standing>,
}

impl Follower {
    pub(crate) fn new(state: Arc<LogState>, witnesses: Option<Witnesses>) -> Self {
        Follower { state, witnesses, asked: false, objected: None }
    }

    /// One step. An error is told by `standing` as well.
    pub(crate) fn step(&mut self, store: &dyn Store, now: Time) -> Result<Published, String> {
        let stepped = self.publish(store, now);
        match &stepped {
            Ok(_) => self.state.stands(Standing::Running),
            Err(standing) => self.state.stands(standing.clone()),
        }
        stepped.map_err(|standing| match standing {
            Standing::Running => String::new(),
            Standing::Refused { reason, .. } | Standing::Failing(reason) => reason,
        })
    }

    fn publish(&mut self, store: &dyn Store, now: Time) -> Result<Published, Standing> {
        let tiles = StoreTiles(store);
        let acts = acts(store).map_err(failing)?;
        let guard = self.guard()?;
        let mut publisher = Publisher::open(&tiles, &self.state.origin, guard).map_err(failing)?;
        let before = publisher.size();
        let owed = publisher.owed();
        let limit = BATCH_MAX.max(usize::try_from(owed).unwrap_or(usize::MAX));
        let page = store.leaves(before, limit).map_err(failing)?;
        if page.first != before + 1 {
            return Err(failing("events were retired before they were logged; restore a backup"));
        }
        let objection = self.objection(&tiles, &acts)?;
        let empty = page.leaves.is_empty() && owed == 0 && checkpoint(store).map_err(failing)?.is_some();
        if empty && objection.is_none() {
            self.state.published(before, now);
            return Ok(Published::Nothing);
        }
        let advanced = match objection {
            Some(objection) => Err(objection),
            None if (page.leaves.len() as u64) < owed => {
                Err(behind(before + owed, before + page.leaves.len() as u64))
            }
            None => match publisher.advance(&page.leaves) {
                Err(PublishError::Guard(error)) => Err(refused(&error)),
                Err(PublishError::Moved) => return Ok(Published::Elsewhere),
                other => Ok(other.map_err(failing)?),
            },
        };
        let published = match advanced {
            Ok(published) => published,
            Err(standing) => {
                // The way on: somebody decided to give up what was signed, and the log says so.
                let last = publisher.last_signed().map(|last| (last.size, last.root));
                let fork =
                    forked(&page.leaves, last).filter(|_| matches!(standing, Standing::Refused { .. }));
                let Some((place, fork)) = fork else { return Err(standing) };
                publisher.fork(&page.leaves[..place], &fork.decision()).map_err(failing)?
            }
        };
        let size = published.checkpoint.size;
        self.state.published(size, now);
        self.cosign(&mut publisher, &tiles, &published.text, &acts)?;
        Ok(Published::Done { more: size < before + page.leaves.len() as u64 || page.leaves.len() == limit })
    }

    fn guard(&self) -> Result<Guard, Standing> {
        let signers = self.state.keys.signers().map_err(failing)?;
        Guard::open(&self.state.guard, signers).map_err(failing)
    }

    /// Returns the objection of a witness that has seen more of this log than there is, or another. Before anything is
    /// signed after a start, the witnesses are asked about the last checkpoint.
    fn objection(&mut self, tiles: &StoreTiles<'_>, acts: &Acts) -> Result<Option<Standing>, Standing> {
        self.objected = self.objected.take().filter(|objected| objected.seen() > acts.forgiven);
        if let Some(witnesses) = self.witnesses.as_mut().filter(|_| !self.asked)
            && let Some(text) = checkpoint(tiles.0).map_err(failing)?
        {
            self.asked = true;
            if let Asked::Objected(standing) = witnesses.ask(tiles, &text, acts.forgiven, &self.state)? {
                self.objected = Some(standing);
            }
        }
        Ok(self.objected.clone())
    }

    /// Adds the cosignatures there are to the checkpoint that was just published.
    fn cosign(
        &mut self,
        publisher: &mut Publisher<'_>,
        tiles: &StoreTiles<'_>,
        text: &str,
        acts: &Acts,
    ) -> Result<(), Standing> {
        let Some(witnesses) = &mut self.witnesses else { return Ok(()) };
        match witnesses.ask(tiles, text, acts.forgiven, &self.state)? {
            Asked::Objected(standing) => {
                self.objected = Some(standing.clone());
                Err(standing)
            }
            Asked::Cosigned(None) => Ok(()),
            Asked::Cosigned(Some(note)) => match publisher.cosigned(&note) {
                // Somebody else has published a newer one: theirs will be cosigned.
                Ok(()) | Err(PublishError::Moved) => Ok(()),
                Err(error) => Err(failing(error)),
            },
        }
    }
}

/// Reads the result of the acts of the log.
pub(crate) fn acts(store: &dyn Store) -> Result<Acts, store::Error> {
    Ok(EntryKey::<LogActs>::one().get(store)?.unwrap_or_default())
}

/// The first act among the leaves that gives up what was signed last.
fn forked(leaves: &[Vec<u8>], last: Option<(u64, model::Digest)>) -> Option<(usize, Forked)> {
    const BEGINS: &[u8] = b"{\"format\":1,\"kind\":\"forked\"";
    leaves.iter().enumerate().filter(|(_, leaf)| leaf.starts_with(BEGINS)).find_map(|(place, leaf)| {
        match Entry::read(leaf) {
            Ok(Entry::Record(Record::Forked(fork)))
                if last.is_none_or(|last| last == (fork.size, fork.root)) =>
            {
                Some((place, fork))
            }
            _ => None,
        }
    })
}

fn behind(signed: u64, size: u64) -> Standing {
    refused(&GuardError::Behind { signed, size })
}

fn refused(error: &GuardError) -> Standing {
    let reason = error.to_string();
    match error {
        GuardError::Behind { signed, .. } | GuardError::Forked { signed, .. } => {
            Standing::Refused { reason, seen: *signed }
        }
        _ => Standing::Failing(reason),
    }
}

pub(super) fn failing(error: impl ToString) -> Standing {
    Standing::Failing(error.to_string())
}
