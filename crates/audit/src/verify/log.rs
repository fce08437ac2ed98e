//! A whole log, bundle by bundle: every entry against the signed root, every chain, every move.

use std::collections::{HashMap, HashSet};

use model::{Digest, Name, SubmissionId};

use super::chain::{Judge, Tip, follow};
use super::evidence::{load, open};
use super::finding::{Fault, Finding, LogPlace};
use super::rules::Rules;
use super::unborn;
use crate::leaf::{Applied, Entry, EventLeaf, Record};
use crate::note::{Opened, Trust};
use crate::tiles::{
    CheckedTiles, Entries, SourceError, TILE_WIDTH, TileError, TilePath, TileSource, hash_of, read_bundle,
};
use crate::tree::{leaf_hash, subtree_hash};

/// A source of the exact bytes of definitions, by their digest.
pub trait Definitions {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String>;
}

/// The knowledge and wishes of a verifier, besides the log.
#[derive(Debug, Default)]
pub struct LogOptions<'a> {
    /// A checkpoint that was seen before: the log must go on from there.
    pub known: Option<&'a str>,
    /// Submissions whose ends to report.
    pub watch: Vec<SubmissionId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReport {
    pub checkpoint: Opened,
    pub events: u64,
    pub submissions: u64,
    pub definitions: u64,
    /// Entries below this index are gone, as the log says they may be.
    pub pruned_below: u64,
    /// Acts that a reader of the report should know of: forks and keys, with their index.
    pub acts: Vec<(u64, Record)>,
    /// The indexes of those forks that gave up nothing the log had named: it still begins with the leaves of that checkpoint.
    pub forks_kept: Vec<u64>,
    /// The number of deeds of those who look after the server; they are no events of submissions.
    pub administered: u64,
    pub tips: Vec<TipReport>,
}

/// The end of a submission's history: nothing comes after it in this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TipReport {
    pub submission: SubmissionId,
    pub revision: u64,
    pub state: String,
    /// The hash of its last leaf.
    pub leaf: Digest,
}

/// Checks a log against its signed checkpoint. The first thing wrong is returned.
pub fn verify_log<S: TileSource + Definitions>(
    source: &S,
    checkpoint: &str,
    trust: &Trust,
    options: &LogOptions<'_>,
) -> Result<LogReport, Finding> {
    let opened = open(trust, checkpoint)?;
    let (size, root) = opened.checkpoint.tree();
    let tiles = CheckedTiles::open(source, size, root).map_err(|error| tile_fault(&error))?;
    if let Some(known) = options.known {
        check_known(&tiles, &opened, &open(trust, known)?)?;
    }
    let mut audit = Audit::new(source);
    let mut gone = 0;
    for first in (0..size).step_by(usize::from(TILE_WIDTH)) {
        let path = TilePath::of_entry(first, size);
        match read_bundle(source, &path) {
            Ok(bundle) => audit.bundle(&tiles, path, &bundle)?,
            Err(SourceError::Missing(_)) if path.is_full() && gone == first => {
                gone = first + u64::from(TILE_WIDTH);
                audit.gone = gone;
                // The hashes stay: what is gone is still vouched for.
                tiles.tile(0, path.index).map_err(|error| tile_fault(&error).at(LogPlace::index(first)))?;
            }
            Err(error) => return Err(Finding::new(Fault::Tile, error.to_string()).at(LogPlace::index(first))),
        }
    }
    if audit.pruned_below < gone {
        let message = format!("entries 0 to {} are gone and no act in the log allows that", gone - 1);
        return Err(Finding::new(Fault::Pruned, message).at(LogPlace::index(0)));
    }
    let mut report = audit.report(opened.clone(), options);
    for (index, act) in &report.acts {
        if let Record::Forked(fork) = act
            && fork.size <= size
            && subtree_hash(&tiles, 0..fork.size).map_err(|error| tile_fault(&error))? == fork.root
        {
            report.forks_kept.push(*index);
        }
    }
    Ok(report)
}

fn tile_fault(error: &TileError) -> Finding {
    Finding::new(Fault::Tile, error.to_string())
}

fn check_known(tiles: &CheckedTiles<'_>, opened: &Opened, known: &Opened) -> Result<(), Finding> {
    let ((size, _), (old, root)) = (opened.checkpoint.tree(), known.checkpoint.tree());
    let fault = |message: String| Finding::new(Fault::Consistency, message);
    if opened.checkpoint.origin != known.checkpoint.origin {
        return Err(fault(format!(
            "it is {}, you know {}",
            opened.checkpoint.origin, known.checkpoint.origin
        )));
    }
    if size < old {
        return Err(fault(format!("it has {size} leaves and you have seen {old}: its tail was cut off")));
    }
    let then = subtree_hash(tiles, 0..old).map_err(|error| tile_fault(&error))?;
    if then == *root {
        Ok(())
    } else {
        Err(fault(format!("its first {old} leaves are not those you have seen")))
    }
}

