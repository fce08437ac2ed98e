//! The acts of the log, newest first: what was applied, done to the log, and administered.

use audit::leaf::{Entry, Record};
use model::SubmissionId;
use store::{Error, Store};

use super::publish;
use crate::core::{administered_count, administered_series, applied_series, log_series};
use crate::pipelines::histories;

/// A series and the number of the newest of its acts that is still to be shown.
struct Line {
    series: SubmissionId,
    revision: u64,
    head: Option<(u64, Vec<u8>)>,
}

/// At most so many acts with an index below `before`, with their index. Those that were retired are gone.
pub(crate) fn newest(
    store: &dyn Store,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<(u64, Record)>, Error> {
    let mut lines = Vec::new();
    for (series, count) in series(store)? {
        let revision = last_before(store, series, count, before.unwrap_or(u64::MAX))?;
        lines.push(Line { series, revision, head: store.act(series, revision)? });
    }
    let mut found = Vec::new();
    while found.len() < limit {
        let newest = lines.iter_mut().max_by_key(|line| line.head.as_ref().map_or(0, |(seq, _)| *seq));
        let Some(line) = newest.filter(|line| line.head.is_some()) else { break };
        line.revision -= 1;
        let next = store.act(line.series, line.revision)?;
        let Some((seq, leaf)) = std::mem::replace(&mut line.head, next) else { break };
        match Entry::read(&leaf) {
            Ok(Entry::Record(act)) => found.push((seq - 1, act)),
            _ => return Err(Error::corrupt(format!("the act at position {seq} cannot be read"))),
        }
    }
    Ok(found)
}

/// Every series there is, with how many acts it has.
fn series(store: &dyn Store) -> Result<Vec<(SubmissionId, u64)>, Error> {
    let mut all = vec![
        (administered_series(), administered_count(store)?),
        (log_series(), publish::acts(store)?.revision),
    ];
    for (pipeline, history) in histories(store)? {
        all.push((applied_series(&pipeline), history.len() as u64));
    }
    Ok(all)
}

/// The last act of a series with an index below `before`: found by halving, because positions go up in a series. What
/// is retired comes before everything.
fn last_before(store: &dyn Store, series: SubmissionId, count: u64, before: u64) -> Result<u64, Error> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let is_before = store.act(series, middle)?.is_none_or(|(seq, _)| seq - 1 < before);
        if is_before { low = middle } else { high = middle - 1 }
    }
    Ok(low)
}
