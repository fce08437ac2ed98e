//! One submission's evidence, checked offline.

use std::collections::HashMap;

use model::json::Json;
use model::schema::{Fuel, Misfit};
use model::{Digest, SubmissionId};

use super::chain::{Judge, Tip, follow};
use super::finding::{Fault, Finding, LogPlace};
use super::guards::{Shown, Sight};
use super::rules::Rules;
use super::unborn;
use crate::leaf::{Applied, Entry, EventLeaf, Record};
use crate::note::{Distrust, Opened, Trust, hash_from_base64};
use crate::proof::{Consistency, Document, Evidence, EvidenceError, EvidenceEvent, TlogProof};
use crate::tree::{leaf_hash, verify_consistency, verify_inclusion};

/// The knowledge of a verifier, besides the evidence.
#[derive(Debug, Default)]
pub struct EvidenceOptions<'a> {
    pub trust: Option<&'a Trust>,
    /// A checkpoint of the log that was seen before: the evidence must be of a log that goes on from there.
    pub known: Option<&'a str>,
}

/// The result of verification: what was proven, and what could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceReport {
    pub checkpoint: Opened,
    pub submission: SubmissionId,
    pub state: String,
    pub events: u64,
    /// The hash of the last leaf: a full audit of the log names the same one if nothing was cut off.
    pub tip: Digest,
    pub documents: u64,
    pub guards_checked: u64,
    /// Guards that read something the evidence does not reveal.
    pub guards_unknown: u64,
}

/// Checks evidence against the keys of the log. The first thing wrong is returned.
pub fn verify_evidence(bytes: &[u8], options: &EvidenceOptions<'_>) -> Result<EvidenceReport, Finding> {
    let evidence =
        Evidence::parse(bytes).map_err(|error| Finding::new(Fault::Malformed, error.to_string()))?;
    let nobody = Trust::default();
    let trust = options.trust.unwrap_or(&nobody);
    let opened = open(trust, &evidence.checkpoint)?;
    if let Some(older) = &evidence.consistency {
        check_consistency(older, &opened)?;
    }
    if let Some(known) = options.known {
        check_known(&evidence, &opened, &open(trust, known)?)?;
    }
    let mut verifier = Verifier::new(&evidence, &opened);
    for index in 0..evidence.definitions.len() {
        verifier.definition(index)?;
    }
    for event in &evidence.events {
        verifier.event(event)?;
    }
    let report = verifier.finish()?;
    // Last, because whatever else is wrong says more.
    match evidence.check_spelling(bytes) {
        Ok(()) => Ok(report),
        Err(error @ EvidenceError::Spelling { .. }) => Err(Finding::new(Fault::Spelling, error.to_string())),
        Err(error) => Err(Finding::new(Fault::Malformed, error.to_string())),
    }
}

pub(super) fn open(trust: &Trust, checkpoint: &str) -> Result<Opened, Finding> {
    trust.open(checkpoint.as_bytes()).map_err(|error| {
        let fault = match &error {
            Distrust::Note(_) | Distrust::Checkpoint(_) => Fault::Malformed,
            Distrust::Forged(_) | Distrust::Unsigned { .. } => Fault::Signature,
            Distrust::Unwitnessed { .. } => Fault::Witness,
        };
        Finding::new(fault, error.to_string())
    })
}

fn check_known(evidence: &Evidence, opened: &Opened, known: &Opened) -> Result<(), Finding> {
    let (now, before) = (&opened.checkpoint, &known.checkpoint);
    let fault = |message: String| Finding::new(Fault::Consistency, message);
    if now.origin != before.origin {
        return Err(fault(format!("the evidence is of {}, you know {}", now.origin, before.origin)));
    }
    if now.size < before.size {
        let message = format!(
            "the evidence is of a log of {} leaves and you have seen {}: its tail was cut off, or it is old",
            now.size, before.size
        );
        return Err(fault(message));
    }
    let same = |size: u64, root: &Digest| (size, root) == before.tree();
    let is_known = before.size == 0
        || same(now.size, &now.root)
        || evidence.consistency.as_ref().is_some_and(|older| same(older.size, &older.root));
    match &evidence.consistency {
        _ if is_known => Ok(()),
        Some(older) if older.size == before.size => Err(fault(format!(
            "the log of the evidence had other leaves when you saw {} of them",
            before.size
        ))),
        _ if now.size == before.size => {
            Err(fault(format!("you have seen another log of {} leaves", now.size)))
        }
        _ => {
            Err(fault(format!("ask for evidence with a proof from the {} leaves you have seen", before.size)))
        }
    }
}

/// Checks that the log had the leaves it says it had before.
fn check_consistency(older: &Consistency, opened: &Opened) -> Result<(), Finding> {
    let hashes: Option<Vec<Digest>> = older.hashes.iter().map(|hash| hash_from_base64(hash)).collect();
    let hashes =
        hashes.ok_or_else(|| Finding::new(Fault::Malformed, "a line of the consistency proof is no hash"))?;
    verify_consistency((older.size, &older.root), opened.checkpoint.tree(), &hashes).map_err(|error| {
        let message = format!("the log is not one that went on from {} leaves: {error}", older.size);
        Finding::new(Fault::Consistency, message)
    })
}