struct Audit<'a> {
    definitions: &'a dyn Definitions,
    judges: Vec<Judge>,
    logged: HashMap<Digest, usize>,
    /// The definition that decides for each version of each pipeline.
    in_force: HashMap<(Name, u32), usize>,
    /// The definition of the event before: mostly it is this one's too.
    recent: Option<(Digest, usize)>,
    tips: HashMap<SubmissionId, Option<Tip>>,
    /// The ids of what was sent and never became a submission: no other event may have one of them.
    unborn: HashSet<SubmissionId>,
    /// Entries below are not there.
    gone: u64,
    pruned_below: u64,
    events: u64,
    acts: Vec<(u64, Record)>,
    /// The count of administered deeds, and the number of the last.
    administered: (u64, Option<u64>),
}

impl<'a> Audit<'a> {
    fn new(definitions: &'a dyn Definitions) -> Self {
        Audit {
            definitions,
            judges: Vec::new(),
            logged: HashMap::new(),
            in_force: HashMap::new(),
            recent: None,
            tips: HashMap::new(),
            unborn: HashSet::new(),
            gone: 0,
            pruned_below: 0,
            events: 0,
            acts: Vec::new(),
            administered: (0, None),
        }
    }

    /// Entries first against the root, then in what they say.
    fn bundle(&mut self, tiles: &CheckedTiles<'_>, path: TilePath, bundle: &[u8]) -> Result<(), Finding> {
        let first = path.index * u64::from(TILE_WIDTH);
        let mut leaves = Vec::with_capacity(usize::from(path.width));
        for (index, leaf) in (first..).zip(Entries::of(bundle)) {
            let leaf = leaf
                .map_err(|error| Finding::new(Fault::Tile, error.to_string()).at(LogPlace::index(index)))?;
            leaves.push((leaf, leaf_hash(leaf)));
        }
        check_hashes(tiles, path, &leaves)?;
        for (index, (leaf, hash)) in (first..).zip(leaves) {
            self.entry(index, leaf, hash)?;
        }
        Ok(())
    }

    fn entry(&mut self, index: u64, bytes: &[u8], hash: Digest) -> Result<(), Finding> {
        match Entry::read(bytes) {
            Ok(Entry::Event(leaf)) => self.event(&leaf, hash).map_err(|finding| {
                let (submission, revision) = (Some(leaf.submission), Some(leaf.revision));
                finding.at(LogPlace { index: Some(index), submission, revision })
            }),
            Ok(Entry::Record(act)) => {
                self.act(index, act).map_err(|finding| finding.at(LogPlace::index(index)))
            }
            Err(error) => Err(Finding::new(Fault::Malformed, error.to_string()).at(LogPlace::index(index))),
        }
    }

    fn event(&mut self, leaf: &EventLeaf<'_>, hash: Digest) -> Result<(), Finding> {
        if leaf.kind.is_unborn() {
            return self.unborn(leaf);
        }
        if self.unborn.contains(&leaf.submission) {
            return Err(unborn::goes_on());
        }
        let judge = match self.recent {
            Some((digest, judge)) if digest == leaf.definition => judge,
            _ => self.judge_of(&leaf.definition)?,
        };
        self.recent = Some((leaf.definition, judge));
        let tip = self.tips.entry(leaf.submission).or_default();
        self.judges[judge].check_in_force(leaf)?;
        follow(tip, (leaf, hash), (&mut self.judges, judge), self.gone > 0)?;
        self.events += 1;
        Ok(())
    }

    fn unborn(&mut self, leaf: &EventLeaf<'_>) -> Result<(), Finding> {
        let judge = unborn::definition(leaf).map(|digest| self.judge_of(digest)).transpose()?;
        unborn::check(leaf, judge.map(|judge| &self.judges[judge].rules))?;
        if self.tips.contains_key(&leaf.submission) || !self.unborn.insert(leaf.submission) {
            return Err(unborn::goes_on());
        }
        self.events += 1;
        Ok(())
    }

    fn judge_of(&mut self, digest: &Digest) -> Result<usize, Finding> {
        if let Some(judge) = self.logged.get(digest) {
            return Ok(*judge);
        }
        if self.gone == 0 {
            let message = format!("definition {digest} was not logged before it was used");
            return Err(Finding::new(Fault::Definition, message));
        }
        // The act that applied it may be among what was pruned.
        let rules = Rules::load(&self.bytes_of(digest)?, digest)?;
        Ok(self.judge(*digest, rules))
    }

