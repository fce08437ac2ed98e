//! Granting leases: from the queues as they were taken, then from what the batch itself brings.

use std::collections::{HashMap, VecDeque};

use model::command::Claim;
use model::decide::Answer;
use model::submission::Wait;
use model::{Command, Name, Submission, SubmissionId};
use store::take::is_wanted;

use super::commit::Commit;
use super::{Ask, ClaimMany, Granted, Input, Output, Reply};

impl Commit<'_> {
    /// The first of the queue its group has looked at.
    pub(super) fn claim(&mut self, claim: &ClaimMany, group: Option<usize>) -> Vec<Granted> {
        let mut granted = Vec::new();
        // One that waits for what arrives has no queue to look at, and there may be thousands of them in a batch.
        let Some(group) = group else { return granted };
        let command = command(claim);
        while granted.len() < claim.max {
            let queue = &mut self.ready[group];
            let next = match claim.only {
                None => queue.pop_front(),
                Some(only) => queue.iter().position(|id| *id == only).and_then(|place| queue.remove(place)),
            };
            let Some(id) = next else { break };
            granted.extend(self.grant(id, &command));
        }
        granted
    }

    /// `None`: something earlier in the batch moved it, its time is over, or a hold covers it and took it out of the queue,
    /// so that the next claim does not meet it again. In each case it is someone else's turn.
    fn grant(&mut self, id: SubmissionId, command: &Command) -> Option<Granted> {
        let seed = self.draw();
        let Ok(Answer::Granted { token }) = self.command(id, command, seed) else { return None };
        let stored = &self.taken.rows[&id];
        Some(Granted {
            token,
            row: stored.row.clone(),
            documents: stored.documents.clone().unwrap_or_default(),
            pipeline: self.pipeline_of(&stored.row)?.clone(),
        })
    }

    /// Claims that came away with less than they asked for get what has become ready in this very batch: it starts one
    /// commit earlier, and is never written into a queue. What cannot be handed out here is in the queue for the next look.
    pub(super) fn lend(&mut self, inputs: &[Input], outcomes: &mut [Reply]) {
        let short = inputs.iter().zip(outcomes).filter_map(|(input, outcome)| match (&input.ask, outcome) {
            (Ask::Claim(claim), Ok(Output::Tasks(tasks))) if tasks.len() < claim.max => Some((claim, tasks)),
            _ => None,
        });
        let mut waiting: Vec<_> = short.collect();
        if waiting.is_empty() {
            return;
        }
        // Those who have nothing come first.
        waiting.sort_by_key(|(_, tasks)| !tasks.is_empty());
        let mut by_task: HashMap<&Name, VecDeque<usize>> = HashMap::new();
        for (index, (claim, _)) in waiting.iter().enumerate() {
            claim.tasks.iter().for_each(|task| by_task.entry(task).or_default().push_back(index));
        }
        for (task, id) in self.arrived() {
            let Some(row) = self.taken.rows.get(&id).map(|stored| stored.row.clone()) else { continue };
            let Some(line) = by_task.get_mut(&task) else { continue };
            // Those who have all they asked for are not met again, whatever else they wait for.
            while line.front().is_some_and(|index| waiting[*index].1.len() >= waiting[*index].0.max) {
                line.pop_front();
            }
            let takes = |index: &&usize| {
                let (claim, tasks) = &waiting[**index];
                tasks.len() < claim.max && wants(claim, &row)
            };
            if let Some(&index) = line.iter().find(takes) {
                let (claim, tasks) = &mut waiting[index];
                tasks.extend(self.grant(id, &command(claim)));
            }
        }
    }

    /// Lists what has become ready in this batch, in the order of its queue, and can be handed out: its documents are
    /// at hand, and no limit, whose slots nobody looked at, counts it.
    fn arrived(&self) -> Vec<(Name, SubmissionId)> {
        let ready = self.changed.iter().filter_map(|id| {
            let stored = self.taken.rows.get(id)?;
            let Wait::Worker { task, rank } = &stored.row.wait else { return None };
            let unlimited = self.pipeline_of(&stored.row)?.limits_of(&stored.row).next().is_none();
            let at_hand = stored.documents.is_some() && stored.row.parked.is_none() && unlimited;
            at_hand.then_some((*rank, *id, task.clone()))
        });
        let mut ready: Vec<_> = ready.collect();
        ready.sort_unstable_by_key(|(rank, id, _)| (*rank, *id));
        ready.into_iter().map(|(_, id, task)| (task, id)).collect()
    }
}

fn command(claim: &ClaimMany) -> Command {
    Command::Claim(Claim { worker: claim.worker.clone(), tasks: claim.tasks.clone(), lease: claim.lease })
}

fn wants(claim: &ClaimMany, row: &Submission) -> bool {
    claim.only.is_none_or(|only| only == row.id) && is_wanted(&claim.pipelines, &claim.labels, row)
}
