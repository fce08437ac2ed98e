//! The memory of a witness: one checkpoint per log. Losing it would let a log rewrite its past unseen.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Mutex;

use model::Digest;

use crate::durable;
use crate::note::Checkpoint;

/// The last checkpoint that was cosigned for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub size: u64,
    pub root: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the witness's memory: {0}")]
pub struct StateError(pub String);

/// A step of a witness's memory: what is remembered goes in, what shall be remembered comes out, durably.
pub trait WitnessState: Send + Sync {
    /// Calls `step` with what is remembered of `origin`, and keeps what it returns before returning. No other step for
    /// the origin comes between.
    fn step(
        &self,
        origin: &str,
        step: &mut dyn FnMut(Option<&Remembered>) -> Option<Remembered>,
    ) -> Result<(), StateError>;
}

#[derive(Debug, Default)]
pub struct MemoryState(Mutex<BTreeMap<String, Remembered>>);

impl WitnessState for MemoryState {
    fn step(
        &self,
        origin: &str,
        step: &mut dyn FnMut(Option<&Remembered>) -> Option<Remembered>,
    ) -> Result<(), StateError> {
        let mut logs = self.0.lock().map_err(|_| StateError("an earlier step panicked".to_owned()))?;
        if let Some(next) = step(logs.get(origin)) {
            logs.insert(origin.to_owned(), next);
        }
        Ok(())
    }
}

/// A folder with one small file per log, replaced whole and synced before the cosignature leaves. Two processes with one
/// folder take turns: each reads what the other wrote.
#[derive(Debug)]
pub struct FileState {
    folder: PathBuf,
    one_at_a_time: Mutex<()>,
}

impl FileState {
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StateError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        Ok(FileState { folder, one_at_a_time: Mutex::new(()) })
    }

    /// Origins are text of others; their digests are safe as file names.
    fn file(&self, origin: &str) -> PathBuf {
        self.folder.join(Digest::of(origin.as_bytes()).to_string())
    }
}

impl WitnessState for FileState {
    fn step(
        &self,
        origin: &str,
        step: &mut dyn FnMut(Option<&Remembered>) -> Option<Remembered>,
    ) -> Result<(), StateError> {
        let _guard =
            self.one_at_a_time.lock().map_err(|_| StateError("an earlier step panicked".to_owned()))?;
        // Released when it is dropped. A lock on the folder itself leaves no file that could be taken for a memory.
        let turn = File::open(&self.folder).and_then(|folder| folder.lock().map(|()| folder));
        let _turn = turn.map_err(|error| failed(&self.folder, &error))?;
        let file = self.file(origin);
        let known = match durable::read(&file).map_err(|error| failed(&file, &error))? {
            None => None,
            Some(text) => {
                let checkpoint: Option<Checkpoint> =
                    text.parse().ok().filter(|known: &Checkpoint| known.origin == origin);
                let known = checkpoint.ok_or_else(|| {
                    StateError(format!("{} is damaged; restore it, do not remove it", file.display()))
                })?;
                Some(Remembered { size: known.size, root: known.root })
            }
        };
        if let Some(next) = step(known.as_ref()) {
            let text = Checkpoint::new(origin, next.size, next.root).to_string();
            durable::replace(&file, text.as_bytes()).map_err(|error| failed(&file, &error))?;
        }
        Ok(())
    }
}

fn failed(path: &std::path::Path, error: &std::io::Error) -> StateError {
    StateError(format!("{}: {error}", path.display()))
}
