use std::time::Duration;

use model::Millis;
use store::{Feed, RETIRED_MAX};

use super::{Duty, Look, Pass, retention};
use crate::core::{Ask, OperationResults, OperationStatus, Operations};
use crate::registry;

/// Removes what is old and of no use to anybody: the results of operations, and events where a deployment says so.
#[derive(Debug, Default)]
pub struct Housekeeping {
    /// The time for which events stay in the feed; `None`: for ever.
    pub keep_events: Option<Millis>,
    /// Set if the audit log has to allow their removal first.
    pub logged: bool,
}

/// The time for which an operation can be looked at after it has ended.
const KEEP_OPERATIONS: Millis = Millis::from_secs(30 * 24 * 3600);
/// Operations looked at in one pass, and results of one that are removed at a time.
const AT_ONCE: usize = 500;

impl Duty for Housekeeping {
    fn name(&self) -> &'static str {
        "housekeeping"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let mut pass = Pass::default();
        if look.doubtful {
            return Ok(pass);
        }
        old_operations(look, &mut pass)?;
        if let Some(keep) = self.keep_events {
            if self.logged {
                retention::old_entries(look, keep, &mut pass)?;
            } else {
                old_events(look, keep, &mut pass)?;
            }
        }
        Ok(pass)
    }
}

fn old_operations(look: Look<'_>, pass: &mut Pass) -> Result<(), store::Error> {
    for (id, operation) in registry::page::<Operations>(look.store, "", AT_ONCE)? {
        let Ok(operation) = operation else { continue };
        let old = operation.ended_at.is_some_and(|at| at.plus(KEEP_OPERATIONS) <= look.now);
        if operation.status == OperationStatus::Running || !old {
            continue;
        }
        let results = registry::page_within::<OperationResults>(look.store, &id, "", AT_ONCE)?;
        pass.again |= !results.is_empty();
        let results = results.into_iter().map(|(name, _)| name).collect();
        pass.inputs.push(Ask::Drop { operation: operation.id, results }.into());
    }
    Ok(())
}

/// Reads what it lets go: an event says itself when it happened.
fn old_events(look: Look<'_>, keep: Millis, pass: &mut Pass) -> Result<(), store::Error> {
    let limit = usize::try_from(RETIRED_MAX).unwrap_or(usize::MAX).min(1_000);
    let oldest = look.store.feed(&Feed { limit: 1, ..Feed::default() })?.oldest;
    let feed = Feed { after: oldest.saturating_sub(1), limit, ..Feed::default() };
    let page = look.store.feed(&feed)?;
    let is_old = |at: model::Time| at.plus(keep) <= look.now;
    let old = page.events.iter().take_while(|recorded| is_old(recorded.event.leaf.at)).count();
    let Some(last) = old.checked_sub(1).and_then(|last| page.events.get(last)) else { return Ok(()) };
    pass.again |= old == page.events.len();
    pass.inputs.push(Ask::Retire { before: last.seq + 1, kept: Vec::new() }.into());
    Ok(())
}
