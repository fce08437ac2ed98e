//! Batches for distributed ledgers, in order and one in flight per service.

use system::{PipelineFile, System};

struct Ledger;

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Ledger
}

impl System for Ledger {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        const NAMED: &[(&str, &str)] =
            &[("schemas/ledger-batch.json", include_str!("../schemas/ledger-batch.json"))];
        vec![PipelineFile::new("ledger-batch.toml", include_str!("../ledger-batch.toml")).naming(NAMED)]
    }
}
