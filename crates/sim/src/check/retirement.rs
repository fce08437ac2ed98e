//! Versions that are retired: never the one in force, and nothing begins to follow them.

use engine::core::{Ask, Output, Reply};
use model::{Code, Name};

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::finding::finding;
use crate::report::Report;

pub(super) fn check(
    ledger: &Ledger,
    (pipeline, version): (&Name, u32),
    outcome: &Reply,
    report: &mut Report,
) -> Checked {
    let applied = ledger.registry.applied(pipeline);
    let is_retired = ledger.registry.is_retired(pipeline, version);
    let refusal = match outcome {
        Ok(Output::Gone) => {
            report.count("answer/version-retired");
            ensure!(is_retired, "version {version} of `{pipeline}` was retired, and is not listed");
            let kept = ledger.registry.entry("pipeline", &format!("{pipeline}@{version}"));
            ensure!(kept.is_none(), "version {version} of `{pipeline}` was retired, and is kept");
            let in_force = applied.last().map(|applied| applied.version);
            ensure!(
                in_force != Some(version),
                "version {version} of `{pipeline}` was retired, and is in force"
            );
            return Ok(());
        }
        Ok(other) => return Err(finding!("a version was retired and the answer was {other:?}")),
        Err(refusal) => refusal,
    };
    let justified = match refusal.code {
        // Another may have been applied in the same step.
        Code::VersionInUse => applied.iter().any(|applied| applied.version == version) && !is_retired,
        Code::UnknownVersion => applied.iter().all(|applied| applied.version != version),
        Code::UnknownPipeline => applied.is_empty(),
        Code::Unavailable | Code::OutcomeUnknown => true,
        _ => false,
    };
    ensure!(justified, "version {version} of `{pipeline}` was not retired: {refusal}");
    report.count("answer/version-needed");
    Ok(())
}

/// Tells whether something was submitted to a version that was retired while it was on its way.
pub(super) fn came_late(ledger: &Ledger, ask: &Ask) -> bool {
    match ask {
        Ask::Submit(admission) => ledger.registry.is_retired(admission.pipeline(), admission.version()),
        _ => false,
    }
}