struct Logged {
    index: u64,
    judge: usize,
    used: bool,
}

struct Verifier<'a> {
    evidence: &'a Evidence,
    opened: &'a Opened,
    judges: Vec<Judge>,
    definitions: HashMap<Digest, Logged>,
    tip: Option<Tip>,
    /// The one leaf of what never became a submission.
    unborn: Option<Digest>,
    last_index: Option<u64>,
    state: String,
    sight: Sight,
    documents: u64,
    guards_checked: u64,
    guards_unknown: u64,
}

impl<'a> Verifier<'a> {
    fn new(evidence: &'a Evidence, opened: &'a Opened) -> Self {
        Verifier {
            evidence,
            opened,
            judges: Vec::new(),
            definitions: HashMap::new(),
            tip: None,
            unborn: None,
            last_index: None,
            state: String::new(),
            sight: Sight::default(),
            documents: 0,
            guards_checked: 0,
            guards_unknown: 0,
        }
    }

    /// Returns the leaf's index and hash, if the proof holds under the evidence's own checkpoint.
    fn included(&self, leaf: &str, proof: &str) -> Result<(u64, Digest), Finding> {
        let malformed = |message: String| Finding::new(Fault::Malformed, message);
        let parsed: TlogProof =
            proof.parse().map_err(|error: crate::proof::BadProof| malformed(error.to_string()))?;
        let place = LogPlace::index(parsed.index);
        if parsed.extra.is_some() || parsed.checkpoint != self.evidence.checkpoint {
            let message = "the proof is not under the evidence's checkpoint, or says more than a proof does";
            return Err(Finding::new(Fault::Inclusion, message).at(place));
        }
        let hash = leaf_hash(leaf.as_bytes());
        verify_inclusion(parsed.index, self.opened.checkpoint.tree(), hash, &parsed.hashes).map_err(
            |error| {
                let message = format!("the leaf is not in the signed log: {error}");
                Finding::new(Fault::Inclusion, message).at(place)
            },
        )?;
        Ok((parsed.index, hash))
    }

    fn definition(&mut self, number: usize) -> Result<(), Finding> {
        let definition = &self.evidence.definitions[number];
        let (index, _) = self.included(&definition.leaf, &definition.proof)?;
        let place = LogPlace::index(index);
        let Ok(Entry::Record(Record::Applied(applied))) = Entry::read(definition.leaf.as_bytes()) else {
            return Err(Finding::new(Fault::Malformed, "the leaf applies no definition").at(place));
        };
        let rules = load(definition.definition.as_bytes(), &applied).map_err(|finding| finding.at(place))?;
        let logged = Logged { index, judge: self.judges.len(), used: false };
        self.judges.push(Judge::new(rules));
        match self.definitions.insert(applied.definition, logged) {
            None => Ok(()),
            Some(_) => Err(Finding::new(Fault::Definition, "the definition is there twice").at(place)),
        }
    }

    fn event(&mut self, event: &EvidenceEvent) -> Result<(), Finding> {
        let expected = self.tip.as_ref().map_or(1, |tip| tip.revision + 1);
        let submission = Some(self.evidence.submission);
        let place = LogPlace { index: None, submission, revision: Some(expected) };
        self.checked_event(event).map_err(|finding| finding.at(place))
    }

    fn checked_event(&mut self, event: &EvidenceEvent) -> Result<(), Finding> {
        let (index, hash) = self.included(&event.leaf, &event.proof)?;
        let place = LogPlace::index(index);
        let leaf = EventLeaf::read(event.leaf.as_bytes())
            .ok_or_else(|| Finding::new(Fault::Malformed, "the leaf is no event").at(place))?;
        self.placed_event((&leaf, hash), index, event)
            .map_err(|finding| finding.at(LogPlace { revision: Some(leaf.revision), ..place }))
    }

