use std::time::Duration;

use store::{Narrowed, Query};

use super::{Duty, Look, Pass};
use crate::core::{Ask, CHUNK_MAX, Chunk, Filter, Operation, RunningOperations};
use crate::registry;

/// Finds the next chunk of every running operation.
#[derive(Debug, Default)]
pub struct Operations;

/// Operations served in one pass. The others have their turn when one of these has ended.
const AT_ONCE: usize = 8;

impl Duty for Operations {
    fn name(&self) -> &'static str {
        "operations"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let mut pass = Pass::default();
        for (_, operation) in registry::page::<RunningOperations>(look.store, "", AT_ONCE)? {
            let operation = operation?;
            let chunk = chunk(look, &operation)?;
            pass.again |= !chunk.last;
            pass.inputs.push(Ask::Operate(Box::new(chunk)).into());
        }
        Ok(pass)
    }
}

/// Indexes find most of what the filter says; versions are looked at row by row.
fn chunk(look: Look<'_>, operation: &Operation) -> Result<Chunk, store::Error> {
    let page = look.store.find(&query(operation))?;
    let fitting = page.rows.iter().filter(|row| row.fits(&operation.filter));
    Ok(Chunk {
        operation: operation.id.clone(),
        after: operation.after,
        ids: fitting.map(|row| row.id).collect(),
        next: page.last,
        last: !page.more,
    })
}

fn query(operation: &Operation) -> Query {
    let Filter { pipeline, state, status, investigation, parent, lane, labels, .. } =
        operation.filter.clone();
    let Filter { error, fingerprint, created_before, created_after, entered_before, worker, .. } =
        operation.filter.clone();
    Query {
        pipeline: Some(pipeline),
        state,
        status,
        investigation,
        parent,
        lane,
        labels,
        created_before,
        created_after,
        narrowed: Narrowed { entered_before, error, fingerprint, worker },
        after: operation.after,
        limit: CHUNK_MAX,
        ..Query::default()
    }
}
