//! Deposits into a repository: a batch of files, containers or manifests becomes jobs, one for each object.

use system::{PipelineFile, System, pipeline_file};

struct Ingest;

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Ingest
}

impl System for Ingest {
    fn name(&self) -> &'static str {
        "ingest"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        vec![
            // Before the batches, which make such jobs.
            pipeline_file!("ingest-job.toml", "schemas/ingest-job.json"),
            pipeline_file!(
                "ingest-batch.toml",
                "schemas/ingest-batch.json",
                "schemas/ingest-batch-corrupt.json",
                "templates/ingest-batch/depositor.txt",
            ),
        ]
    }
}
