//! Rows and the details of events as text, written by two: the thread that commits from the first on, another from the
//! last on.
//!
//! Turning them into text is a sixth of what a large batch costs, and needs nothing of the database. Whoever comes first
//! to a sheet writes it. So the one that commits waits for at most a sheet that is being written, and for nothing where
//! the machine has no time for the other.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use model::Event;
use store::{Changes, RowChange};

use crate::codec::row_text;

/// Texts on a sheet.
const SHEET: usize = 16;
/// Below this many texts it is not worth waking anybody.
const FEW: usize = 4 * SHEET;

type Sheet = OnceLock<Vec<String>>;

/// The changes of a commit, and their texts.
#[derive(Debug)]
pub(crate) struct Sheets {
    pub(crate) changes: Changes,
    details: Vec<Sheet>,
    rows: Vec<Sheet>,
}

impl Sheets {
    fn of(changes: Changes) -> Self {
        let blank = |count: usize| (0..count.div_ceil(SHEET)).map(|_| Sheet::new()).collect();
        Sheets { details: blank(changes.events.len()), rows: blank(changes.rows.len()), changes }
    }

    /// Returns what is stored of an event beside its leaf.
    pub(crate) fn detail(&self, event: usize) -> &str {
        &self.detail_sheet(event / SHEET)[event % SHEET]
    }

    pub(crate) fn row(&self, row: usize) -> &str {
        &self.row_sheet(row / SHEET)[row % SHEET]
    }

    fn detail_sheet(&self, no: usize) -> &[String] {
        self.details[no].get_or_init(|| on_sheet(&self.changes.events, no, Event::detail_text))
    }

    fn row_sheet(&self, no: usize) -> &[String] {
        self.rows[no]
            .get_or_init(|| on_sheet(&self.changes.rows, no, |RowChange { after, .. }| row_text(after)))
    }

    /// Details first, because they are needed first.
    fn write_backwards(&self) {
        for no in unwritten_backwards(&self.details) {
            self.detail_sheet(no);
        }
        for no in unwritten_backwards(&self.rows) {
            self.row_sheet(no);
        }
    }
}

fn on_sheet<T>(things: &[T], no: usize, text: impl Fn(&T) -> String) -> Vec<String> {
    things.iter().skip(no * SHEET).take(SHEET).map(text).collect()
}

/// Lists the sheets from the last one back to where the committing thread has come.
fn unwritten_backwards(sheets: &[Sheet]) -> impl Iterator<Item = usize> {
    (0..sheets.len()).rev().take_while(|no| sheets[*no].get().is_none())
}

/// The other thread. Started with the first large commit, gone with the store.
#[derive(Debug, Default)]
pub(crate) struct Scribe {
    sent_for: bool,
    at_work: Option<(SyncSender<Arc<Sheets>>, JoinHandle<()>)>,
}

impl Scribe {
    pub(crate) fn write(&mut self, changes: Changes) -> Arc<Sheets> {
        let texts = changes.events.len() + changes.rows.len();
        let sheets = Arc::new(Sheets::of(changes));
        if texts >= FEW {
            self.start();
            if let Some((wishes, _)) = &self.at_work {
                // If it is gone or still has others to look at, the one that commits writes alone.
                let _ = wishes.try_send(sheets.clone());
            }
        }
        sheets
    }

    fn start(&mut self) {
        if std::mem::replace(&mut self.sent_for, true)
            || std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1)
        {
            return;
        }
        let (wishes, asked) = sync_channel::<Arc<Sheets>>(1);
        let work = move || asked.into_iter().for_each(|sheets| sheets.write_backwards());
        let thread = std::thread::Builder::new().name("milepost-scribe".to_owned()).spawn(work);
        // Without it commits are a little slower.
        self.at_work = thread.ok().map(|thread| (wishes, thread));
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        if let Some((wishes, thread)) = self.at_work.take() {
            drop(wishes);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store_conformance::sample::{Sample, submitted};

    /// Makes as many rows, each with an event that somebody else made.
    fn changes(count: usize) -> Changes {
        let event = |n: u64| {
            let mut event = submitted(n);
            event.detail.actor = n.to_string().into();
            event
        };
        let (rows, events) = (1..).take(count).map(|n| (Sample::row(n).new_row(), event(n))).unzip();
        Changes { rows, events, ..Changes::default() }
    }

    #[test]
    fn each_has_its_own_text_whoever_writes_it() {
        let mut scribe = Scribe::default();
        for count in [0, 1, SHEET, FEW, 5 * SHEET + 3] {
            let sheets = scribe.write(changes(count));
            let Changes { rows, events, .. } = &sheets.changes;
            let details = (0..count).map(|event| sheets.detail(event));
            assert!(details.eq(events.iter().map(Event::detail_text)));
            let written = (0..count).map(|row| sheets.row(row));
            assert!(written.eq(rows.iter().map(|change| row_text(&change.after))));
        }
    }

    #[test]
    fn the_other_stops_where_it_meets_the_first() {
        let sheets = Sheets::of(changes(4 * SHEET));
        sheets.detail(2 * SHEET);
        sheets.row(SHEET);
        sheets.write_backwards();
        let written = |sheets: &[Sheet]| sheets.iter().map(|sheet| sheet.get().is_some()).collect::<Vec<_>>();
        assert_eq!(written(&sheets.details), [false, false, true, true]);
        assert_eq!(written(&sheets.rows), [false, true, true, true]);
    }
}
