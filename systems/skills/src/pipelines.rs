//! The pipeline files of the system, with the files that they name.

use system::PipelineFile;

/// Pairs each path with the text of that file.
macro_rules! named {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../", $path)))),*] };
}

const OF_REVIEW: &[(&str, &str)] = named![
    "schemas/skill-review.json",
    "schemas/skill-review-publication.json",
    "schemas/skill-review-scan.json",
    "schemas/skill-review-verdict.json",
    "schemas/tier3-checklist.json",
    "templates/skill-review/received.txt",
    "templates/skill-review/review.txt",
    "templates/skill-review/published.txt",
    "templates/skill-review/rejected.txt",
    "templates/skill-review/operator.txt",
];

const OF_REGISTRY: &[(&str, &str)] = named![
    "schemas/skill-registry.json",
    "schemas/skill-registry-found.json",
    "templates/skill-registry/operator.txt",
];

pub(crate) fn files() -> Vec<PipelineFile> {
    vec![
        PipelineFile::new("skill-review.toml", include_str!("../skill-review.toml")).naming(OF_REVIEW),
        PipelineFile::new("skill-registry.toml", include_str!("../skill-registry.toml")).naming(OF_REGISTRY),
    ]
}
