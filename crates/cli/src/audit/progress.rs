//! Shows how far the audit of a whole log has come, for people who watch.

use std::cell::Cell;
use std::io::{IsTerminal as _, Write as _};

use audit::tiles::{Shelf, SourceError, TILE_WIDTH, TilePath, TileSource};
use audit::verify::Definitions;
use model::Digest;

const BAR_WIDTH: u64 = 40;

/// A source whose reader is watched: an audit reads the entries once, from the first to the last.
#[derive(Debug)]
pub(crate) struct Watched<'a, S> {
    source: &'a S,
    /// Entries in all.
    size: u64,
    /// The last percentage that was drawn.
    drawn: Cell<u64>,
    is_watched: bool,
}

impl<'a, S> Watched<'a, S> {
    pub(crate) fn new(source: &'a S, size: u64) -> Watched<'a, S> {
        let is_watched = size > 0 && std::io::stderr().is_terminal();
        Watched { source, size, drawn: Cell::new(u64::MAX), is_watched }
    }

    fn reached(&self, entry: u64) {
        let percent = percent(entry, self.size);
        if self.is_watched && self.drawn.replace(percent) != percent {
            write(&format!("\r{}", bar(entry, self.size)));
        }
    }
}

impl<S> Drop for Watched<'_, S> {
    /// Takes the bar away: what follows is the report.
    fn drop(&mut self) {
        if self.drawn.get() != u64::MAX {
            write("\r\u{1b}[K");
        }
    }
}

impl<S: TileSource> TileSource for Watched<'_, S> {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        if path.shelf == Shelf::Entries {
            self.reached(path.index * u64::from(TILE_WIDTH));
        }
        self.source.tile(path)
    }
}

impl<S: Definitions> Definitions for Watched<'_, S> {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.source.definition(digest)
    }
}

fn percent(entry: u64, size: u64) -> u64 {
    u64::try_from(u128::from(entry) * 100 / u128::from(size.max(1))).unwrap_or(100).min(100)
}

fn bar(entry: u64, size: u64) -> String {
    let percent = percent(entry, size);
    let full = usize::try_from(percent * BAR_WIDTH / 100).unwrap_or(0);
    let rest = usize::try_from(BAR_WIDTH).unwrap_or(0) - full;
    format!("[{}{}] {percent:>3}% of {size} entries", "=".repeat(full), " ".repeat(rest))
}

fn write(text: &str) {
    let mut stderr = std::io::stderr();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_fills_from_left_to_right() {
        assert_eq!(bar(0, 1_000), format!("[{}]   0% of 1000 entries", " ".repeat(40)));
        assert_eq!(bar(500, 1_000), format!("[{}{}]  50% of 1000 entries", "=".repeat(20), " ".repeat(20)));
        assert_eq!(bar(u64::MAX, u64::MAX), format!("[{}] 100% of {} entries", "=".repeat(40), u64::MAX));
    }
}
