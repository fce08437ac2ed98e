//! Evidence of what happened to one submission, for somebody who believes only the log's key.

use audit::leaf::{Entry, Record};
use audit::proof::{
    Document, Documents, Evidence, EvidenceRequest, LoggedDefinition, LoggedEvent, ProveError, assemble,
};
use model::event::Event;
use model::token::Bits;
use model::{Digest, Json, Name, SubmissionId};
use store::{Recorded, Store};
use thiserror::Error;

use super::tiles::{StoreTiles, checkpoint, size_of};
use crate::core::{LoggedRecord, applied_series, kept_act};
use crate::pipelines::{Versions, histories, pipeline_of};

#[derive(Debug, Error)]
pub enum EvidenceError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Prove(#[from] ProveError),
    #[error("nothing of it is under a signed checkpoint yet; ask again in a moment")]
    NotYet,
    #[error("its first events were retired, and a history without them proves nothing")]
    Retired,
    #[error(
        "the evidence would be over {} MB; ask for it with `documents=none`, or take its events page by page and \
         its leaves out of the log's tiles",
        EVIDENCE_BYTES_MAX >> 20
    )]
    TooLarge,
    #[error("the log does not say when definition {0} was applied")]
    Definition(Digest),
}

/// The leaves, documents, definitions and proofs that one answer shows have so many bytes.
const EVIDENCE_BYTES_MAX: usize = 16 << 20;
/// Events read at a time.
const PAGE: usize = 1_000;

/// The evidence as of the published checkpoint. Documents are shown where `reveal` says so and they are still there.
pub(crate) fn evidence(
    store: &dyn Store,
    versions: &Versions,
    id: SubmissionId,
    (reveal, known_size): (bool, Option<u64>),
) -> Result<Evidence, EvidenceError> {
    // Read before the events: what it covers is there.
    let checkpoint = checkpoint(store)?.ok_or(EvidenceError::NotYet)?;
    let documents = store.submission(id)?.filter(|_| reveal).map(|(_, documents)| documents);
    let documents = documents.unwrap_or_default();
    let mut shown_so_far = Shown { proof: proof_bytes(&checkpoint), ..Shown::default() };
    covered(store, id, size_of(&checkpoint), |recorded| {
        let documents = if reveal { shown(&recorded.event, &documents) } else { Documents::default() };
        shown_so_far.add(recorded, documents)
    })?;
    let definitions = shown_so_far.definitions(store, versions)?;
    let Shown { events, first, last, .. } = shown_so_far;
    let Some((state, revision)) = last else { return Err(EvidenceError::NotYet) };
    if first != 1 {
        return Err(EvidenceError::Retired);
    }
    let request = EvidenceRequest { submission: id, state, revision, events, definitions, known_size };
    Ok(assemble(request, &checkpoint, &StoreTiles(store))?)
}

/// The events that evidence shows, as far as they were read. Details are not kept: they may be larger than all that is
/// shown of them.
#[derive(Default)]
struct Shown {
    events: Vec<LoggedEvent>,
    /// The definitions they name, each once.
    digests: Vec<Digest>,
    /// The revision of the first.
    first: u64,
    /// The state and revision after the last.
    last: Option<(Name, u64)>,
    bytes: usize,
    /// The bytes of one proof.
    proof: usize,
}

impl Shown {
    fn add(&mut self, recorded: &Recorded, documents: Documents) -> Result<(), EvidenceError> {
        let leaf = &recorded.event.leaf;
        if self.last.is_none() {
            self.first = leaf.revision;
        }
        self.last = Some((leaf.to.clone(), leaf.revision));
        if !self.digests.contains(&leaf.definition) {
            self.digests.push(leaf.definition);
        }
        let event = LoggedEvent { index: recorded.seq - 1, leaf: text(leaf.bytes()), documents };
        let Documents { payload, output, metadata } = &event.documents;
        let documents = [payload, output, metadata].into_iter().flatten();
        let bytes = event.leaf.len() + documents.map(|document| document.text.len()).sum::<usize>();
        self.events.push(event);
        self.count(bytes)
    }

