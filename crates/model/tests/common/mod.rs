//! Pipeline files for tests, with the files they name. The tests of drawings use them as well.

#[allow(dead_code, reason = "the tests of drawings use a part of it")]
pub(crate) mod mutated;

use std::fs;
use std::path::PathBuf;

use model::pipeline::{Source, attachments};

#[allow(dead_code, reason = "the tests of drawings use a part of it")]
pub(crate) const FILES: [&str; 8] = [
    "delivery",
    "ingest-batch",
    "ingest-job",
    "ledger-batch",
    "orders",
    "sign-request",
    "site-list",
    "skill-review",
];

pub(crate) fn source(name: &str) -> Source {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../model/tests/pipelines");
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect(path);
    let mut source = Source::new(format!("{name}.toml"), read(&format!("{name}.toml")));
    for path in attachments(&source.toml) {
        source.files.insert(path.clone(), read(&path));
    }
    source
}
