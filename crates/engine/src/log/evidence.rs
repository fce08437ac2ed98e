//! Evidence of what happened to one submission, for somebody who believes only the log's key.

use audit::leaf::{Act, Entry};
use audit::proof::{
    Document, Documents, Evidence, EvidenceRequest, LoggedDefinition, LoggedEvent, ProveError, assemble,
};
use model::event::Event;
use model::token::Bits;
use model::{Digest, Json, SubmissionId};
use store::{Recorded, Store};
use thiserror::Error;

use super::tiles::{StoreTiles, checkpoint, size_of};
use crate::core::{LoggedAct, applied_series, kept_act};
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
    #[error("the log does not say when definition {0} was applied")]
    Definition(Digest),
}

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
    let events = covered(store, id, size_of(&checkpoint))?;
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Err(EvidenceError::NotYet);
    };
    if first.event.leaf.revision != 1 {
        return Err(EvidenceError::Retired);
    }
    let documents = store.submission(id)?.filter(|_| reveal).map(|(_, documents)| documents);
    let documents = documents.unwrap_or_default();
    let logged = |recorded: &Recorded| {
        let shown = if reveal { shown(&recorded.event, &documents) } else { Documents::default() };
        LoggedEvent { index: recorded.seq - 1, leaf: text(recorded.event.leaf.bytes()), documents: shown }
    };
    let mut digests: Vec<Digest> = Vec::new();
    for recorded in &events {
        if !digests.contains(&recorded.event.leaf.definition) {
            digests.push(recorded.event.leaf.definition);
        }
    }
    let definitions = digests.iter().map(|digest| definition(store, versions, digest));
    let request = EvidenceRequest {
        submission: id,
        state: last.event.leaf.to.clone(),
        revision: last.event.leaf.revision,
        events: events.iter().map(logged).collect(),
        definitions: definitions.collect::<Result<_, _>>()?,
        known_size,
    };
    Ok(assemble(request, &checkpoint, &StoreTiles(store))?)
}

/// The events of a submission that a checkpoint of `size` covers.
fn covered(store: &dyn Store, id: SubmissionId, size: u64) -> Result<Vec<Recorded>, store::Error> {
    let mut events: Vec<Recorded> = Vec::new();
    loop {
        let after = events.last().map_or(0, |last| last.event.leaf.revision);
        let page = store.history(id, after, PAGE)?;
        let whole = page.len() == PAGE;
        let count = events.len();
        events.extend(page.into_iter().take_while(|recorded| recorded.seq <= size));
        if !whole || events.len() < count + PAGE {
            return Ok(events);
        }
    }
}

/// That a definition was applied, from the sequence of events or from what was kept of it.
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
fn first_act(store: &dyn Store, pipeline: &str, digest: &Digest) -> Result<Option<LoggedAct>, store::Error> {
    let count = histories(store)?.get(pipeline).map_or(0, Vec::len) as u64;
    for revision in 1..=count {
        let Some((seq, leaf)) = store.act(applied_series(pipeline), revision)? else { continue };
        if let Ok(Entry::Act(Act::Applied(applied))) = Entry::read(&leaf)
            && applied.definition == *digest
        {
            return Ok(Some(LoggedAct { index: seq - 1, leaf: text(leaf) }));
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
