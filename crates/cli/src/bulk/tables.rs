//! Operations and their results in columns.

use wire::api::ResultView;
use wire::operation::{Operation, OperationStatus};

use crate::output::Table;

/// Operations as people look at them.
pub(crate) fn table<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> String {
    let mut table =
        Table::new(["OPERATION", "STATUS", "DOES", "PIPELINE", "FOUND", "DONE", "REFUSED", "STARTED"]);
    for operation in operations {
        let refused: u64 = operation.refused.values().sum();
        table.row([
            operation.id.to_string(),
            status(operation).to_owned(),
            does(operation),
            operation.filter.pipeline.to_string(),
            operation.found.to_string(),
            operation.done.to_string(),
            refused.to_string(),
            operation.started_at.to_string(),
        ]);
    }
    table.render()
}

pub(crate) fn status(operation: &Operation) -> &'static str {
    match operation.status {
        OperationStatus::Running => "running",
        OperationStatus::Stopped => "stopped",
        OperationStatus::Done => "done",
    }
}

pub(crate) fn does(operation: &Operation) -> String {
    use wire::operation::Deed::{Acknowledge, Act, Migrate, ParentCancelled, Redrive, Resume};
    let deed = match &operation.deed {
        Act { action, .. } => action.to_string(),
        Resume { .. } => "resume".to_owned(),
        Redrive => "redrive".to_owned(),
        Acknowledge => "acknowledge".to_owned(),
        ParentCancelled => "parent cancelled".to_owned(),
        Migrate { version, .. } => format!("migrate to {version}"),
    };
    if operation.dry_run { format!("{deed} (dry run)") } else { deed }
}

pub(crate) fn results(results: &[ResultView]) -> String {
    let mut table = Table::new(["ID", "STATE", "CODE", "MESSAGE"]);
    for view in results {
        let result = &view.result;
        table.row([
            view.submission.to_string(),
            result.state.as_deref().unwrap_or("-").to_owned(),
            result.code.as_deref().unwrap_or("-").to_owned(),
            result.message.clone().unwrap_or_default(),
        ]);
    }
    table.render()
}
