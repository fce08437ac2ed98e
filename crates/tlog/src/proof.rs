//! A proof for one leaf that stands alone: its place, its path, and a signed checkpoint.

use std::fmt;
use std::str::FromStr;

use wire::Digest;

use crate::note::{decimal, from_base64, hash_from_base64, to_base64};

const HEADER: &str = "c2sp.org/tlog-proof@v1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogProof {
    /// Data of the application, not authenticated. This log writes none.
    pub extra: Option<Vec<u8>>,
    pub index: u64,
    pub hashes: Vec<Digest>,
    /// The signed note, verbatim.
    pub checkpoint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a tlog-proof: {0}")]
pub struct BadProof(pub &'static str);

impl FromStr for TlogProof {
    type Err = BadProof;

    fn from_str(text: &str) -> Result<Self, BadProof> {
        let (head, checkpoint) =
            text.split_once("\n\n").ok_or(BadProof("no blank line before the checkpoint"))?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(HEADER) {
            return Err(BadProof("its first line is not c2sp.org/tlog-proof@v1"));
        }
        let extra = match lines.peek().and_then(|line| line.strip_prefix("extra ")) {
            None => None,
            Some(encoded) => {
                let extra = from_base64(encoded).ok_or(BadProof("its extra data is not base64"))?;
                lines.next();
                Some(extra)
            }
        };
        let index = lines.next().and_then(|line| line.strip_prefix("index ")).and_then(decimal);
        let index = index.ok_or(BadProof("no line `index N`"))?;
        let hashes: Option<Vec<Digest>> = lines.map(hash_from_base64).collect();
        let hashes =
            hashes.filter(|hashes| hashes.len() <= 64).ok_or(BadProof("a line of the path is no hash"))?;
        Ok(TlogProof { extra, index, hashes, checkpoint: checkpoint.to_owned() })
    }
}

impl fmt::Display for TlogProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", to_base64(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{}", to_base64(&hash.0)))?;
        write!(f, "\n{}", self.checkpoint)
    }
}