    fn placed_event(
        &mut self,
        (leaf, hash): (&EventLeaf<'_>, Digest),
        index: u64,
        event: &EvidenceEvent,
    ) -> Result<(), Finding> {
        if leaf.submission != self.evidence.submission {
            let message = format!("the event is of submission {}", leaf.submission);
            return Err(Finding::new(Fault::Chain, message));
        }
        if self.last_index.is_some_and(|last| index <= last) {
            return Err(Finding::new(
                Fault::Order,
                "the event was logged before the one it follows, or twice",
            ));
        }
        if self.unborn.is_some() || leaf.kind.is_unborn() && self.tip.is_some() {
            return Err(unborn::goes_on());
        }
        let unlogged = || {
            let message = format!("definition {} was not logged before it was used", leaf.definition);
            Finding::new(Fault::Definition, message)
        };
        if leaf.kind.is_unborn() && unborn::definition(leaf).is_none() {
            return self.never((leaf, hash), None, index, event);
        }
        let logged = self.definitions.get_mut(&leaf.definition).ok_or_else(unlogged)?;
        if logged.index >= index {
            return Err(unlogged());
        }
        logged.used = true;
        let judge = logged.judge;
        if leaf.kind.is_unborn() {
            return self.never((leaf, hash), Some(judge), index, event);
        }
        let step = follow(&mut self.tip, (leaf, hash), (&mut self.judges, judge), false)?;
        self.last_index = Some(index);
        self.state = leaf.to.clone().into_owned();
        let shown = self.shown(leaf, event)?;
        let rules = &self.judges[judge].rules;
        if let (Some(schema), Some(payload)) = (&rules.pipeline.payload, &event.documents.payload) {
            // What cannot be told in time is no finding.
            let fits = Json::parse(&payload.text).is_ok_and(|payload| {
                !matches!(schema.check(&payload, &mut Fuel::whole()), Err(Misfit::Violations(_)))
            });
            if !fits {
                return Err(Finding::new(
                    Fault::Document,
                    "the payload does not fit the definition's schema",
                ));
            }
        }
        let count = self.sight.look(rules, leaf, &step, shown)?;
        self.guards_checked += count.checked;
        self.guards_unknown += count.unknown;
        Ok(())
    }

    /// Checks what was sent and never became a submission: its one event, and the documents that event speaks of.
    fn never(
        &mut self,
        (leaf, hash): (&EventLeaf<'_>, Digest),
        judge: Option<usize>,
        index: u64,
        event: &EvidenceEvent,
    ) -> Result<(), Finding> {
        unborn::check(leaf, judge.map(|judge| &self.judges[judge].rules))?;
        self.shown(leaf, event)?;
        self.unborn = Some(hash);
        self.last_index = Some(index);
        self.state = leaf.to.clone().into_owned();
        Ok(())
    }

    /// The documents that are revealed, once they are the ones the leaf speaks of.
    fn shown(&mut self, leaf: &EventLeaf<'_>, event: &EvidenceEvent) -> Result<Shown, Finding> {
        let documents = &event.documents;
        let mut value = |name: &str, document: &Option<Document>, digest: Option<Digest>| {
            let Some(document) = document else { return Ok(None) };
            let salted = Digest::salted(document.salt, &document.text);
            if digest != Some(salted) {
                let message = format!("the {name} is not the one the event speaks of");
                return Err(Finding::new(Fault::Document, message));
            }
            let value = Json::parse(&document.text).map(|json| json.value());
            self.documents += 1;
            value
                .map(Some)
                .map_err(|error| Finding::new(Fault::Document, format!("the {name} is no JSON: {error}")))
        };
        let shown = Shown {
            payload: value("payload", &documents.payload, leaf.payload)?,
            output: value("output", &documents.output, leaf.output)?,
        };
        value("metadata", &documents.metadata, leaf.metadata)?;
        Ok(shown)
    }

    fn finish(self) -> Result<EvidenceReport, Finding> {
        let Evidence { submission, state, revision, .. } = self.evidence;
        let place = LogPlace { submission: Some(*submission), ..LogPlace::default() };
        let tip = self.unborn.map(|hash| (1, hash)).or(self.tip.map(|tip| (tip.revision, tip.hash)));
        let found = tip.map_or(0, |(found, _)| found);
        let Some((events, tip)) = tip.filter(|(found, _)| found == revision) else {
            let message = format!("revision {revision} is claimed and {found} events are there");
            return Err(Finding::new(Fault::Incomplete, message).at(place));
        };
        if self.state != **state {
            let message = format!("{state} is claimed and the events lead to {}", self.state);
            return Err(Finding::new(Fault::Incomplete, message).at(place));
        }
        if let Some((digest, logged)) = self.definitions.iter().find(|(_, logged)| !logged.used) {
            let message = format!("no event names the definition {digest}");
            return Err(Finding::new(Fault::Definition, message).at(LogPlace::index(logged.index)));
        }
        Ok(EvidenceReport {
            checkpoint: self.opened.clone(),
            submission: *submission,
            state: self.state,
            events,
            tip,
            documents: self.documents,
            guards_checked: self.guards_checked,
            guards_unknown: self.guards_unknown,
        })
    }
}

/// Loads what an act applied, and checks that it says the same about it as the definition itself.
pub(super) fn load(bytes: &[u8], applied: &Applied) -> Result<Rules, Finding> {
    let rules = Rules::load(bytes, &applied.definition)?;
    if (&*rules.pipeline.name, rules.pipeline.version) != (&*applied.pipeline, applied.version) {
        let message = format!(
            "definition {} is {} version {}, and was logged as {} version {}",
            applied.definition,
            rules.pipeline.name,
            rules.pipeline.version,
            applied.pipeline,
            applied.version
        );
        return Err(Finding::new(Fault::Definition, message));
    }
    Ok(rules)
}
