//! Reading what a take names.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use model::{Submission, SubmissionId, Time};

use super::Tables;
use super::merge::merge;
use crate::{Ready, Stored, Take, Taken};

impl Tables {
    pub(super) fn take(&self, take: &Take<'_>, now: Time) -> Taken {
        let mut taken = Taken { now, ..Taken::default() };
        for key in &take.keys {
            if let Some(&holder) = self.index.keys.get(key) {
                taken.holders.insert(key.clone(), holder);
            }
        }
        for request in &take.requests {
            let answer = self.answers.get(request).filter(|answer| answer.expires_at > now);
            taken.answers.extend(answer.map(|answer| (request.clone(), answer.body.clone())));
        }
        for key in &take.registry {
            taken.registry.extend(self.registry.get(key).map(|body| (key.clone(), body.clone())));
        }
        let mut handed_out = HashSet::new();
        for ready in &take.ready {
            let ids = self.ready(ready, &handed_out);
            handed_out.extend(ids.iter().copied());
            taken.ready.push(ids);
        }
        let due = self.index.timers.iter().take_while(|(at, _)| *at <= now).take(take.due);
        taken.due = due.map(|&(_, id)| id).collect();
        taken.next_timer = self.index.timers.iter().nth(taken.due.len()).map(|&(at, _)| at);
        taken.owed = self.owed.by_age.values().take(take.owed).cloned().collect();
        self.take_rows(take, &mut taken, &handed_out);
        taken
    }

    fn take_rows(&self, take: &Take<'_>, taken: &mut Taken, handed_out: &HashSet<SubmissionId>) {
        let named = take.ids.iter().chain(taken.holders.values()).chain(&taken.due).chain(handed_out);
        for &id in named {
            if taken.rows.contains_key(&id) {
                continue;
            }
            if let Some(row) = self.rows.get(&id) {
                let wanted = handed_out.contains(&id) || (take.documents)(row);
                let documents = wanted.then(|| self.documents(id));
                taken.rows.insert(id, Stored { row: row.clone(), documents });
            }
        }
    }

    fn ready(&self, wanted: &Ready, handed_out: &HashSet<SubmissionId>) -> Vec<SubmissionId> {
        let tasks: BTreeSet<_> = wanted.tasks.iter().collect();
        let queues = tasks.into_iter().filter_map(|task| self.index.ready.of(task));
        // The merge gives the greatest first; reversed, that is the lowest rank.
        let waiting = merge(queues.map(|queue| queue.iter().map(Reverse))).map(|Reverse(&(_, id))| id);
        let free = waiting.filter(|id| !handed_out.contains(id) && fits(&self.rows[id], wanted));
        free.take(wanted.max).collect()
    }
}

fn fits(row: &Submission, wanted: &Ready) -> bool {
    (wanted.pipelines.is_empty() || wanted.pipelines.contains(&row.pipeline))
        && wanted.labels.iter().all(|(label, value)| row.labels.get(label) == Some(value))
}
