//! Looks at rows whose time has come.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use model::{Command, Millis, Submission, SubmissionId};

use super::commit::Commit;

/// The time for which a row that cannot be woken is left alone.
const POSTPONED: Millis = Millis::from_secs(60);

impl Commit<'_> {
    /// Does what is due in the rows that were taken for it.
    pub(super) fn wake_due(&mut self) {
        for id in std::mem::take(&mut self.taken.due) {
            // A settlement earlier in the batch may have moved the timer on, or ended it: then it is nobody's hurry.
            let row = self.taken.rows.get(&id).map(|stored| &stored.row);
            let due =
                row.is_some_and(|row| !row.status.is_final() && row.timer.is_some_and(|at| at <= self.now));
            if due {
                self.wake(id);
            }
        }
    }

    /// Erases and forgets what has ended. One that changed in this batch is left for the next.
    pub(super) fn wake_idle(&mut self) {
        for id in std::mem::take(&mut self.taken.idle) {
            if self.before.contains_key(&id) {
                continue;
            }
            self.wake(id);
        }
    }

    fn wake(&mut self, id: SubmissionId) {
        let seed = self.draw();
        if let Err(refusal) = self.command(id, &Command::Wake, seed) {
            tracing::error!(submission = %id, code = refusal.code.as_str(), "{refusal}");
            self.postpone(id);
        }
    }

    /// Looks at a row again later that cannot be woken now: a few of these must not hide all timers after them.
    fn postpone(&mut self, id: SubmissionId) {
        let Some(stored) = self.taken.rows.get_mut(&id) else { return };
        let mut row = Submission::clone(&stored.row);
        row.timer = Some(self.now.plus(POSTPONED));
        if let Entry::Vacant(before) = self.before.entry(id) {
            row.row_version += 1;
            before.insert(Some(stored.row.clone()));
            self.changed.push(id);
        }
        stored.row = Arc::new(row);
    }
}
