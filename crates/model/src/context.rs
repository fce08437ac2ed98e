//! The inputs that a decision may not make up: time, chance, secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Name;
use crate::digest::Digest;
use crate::links::Links;
use crate::schema::Tank;
use crate::submission::SubmissionId;
use crate::time::Time;
use crate::token::Bits;

/// The circumstances of one decision.
#[derive(Debug, Clone)]
pub struct Context {
    pub now: Time,
    /// Since when the store has answered without a break: no lease is taken from a worker that could not renew it.
    pub reachable_since: Time,
    /// A hold that covers the submission.
    pub hold: Option<Name>,
    /// Set if the submission's lane has no holder and nobody before it in line.
    pub lane_free: bool,
    /// The number of submissions that the server made at this time before a new one.
    pub arrivals: u32,
    /// Another submission that holds its key.
    pub key_holder: Option<SubmissionId>,
    /// The taken slots of each limit that a claim counts under, by label.
    pub slots: BTreeMap<Name, BTreeSet<u32>>,
    /// The subject in whose name a worker asks for a settlement. `None` where nobody needs one.
    pub settler: Option<Name>,
    /// Fresh for every decision; ids, token bits, salts and jitter come from it.
    pub seed: [u8; 32],
    /// The fuel left for checking documents in this step.
    pub tank: Tank,
    /// The deployment's secret that keeps actors pseudonymous in the audit log.
    pub pseudonyms: [u8; 32],
    /// The addresses that messages name; `None`: the deployment has told none.
    pub links: Option<Arc<Links>>,
}

impl Context {
    /// Returns the circumstances of a decision that is only looked at: nothing it makes is kept, so neither secrets nor
    /// chance matter.
    #[must_use]
    pub fn of_look(now: Time) -> Context {
        Context {
            now,
            reachable_since: now,
            hold: None,
            lane_free: false,
            arrivals: 0,
            key_holder: None,
            slots: BTreeMap::new(),
            settler: None,
            seed: [0; 32],
            tank: Tank::full(),
            pseudonyms: [0; 32],
            links: None,
        }
    }

    /// Returns the value that guards see as `held`.
    #[must_use]
    pub fn held(&self) -> bool {
        self.hold.is_some()
    }
}

/// A stream of random values out of one seed: the same seed gives the same decision, byte for byte.
#[derive(Debug)]
pub(crate) struct Chance {
    seed: [u8; 32],
    drawn: u64,
}

impl Chance {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Chance { seed, drawn: 0 }
    }

    fn draw(&mut self) -> [u8; 32] {
        self.drawn += 1;
        Digest::of_parts(&[&self.seed, &self.drawn.to_be_bytes()]).0
    }

    pub(crate) fn bits(&mut self) -> Bits {
        Bits(self.take())
    }

    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let drawn = self.draw();
        std::array::from_fn(|index| drawn[index % drawn.len()])
    }

    /// Evenly in 0.0..1.0.
    pub(crate) fn fraction(&mut self) -> f64 {
        let bits = u64::from_be_bytes(self.take::<8>()) >> 11;
        #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let fraction = bits as f64 / (1_u64 << 53) as f64;
        fraction
    }
}