    /// Reads the definitions that the events name.
    fn definitions(
        &mut self,
        store: &dyn Store,
        versions: &Versions,
    ) -> Result<Vec<LoggedDefinition>, EvidenceError> {
        let mut definitions = Vec::new();
        for digest in std::mem::take(&mut self.digests) {
            let found = definition(store, versions, &digest)?;
            self.count(found.leaf.len() + found.definition.len())?;
            definitions.push(found);
        }
        Ok(definitions)
    }

    /// Counts something that has a proof of its own.
    fn count(&mut self, bytes: usize) -> Result<(), EvidenceError> {
        self.bytes += bytes + self.proof;
        if self.bytes > EVIDENCE_BYTES_MAX { Err(EvidenceError::TooLarge) } else { Ok(()) }
    }
}

/// Returns the bytes of a proof at most: a hash of each level of the tree, and the checkpoint that they lead to.
fn proof_bytes(checkpoint: &str) -> usize {
    const HASH_TEXT: usize = 45;
    let levels = u64::BITS - size_of(checkpoint).leading_zeros();
    checkpoint.len() + levels as usize * HASH_TEXT
}

/// Looks at each event of a submission that a checkpoint of `size` covers.
fn covered(
    store: &dyn Store,
    id: SubmissionId,
    size: u64,
    mut look: impl FnMut(&Recorded) -> Result<(), EvidenceError>,
) -> Result<(), EvidenceError> {
    let mut after = 0;
    loop {
        let page = store.history(id, after, PAGE)?;
        for recorded in &page {
            if recorded.seq > size {
                return Ok(());
            }
            look(recorded)?;
            after = recorded.event.leaf.revision;
        }
        if page.is_empty() {
            return Ok(());
        }
    }
}

/// Returns a definition and the act that applied it, from the sequence of events or from what was kept of it.
fn definition(
    store: &dyn Store,
    versions: &Versions,
    digest: &Digest,
) -> Result<LoggedDefinition, EvidenceError> {
    let unknown = || EvidenceError::Definition(*digest);
    let pipeline = pipeline_of(store, versions, digest)?.ok_or_else(unknown)?;
    let act = match kept_act(store, digest)? {
        Some(act) => act,
        None => first_act(store, &pipeline.name, digest)?.ok_or_else(unknown)?,
    };
    let definition = pipeline.definition.as_str().to_owned();
    Ok(LoggedDefinition { index: act.index, leaf: act.leaf, definition })
}

/// The act that applied a definition for the first time, among those that are still there.
fn first_act(
    store: &dyn Store,
    pipeline: &str,
    digest: &Digest,
) -> Result<Option<LoggedRecord>, store::Error> {
    let count = histories(store)?.get(pipeline).map_or(0, Vec::len) as u64;
    for revision in 1..=count {
        let Some((seq, leaf)) = store.act(applied_series(pipeline), revision)? else { continue };
        if let Ok(Entry::Record(Record::Applied(applied))) = Entry::read(&leaf)
            && applied.definition == *digest
        {
            return Ok(Some(LoggedRecord { index: seq - 1, leaf: text(leaf) }));
        }
    }
    Ok(None)
}

/// The documents of an event that are still those it was made with, with what their digests were salted with.
fn shown(event: &Event, documents: &model::Documents) -> Documents {
    let (leaf, salts) = (&event.leaf, &event.detail.salts);
    let output = leaf.from.as_ref().and_then(|from| documents.outputs.get(from));
    Documents {
        payload: document(leaf.payload, salts.payload, Some(&documents.payload)),
        output: document(leaf.output, salts.output, output),
        metadata: document(leaf.metadata, salts.metadata, event.detail.metadata.as_ref()),
    }
}

fn document(digest: Option<Digest>, salt: Option<Bits>, kept: Option<&Json>) -> Option<Document> {
    let (digest, salt, text) = (digest?, salt?, kept?.as_str());
    let same = Digest::salted(salt, text) == digest;
    same.then(|| Document { salt, text: text.to_owned() })
}

/// Leaves are JSON, which is text.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
