//! A registry of agent skills: scans, judgement, review, publication.

pub mod scan;

use system::{PipelineFile, System};

struct Skills;

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Skills
}

impl System for Skills {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        const NAMED: &[(&str, &str)] = &[
            ("schemas/skill-review.json", include_str!("../schemas/skill-review.json")),
            (
                "schemas/skill-review-publication.json",
                include_str!("../schemas/skill-review-publication.json"),
            ),
            ("schemas/skill-review-scan.json", include_str!("../schemas/skill-review-scan.json")),
            ("schemas/skill-review-verdict.json", include_str!("../schemas/skill-review-verdict.json")),
            ("schemas/tier3-checklist.json", include_str!("../schemas/tier3-checklist.json")),
            ("templates/skill-review/received.txt", include_str!("../templates/skill-review/received.txt")),
            ("templates/skill-review/review.txt", include_str!("../templates/skill-review/review.txt")),
            ("templates/skill-review/published.txt", include_str!("../templates/skill-review/published.txt")),
            ("templates/skill-review/rejected.txt", include_str!("../templates/skill-review/rejected.txt")),
            ("templates/skill-review/operator.txt", include_str!("../templates/skill-review/operator.txt")),
        ];
        vec![PipelineFile::new("skill-review.toml", include_str!("../skill-review.toml")).naming(NAMED)]
    }
}