    fn judge(&mut self, digest: Digest, rules: Rules) -> usize {
        self.judges.push(Judge::new(rules));
        self.logged.insert(digest, self.judges.len() - 1);
        self.judges.len() - 1
    }

    fn bytes_of(&self, digest: &Digest) -> Result<Vec<u8>, Finding> {
        let fault = |message: String| Finding::new(Fault::Definition, message);
        let bytes = self.definitions.definition(digest).map_err(fault)?;
        bytes.ok_or_else(|| fault(format!("the bytes of definition {digest} are not there")))
    }

    fn act(&mut self, index: u64, act: Record) -> Result<(), Finding> {
        match act {
            Record::Applied(applied) => self.applied(&applied),
            Record::Pruned(pruned) if pruned.minimum_index > index => {
                Err(Finding::new(Fault::Pruned, "a policy cannot give up what comes after it"))
            }
            Record::Pruned(pruned) => {
                self.pruned_below = self.pruned_below.max(pruned.minimum_index);
                Ok(())
            }
            Record::Administered(act) => self.administered(act.no),
            other => {
                self.acts.push((index, other));
                Ok(())
            }
        }
    }

    /// The first that is left of a pruned log may have any number.
    fn administered(&mut self, no: u64) -> Result<(), Finding> {
        let (count, last) = self.administered;
        let expected = match last {
            Some(last) => last + 1,
            None if self.gone > 0 => no,
            None => 1,
        };
        if no != expected {
            let message = format!("it is number {no} of what was administered, and number {expected} is due");
            return Err(Finding::new(Fault::Chain, message));
        }
        self.administered = (count + 1, Some(no));
        Ok(())
    }

    fn applied(&mut self, applied: &Applied) -> Result<(), Finding> {
        // Going back to a definition loads nothing new.
        let judge = match self.logged.get(&applied.definition) {
            Some(judge) => *judge,
            None => {
                let rules = load(&self.bytes_of(&applied.definition)?, applied)?;
                self.judge(applied.definition, rules)
            }
        };
        self.judges[judge].replaced_at = None;
        let of = (applied.pipeline.clone(), applied.version);
        if let Some(before) = self.in_force.insert(of, judge).filter(|before| *before != judge) {
            self.judges[before].replaced_at = Some(applied.at);
        }
        Ok(())
    }

    fn report(self, checkpoint: Opened, options: &LogOptions<'_>) -> LogReport {
        let tip = |submission: &SubmissionId| {
            let tip = self.tips.get(submission)?.as_ref()?;
            let state = self.judges[tip.rules].rules.state(tip.stand.state).name.to_string();
            Some(TipReport { submission: *submission, revision: tip.revision, state, leaf: tip.hash })
        };
        LogReport {
            checkpoint,
            events: self.events,
            submissions: self.tips.len() as u64,
            definitions: self.judges.len() as u64,
            pruned_below: self.gone,
            tips: options.watch.iter().filter_map(tip).collect(),
            acts: self.acts,
            forks_kept: Vec::new(),
            administered: self.administered.0,
        }
    }
}

/// Checks that the entries are those the signed root vouches for; the error names the first that is not.
fn check_hashes(tiles: &CheckedTiles<'_>, path: TilePath, leaves: &[(&[u8], Digest)]) -> Result<(), Finding> {
    let first = path.index * u64::from(TILE_WIDTH);
    let fault = |message: String| Finding::new(Fault::Tile, message).at(LogPlace::index(first));
    if leaves.len() != usize::from(path.width) {
        return Err(fault(format!("{path} has {} entries instead of {}", leaves.len(), path.width)));
    }
    if path.is_full() {
        let above =
            tiles.tile(1, path.index / u64::from(TILE_WIDTH)).map_err(|error| fault(error.to_string()))?;
        let promised = above[usize::try_from(path.index % u64::from(TILE_WIDTH)).expect("below 256")];
        let hashes: Vec<Digest> = leaves.iter().map(|(_, hash)| *hash).collect();
        if hash_of(&hashes) == promised {
            return Ok(());
        }
    }
    let tile = tiles.tile(0, path.index).map_err(|error| fault(error.to_string()))?;
    match leaves.iter().zip(&*tile).position(|((_, hash), promised)| hash != promised) {
        None => Ok(()),
        Some(wrong) => {
            let message = format!("entry {wrong} of {path} is not the one that was logged");
            Err(Finding::new(Fault::Tile, message).at(LogPlace::index(first + wrong as u64)))
        }
    }
}
