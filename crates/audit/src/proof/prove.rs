//! Puts evidence together from a log's own tiles.

use model::{Digest, Name, SubmissionId};

use super::evidence::{Consistency, Definition, Documents, Evidence, EvidenceEvent, FORMAT};
use crate::note::{Checkpoint, MalformedCheckpoint, MalformedNote, Note, to_base64};
use crate::tiles::{CheckedTiles, TileError, TileSource};
use crate::tree::{prove_consistency, prove_inclusion, subtree_hash};
use tlog::TlogProof;

/// The leaves and definitions that the log has of a submission.
#[derive(Debug, Clone)]
pub struct EvidenceRequest {
    pub submission: SubmissionId,
    pub state: Name,
    pub revision: u64,
    /// The submission's events in the order of revisions.
    pub events: Vec<LoggedEvent>,
    pub definitions: Vec<LoggedDefinition>,
    /// The size of a checkpoint the asker already has.
    pub known_size: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct LoggedEvent {
    pub index: u64,
    /// The leaf's exact bytes.
    pub leaf: String,
    /// The documents that the asker may see.
    pub documents: Documents,
}

#[derive(Debug, Clone)]
pub struct LoggedDefinition {
    pub index: u64,
    pub leaf: String,
    pub definition: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    Note(#[from] MalformedNote),
    #[error(transparent)]
    Checkpoint(#[from] MalformedCheckpoint),
    #[error(transparent)]
    Tiles(#[from] TileError),
    #[error("leaf {index} is not in the checkpoint of {size} yet; wait for the next one")]
    NotYet { index: u64, size: u64 },
}

/// The evidence as of a signed checkpoint of the log.
pub fn assemble(
    request: EvidenceRequest,
    checkpoint: &str,
    source: &dyn TileSource,
) -> Result<Evidence, ProveError> {
    let tree: Checkpoint = Note::parse(checkpoint.as_bytes())?.text.parse()?;
    let tiles = CheckedTiles::open(source, tree.size, &tree.root)?;
    let prove = |index: u64| {
        if index >= tree.size {
            return Err(ProveError::NotYet { index, size: tree.size });
        }
        let hashes = prove_inclusion(&tiles, index, tree.size)?;
        Ok(TlogProof { extra: None, index, hashes, checkpoint: checkpoint.to_owned() }.to_string())
    };
    let consistency = match request.known_size {
        Some(size) if 0 < size && size < tree.size => {
            let root = subtree_hash(&tiles, 0..size)?;
            let hashes = prove_consistency(&tiles, size, tree.size)?;
            let encoded = |hash: &Digest| to_base64(&hash.0);
            Some(Consistency { size, root, hashes: hashes.iter().map(encoded).collect() })
        }
        _ => None,
    };
    let definition = |logged: LoggedDefinition| {
        Ok(Definition { proof: prove(logged.index)?, leaf: logged.leaf, definition: logged.definition })
    };
    let event = |logged: LoggedEvent| {
        Ok(EvidenceEvent { proof: prove(logged.index)?, leaf: logged.leaf, documents: logged.documents })
    };
    Ok(Evidence {
        format: FORMAT,
        submission: request.submission,
        state: request.state,
        revision: request.revision,
        checkpoint: checkpoint.to_owned(),
        consistency,
        definitions: request.definitions.into_iter().map(definition).collect::<Result<_, ProveError>>()?,
        events: request.events.into_iter().map(event).collect::<Result<_, ProveError>>()?,
    })
}
