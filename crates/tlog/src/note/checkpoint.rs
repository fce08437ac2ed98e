//! Checkpoints: which log, how many leaves, which root.

use std::fmt;
use std::str::FromStr;

use wire::Digest;

use super::{decimal, hash_from_base64, to_base64};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The deployment: what tells one log from all others.
    pub origin: String,
    pub size: u64,
    pub root: Digest,
    /// Lines of others that are signed along; this log writes none.
    pub extensions: Vec<String>,
}

impl Checkpoint {
    #[must_use]
    pub fn new(origin: impl Into<String>, size: u64, root: Digest) -> Self {
        Checkpoint { origin: origin.into(), size, root, extensions: Vec::new() }
    }

    /// Size and root, as proofs want them.
    #[must_use]
    pub fn tree(&self) -> (u64, &Digest) {
        (self.size, &self.root)
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, to_base64(&self.root.0))?;
        self.extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a checkpoint: {0}")]
pub struct MalformedCheckpoint(pub &'static str);

impl FromStr for Checkpoint {
    type Err = MalformedCheckpoint;

    /// Reads the text of a note, which ends with a newline.
    fn from_str(text: &str) -> Result<Self, MalformedCheckpoint> {
        let text = text.strip_suffix('\n').ok_or(MalformedCheckpoint("its last line has no newline"))?;
        let mut lines = text.split('\n');
        let mut line = || lines.next().filter(|line| !line.is_empty());
        let origin = line().ok_or(MalformedCheckpoint("it names no origin"))?.to_owned();
        let size = line().and_then(decimal).ok_or(MalformedCheckpoint("its second line is no size"))?;
        let root = line().and_then(hash_from_base64);
        let root = root.ok_or(MalformedCheckpoint("its third line is no root"))?;
        let extensions: Vec<String> = lines.map(str::to_owned).collect();
        if extensions.iter().any(String::is_empty) {
            return Err(MalformedCheckpoint("it has an empty line"));
        }
        Ok(Checkpoint { origin, size, root, extensions })
    }
}
