//! Rows as text, written by two: the thread that commits from the first on, another from the last on.
//!
//! Turning rows into text is a tenth of what a large batch costs, and needs nothing of the database. Whoever comes first
//! to a sheet writes it. So the one that commits waits for at most a sheet that is being written, and for nothing where
//! the machine has no time for the other.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use model::Submission;
use store::RowChange;

use crate::codec::row_text;

/// Rows on a sheet.
const SHEET: usize = 16;
/// Below this many rows it is not worth waking anybody.
const FEW: usize = 2 * SHEET;

/// The rows of a commit.
#[derive(Debug)]
pub(crate) struct Sheets {
    rows: Vec<Arc<Submission>>,
    sheets: Vec<OnceLock<Vec<String>>>,
}

impl Sheets {
    fn of(rows: &[RowChange]) -> Self {
        Sheets {
            rows: rows.iter().map(|change| change.after.clone()).collect(),
            sheets: (0..rows.len().div_ceil(SHEET)).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(crate) fn text(&self, row: usize) -> &str {
        &self.sheet(row / SHEET)[row % SHEET]
    }

    fn sheet(&self, no: usize) -> &[String] {
        self.sheets[no].get_or_init(|| {
            let rows = self.rows.iter().skip(no * SHEET).take(SHEET);
            rows.map(|row| row_text(row)).collect()
        })
    }

    fn write_backwards(&self) {
        let unwritten = |no: &usize| self.sheets[*no].get().is_none();
        (0..self.sheets.len()).rev().take_while(unwritten).for_each(|no| {
            self.sheet(no);
        });
    }
}

/// The other thread. Started with the first large commit, gone with the store.
#[derive(Debug, Default)]
pub(crate) struct Scribe {
    sent_for: bool,
    at_work: Option<(SyncSender<Arc<Sheets>>, JoinHandle<()>)>,
}

impl Scribe {
    pub(crate) fn write(&mut self, rows: &[RowChange]) -> Arc<Sheets> {
        let sheets = Arc::new(Sheets::of(rows));
        if rows.len() >= FEW {
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
    use store::conformance::sample::Sample;

    #[test]
    fn each_row_has_its_own_text_whoever_writes_it() {
        let rows: Vec<RowChange> = (1..=(5 * SHEET as u64 + 3)).map(|n| Sample::row(n).new_row()).collect();
        let mut scribe = Scribe::default();
        for count in [0, 1, SHEET, FEW, rows.len()] {
            let sheets = scribe.write(&rows[..count]);
            let written = (0..count).map(|row| sheets.text(row));
            assert!(written.eq(rows[..count].iter().map(|change| row_text(&change.after))));
        }
    }

    #[test]
    fn the_other_stops_where_it_meets_the_first() {
        let rows: Vec<RowChange> = (1..=4 * SHEET as u64).map(|n| Sample::row(n).new_row()).collect();
        let sheets = Sheets::of(&rows);
        sheets.text(SHEET);
        sheets.write_backwards();
        let written: Vec<_> = sheets.sheets.iter().map(|sheet| sheet.get().is_some()).collect();
        assert_eq!(written, [false, true, true, true]);
    }
}
