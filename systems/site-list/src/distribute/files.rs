//! The files of a distribution.

use serde::{Deserialize, Serialize};

use crate::log::Path;

/// The file that names the latest distribution.
pub const UPDATE: &str = "update.json";
/// The ends of the names of the other two.
pub const BIN: &str = "bin";
pub const JSON: &str = "json";

/// The content of `update.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latest {
    /// The digest of the entries, in hexadecimal: the names of the two other files before their dot.
    pub latest: String,
    pub entries: usize,
}

/// The content of the file beside the entries: the newest change among them, and the proof that the log has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witnessed {
    /// The leaf's exact text; none where nothing was ever changed.
    pub leaf: Option<String>,
    pub proof: Option<Path>,
    /// The signed head of the log's tree, verbatim.
    pub tree_head: Option<String>,
}
