//! Requests for signatures of a signing network: found on one chain, signed by the node, published on that chain again.

use system::{PipelineFile, System, pipeline_file};

struct Signing;

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Signing
}

impl System for Signing {
    fn name(&self) -> &'static str {
        "signing"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        vec![pipeline_file!(
            "sign-request.toml",
            "schemas/sign-request.json",
            "schemas/sign-request-publication.json",
            "schemas/sign-request-signature.json",
        )]
    }
}
