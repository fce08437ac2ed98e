//! Operations as callers ask for them.

use model::{Caller, Name, Refusal, Time};
use wire::operation::{Deed, Filter, Operation, OperationStatus};

use super::Engine;
use super::handle::unexpected;
use crate::core::{Ask, Output};

/// An operation somebody wants.
#[derive(Debug, Clone)]
pub struct NewOperation {
    pub filter: Filter,
    pub deed: Deed,
    pub reason: Option<String>,
    pub dry_run: bool,
    pub by: Caller,
}

impl Engine {
    /// Begins an operation; it goes on by itself until it is done or stopped, over restarts.
    pub async fn start_operation(&self, new: NewOperation) -> Result<Operation, Refusal> {
        model::admit::check_reason(new.reason.as_deref())?;
        self.in_force(&new.filter.pipeline)?;
        let operation = Operation {
            id: self.fresh_id().to_string().into(),
            filter: new.filter,
            deed: new.deed,
            reason: new.reason,
            dry_run: new.dry_run,
            by: new.by,
            status: OperationStatus::Running,
            found: 0,
            done: 0,
            refused: std::collections::BTreeMap::new(),
            started_at: Time::EPOCH,
            ended_at: None,
            after: None,
        };
        let started = operation_of(self.ask(Ask::Start(Box::new(operation)).into()).await?)?;
        self.duties.wake("operations");
        Ok(started)
    }

    pub async fn stop_operation(&self, id: Name) -> Result<Operation, Refusal> {
        operation_of(self.ask(Ask::Stop(id).into()).await?)
    }
}

fn operation_of(output: Output) -> Result<Operation, Refusal> {
    match output {
        Output::Operation(operation) => Ok(*operation),
        _ => Err(unexpected()),
    }
}
