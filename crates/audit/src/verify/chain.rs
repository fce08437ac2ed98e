//! One submission's events, one after the other.

use std::collections::HashMap;
use std::rc::Rc;

use model::event::Kind;
use model::{ActorKind, Digest, Millis, Right, Time};

use super::finding::{Fault, Finding};
use super::rules::{Rules, Verdict, Way};
use super::stand::{Stand, Taken};
use crate::leaf::EventLeaf;

/// The end of a chain so far.
#[derive(Debug, Clone)]
pub(super) struct Tip {
    pub(super) hash: Digest,
    pub(super) revision: u64,
    /// The index of the definition that the chain follows.
    pub(super) rules: usize,
    pub(super) stand: Stand,
    /// The name of the state it stands in.
    stood: u64,
}

/// A definition and the verdicts it gave: an event like one before is judged by looking it up.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) rules: Rules,
    /// The time at which another revision of the same version took the place of this one.
    pub(super) replaced_at: Option<Time>,
    verdicts: HashMap<Vec<u8>, Rc<Verdict>>,
    key: Vec<u8>,
}

/// Kinds of events are few; a log that asks for more verdicts than this is answered afresh each time.
const VERDICTS_MAX: usize = 100_000;

/// The time a decision may be logged after its revision is replaced: by another server, or in the same commit.
const UNDER_WAY: Millis = Millis::from_secs(60);

impl Judge {
    pub(super) fn new(rules: Rules) -> Self {
        Judge { rules, replaced_at: None, verdicts: HashMap::new(), key: Vec::new() }
    }

    /// Tells whether a submission may go on from one definition to the other without being migrated: nothing but
    /// parameters differs.
    fn revises(&self, other: &Judge) -> bool {
        self.rules.pipeline.is_revision_of(&other.rules.pipeline)
    }

    /// A revision decides until the next one takes its place.
    pub(super) fn check_in_force(&self, leaf: &EventLeaf<'_>) -> Result<(), Finding> {
        match self.replaced_at {
            Some(at) if leaf.at > at.plus(UNDER_WAY) => {
                let message = format!(
                    "it was decided by definition {} at {}, whose parameters were replaced at {at}",
                    leaf.definition, leaf.at
                );
                Err(Finding::new(Fault::Definition, message))
            }
            _ => Ok(()),
        }
    }

    fn verdict(&mut self, leaf: &EventLeaf<'_>) -> Result<Rc<Verdict>, Finding> {
        write_key(&mut self.key, leaf);
        if let Some(verdict) = self.verdicts.get(&self.key) {
            return Ok(Rc::clone(verdict));
        }
        let verdict = Rc::new(self.rules.judge(leaf)?);
        if self.verdicts.len() >= VERDICTS_MAX {
            self.verdicts.clear();
        }
        self.verdicts.insert(self.key.clone(), Rc::clone(&verdict));
        Ok(verdict)
    }
}

/// All of an event that its verdict depends on.
fn write_key(key: &mut Vec<u8>, leaf: &EventLeaf<'_>) {
    key.clear();
    let right = match leaf.right {
        Right::Rule => 0,
        Right::Lease(_) => 1,
        Right::Role(role) => 2 + role as u8,
    };
    let actor = match leaf.actor {
        ActorKind::System => 0,
        ActorKind::Worker => 1,
        ActorKind::Submitter => 2,
        ActorKind::Reviewer => 3,
        ActorKind::Admin => 4,
    };
    key.extend([leaf.kind as u8, right, actor, u8::from(leaf.from.is_some())]);
    // What died says why in words of its own; any will do.
    let trigger = if leaf.kind == Kind::Died { "" } else { &leaf.trigger };
    for text in [leaf.from.as_deref().unwrap_or(""), &leaf.to, trigger] {
        key.extend(u32::try_from(text.len()).expect("a leaf has at most 64 KB").to_be_bytes());
        key.extend(text.as_bytes());
    }
}

/// One step of a chain: what was checked, for whoever wants to look further.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) verdict: Rc<Verdict>,
    taken: Taken,
}

impl Step {
    /// The edges it may have taken.
    pub(super) fn ways(&self) -> &[Way] {
        match &self.taken {
            Taken::Any => &self.verdict.ways,
            Taken::OneOf(ways) => ways,
        }
    }
}

/// Checks an event against the end of its submission's chain, and moves the end on. `began` says that earlier events may
/// have been pruned.
pub(super) fn follow(
    tip: &mut Option<Tip>,
    (leaf, hash): (&EventLeaf<'_>, Digest),
    (judges, rules): (&mut [Judge], usize),
    began: bool,
) -> Result<Step, Finding> {
    let Some(tip) = tip else {
        let (first, step) = begin((leaf, hash), (&mut judges[rules], rules), began)?;
        *tip = Some(first);
        return Ok(step);
    };
    if leaf.revision != tip.revision + 1 {
        let message = format!("revision {} comes after {}", leaf.revision, tip.revision);
        return Err(Finding::new(Fault::Revision, message));
    }
    if leaf.previous != Some(tip.hash) {
        let message =
            format!("it does not follow revision {}: it names another leaf before it", tip.revision);
        return Err(Finding::new(Fault::Chain, message));
    }
    let migrates = leaf.kind == Kind::Migrated;
    let revises = tip.rules == rules || judges[rules].revises(&judges[tip.rules]);
    if migrates && (revises || named(leaf.from.as_deref().unwrap_or("")) != tip.stood) {
        return Err(super::rules::illegal("a migration leads from where it stood to another definition"));
    }
    if !revises && !migrates {
        return Err(Finding::new(Fault::Definition, "a submission stays with the version it came in under"));
    }
    let judge = &mut judges[rules];
    let verdict = judge.verdict(leaf)?;
    let taken = match migrates {
        true => Taken::Any,
        false => tip.stand.allow(&judge.rules, leaf, &verdict)?,
    };
    tip.stand.after(leaf, &verdict);
    (tip.hash, tip.revision, tip.rules) = (hash, leaf.revision, rules);
    tip.stood = named(&leaf.to);
    Ok(Step { verdict, taken })
}

/// A state's name as a number, so that the end of a chain stays small (FNV-1a).
fn named(state: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    state.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn begin(
    (leaf, hash): (&EventLeaf<'_>, Digest),
    (judge, rules): (&mut Judge, usize),
    began: bool,
) -> Result<(Tip, Step), Finding> {
    let is_first = leaf.revision == 1 && leaf.previous.is_none();
    let is_later = leaf.revision > 1 && leaf.previous.is_some();
    if !(is_first || is_later && began) {
        let message =
            format!("its history begins with revision {}: what was before is missing", leaf.revision);
        return Err(Finding::new(Fault::Revision, message));
    }
    let verdict = judge.verdict(leaf)?;
    if is_first != (leaf.kind == Kind::Submitted) {
        return Err(super::rules::illegal("a history begins when it is submitted, and only then"));
    }
    let stand = if is_first { Stand::first(leaf, &verdict)? } else { Stand::middle(leaf, &verdict) };
    let stood = named(&leaf.to);
    Ok((Tip { hash, revision: leaf.revision, rules, stand, stood }, Step { verdict, taken: Taken::Any }))
}
