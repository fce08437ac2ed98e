//! Letting go of old events under the audit log: first an act says from where on they are kept, then, once a signed
//! checkpoint covers the act, they go. Whole bundles of entries only, so that what is left can be read as the log has it.

use audit::leaf::{Entry, Record};
use audit::tiles::TILE_WIDTH;
use model::Millis;
use store::{Feed, RETIRED_MAX};

use super::{Look, Pass};
use crate::core::{Ask, LogDeed, LoggedRecord, kept_act, kept_key, log_series};
use crate::log::{acts, checkpoint, size_of};

pub(super) fn old_entries(look: Look<'_>, keep: Millis, pass: &mut Pass) -> Result<(), store::Error> {
    let oldest = look.store.leaves(0, 0)?.first;
    let acts = acts(look.store)?;
    if let Some(pruned) = acts.pruned.filter(|pruned| pruned.minimum_index >= oldest) {
        let size = checkpoint(look.store)?.map_or(0, |note| size_of(&note));
        let act = look.store.act(log_series(), pruned.revision)?;
        if act.is_some_and(|(seq, _)| seq <= size) {
            retire(look, oldest, pruned.minimum_index, pass)?;
        }
        return Ok(());
    }
    let width = u64::from(TILE_WIDTH);
    let minimum_index = old_until(look, keep, oldest)? / width * width;
    if minimum_index >= oldest {
        let reason = format!("events are kept for {keep}");
        pass.inputs.push(Ask::Log(Box::new(LogDeed::Prune { minimum_index, reason })).into());
    }
    Ok(())
}

/// The last position before the first event that is not old: found by halving, because times go up with positions.
fn old_until(look: Look<'_>, keep: Millis, oldest: u64) -> Result<u64, store::Error> {
    let is_old = |after: u64| -> Result<bool, store::Error> {
        let page = look.store.feed(&Feed { after, limit: 1, ..Feed::default() })?;
        let at = page.events.first().map(|recorded| recorded.event.leaf.at);
        Ok(at.is_some_and(|at| at.plus(keep) <= look.now))
    };
    let (mut low, mut step) = (oldest.saturating_sub(1), 1);
    while is_old(low.saturating_add(step))? {
        low += step;
        step *= 2;
    }
    let mut high = low + step;
    while low < high {
        let middle = low + (high - low) / 2;
        if is_old(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// The next few of what may go. What evidence needs of them is kept: when each definition was applied.
fn retire(look: Look<'_>, oldest: u64, minimum_index: u64, pass: &mut Pass) -> Result<(), store::Error> {
    let count = (minimum_index + 1 - oldest).min(RETIRED_MAX);
    let page = look.store.leaves(oldest - 1, usize::try_from(count).unwrap_or(usize::MAX))?;
    let mut kept = Vec::new();
    for (seq, leaf) in (page.first..).zip(&page.leaves) {
        if let Ok(Entry::Record(Record::Applied(applied))) = Entry::read(leaf) {
            // Going back to a definition logs it again: everything under it comes after the first time.
            let key = kept_key(&applied);
            if kept.iter().any(|(known, _)| *known == key)
                || kept_act(look.store, &applied.definition)?.is_some()
            {
                continue;
            }
            kept.push((
                key,
                LoggedRecord { index: seq - 1, leaf: String::from_utf8_lossy(leaf).into_owned() },
            ));
        }
    }
    pass.again |= oldest + count <= minimum_index;
    pass.inputs.push(Ask::Retire { before: oldest + count, kept }.into());
    Ok(())
}
