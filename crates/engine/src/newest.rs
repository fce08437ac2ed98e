//! The ends of the sequence of events, found without reading it.

use store::{Feed, Store};

/// The position of the oldest event that is still there.
pub fn oldest(store: &dyn Store) -> Result<u64, store::Error> {
    Ok(store.feed(&Feed { limit: 1, ..Feed::default() })?.oldest)
}

/// The position of the newest event, from one that is not behind it: found by doubling and halving.
pub fn newest(store: &dyn Store, hint: u64) -> Result<u64, store::Error> {
    let beyond = |at: u64| -> Result<bool, store::Error> {
        Ok(!store.feed(&Feed { after: at, limit: 1, ..Feed::default() })?.events.is_empty())
    };
    let mut low = hint.max(oldest(store)?.saturating_sub(1));
    let (mut high, mut step) = (low, 1);
    while beyond(high)? {
        low = high + 1;
        high = low + step;
        step *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if beyond(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}
