//! The holds in force. Few, so they are kept at hand: placing one over a million submissions writes one row.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use model::admit::Admission;
use model::{Actor, Name, Submission, SubmissionId, Time};
use serde::{Deserialize, Serialize};
use store::Store;

use crate::registry::{self, Entry};

/// The registry kind of holds.
pub const HOLDS: &str = "hold";

/// The holds as they are kept.
#[derive(Debug)]
pub enum KeptHolds {}

impl Entry for KeptHolds {
    const KIND: &'static str = HOLDS;
    type Body = Hold;
}

/// A hold: what is held, by whom, why and until when. All that is given must fit; holds stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    pub id: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Name>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionId>,
    pub reason: String,
    pub owner: Actor,
    pub created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

impl Hold {
    #[must_use]
    pub fn covers(&self, row: &Submission) -> bool {
        let lane = row.seat.as_ref().map(|seat| &seat.lane);
        self.submission.is_none_or(|id| id == row.id) && self.fits(&row.pipeline, lane, &row.labels)
    }

    /// Tells whether the hold covers a submission that is about to be made: new arrivals join what is held.
    pub(crate) fn covers_new(&self, admission: &Admission) -> bool {
        let id = admission.child_id();
        self.submission.is_none_or(|held| id == Some(held))
            && self.fits(admission.pipeline(), admission.lane(), admission.labels())
    }

    fn fits(&self, pipeline: &Name, lane: Option<&Name>, labels: &BTreeMap<Name, Name>) -> bool {
        self.pipeline.as_ref().is_none_or(|wanted| wanted == pipeline)
            && self.lane.as_ref().is_none_or(|wanted| Some(wanted) == lane)
            && self.labels.iter().all(|(label, value)| labels.get(label) == Some(value))
    }
}

/// Holds by id. A copy is a view as of now.
#[derive(Debug, Clone, Default)]
pub struct InForce(BTreeMap<Name, Hold>);

impl InForce {
    /// The holds a store has.
    pub(crate) fn stored(store: &dyn Store) -> Result<InForce, store::Error> {
        let mut in_force = InForce::default();
        for (_, hold) in registry::all::<KeptHolds>(store)? {
            in_force.insert(hold?);
        }
        Ok(in_force)
    }

    pub fn insert(&mut self, hold: Hold) {
        self.0.insert(hold.id.clone(), hold);
    }

    pub fn remove(&mut self, id: &str) -> Option<Hold> {
        self.0.remove(id)
    }

    pub fn all(&self) -> impl Iterator<Item = &Hold> {
        self.0.values()
    }

    /// Every hold over a submission.
    pub fn over<'a>(&'a self, row: &'a Submission) -> impl Iterator<Item = &'a Hold> {
        self.0.values().filter(|hold| hold.covers(row))
    }

    /// Returns the holds whose time has come.
    pub(crate) fn expired(&self, now: Time) -> Vec<Name> {
        let over = |hold: &&Hold| hold.expires_at.is_some_and(|at| at <= now);
        self.0.values().filter(over).map(|hold| hold.id.clone()).collect()
    }

    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.0.values().filter_map(|hold| hold.expires_at).min()
    }
}

/// Shared between the core that decides and those who list them.
#[derive(Debug, Clone, Default)]
pub struct Holds {
    inner: Arc<RwLock<Arc<InForce>>>,
}

impl Holds {
    #[must_use]
    pub fn current(&self) -> Arc<InForce> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn replace(&self, holds: InForce) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(holds);
    }
}
