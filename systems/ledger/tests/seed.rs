//! The algorithm of "One-round serial queuer strategy" (Copyright 2018-2022 Cargill Incorporated, CC BY 4.0), step by step and
//! word by word, to compare the queuer with.

use std::collections::BTreeSet;

use ledger::Seconds;
use ledger::queuer::{Batch, BatchStatus};

const NO_LONGER_LISTED: [Option<BatchStatus>; 3] =
    [Some(BatchStatus::Committed), Some(BatchStatus::Valid), Some(BatchStatus::Invalid)];
const EXCLUDES_ITS_SERVICE: [Option<BatchStatus>; 3] =
    [Some(BatchStatus::Pending), Some(BatchStatus::Unknown), Some(BatchStatus::Delayed)];

/// Returns `batch_queue`. The steps are numbered as in the document, which has two fives.
pub(crate) fn batch_queue(batches: &[Batch], now: Seconds, window: Seconds) -> Vec<&Batch> {
    // 1. All batches that do not have these statuses, which should leave those in four states: (true, none) is not among them.
    let batch_list: Vec<&Batch> = batches
        .iter()
        .filter(|batch| !NO_LONGER_LISTED.contains(&batch.status))
        .filter(|batch| !(batch.submitted && batch.status.is_none()))
        .collect();
    // 2.
    let mut batch_queue = Vec::new();
    // 3.
    batch_queue.extend(batch_list.iter().filter(|batch| batch.status == Some(BatchStatus::Unknown)));
    // 4.
    batch_queue.extend(batch_list.iter().filter(|batch| {
        batch.status == Some(BatchStatus::Delayed)
            && batch.last_submitted_at.is_some_and(|at| at + window <= now)
    }));
    // 5.
    let excluded: BTreeSet<&Option<String>> = batch_list
        .iter()
        .filter(|batch| EXCLUDES_ITS_SERVICE.contains(&batch.status))
        .map(|batch| &batch.service)
        .collect();
    let service_id_list: BTreeSet<&Option<String>> =
        batch_list.iter().map(|batch| &batch.service).filter(|service| !excluded.contains(service)).collect();
    // 5.
    for service_id in service_id_list {
        let of_service: Vec<&Batch> =
            batch_list.iter().copied().filter(|batch| batch.service == *service_id).collect();
        let oldest = of_service.iter().map(|batch| batch.created_at).min();
        let mut oldest: Vec<&Batch> =
            of_service.into_iter().filter(|batch| Some(batch.created_at) == oldest).collect();
        oldest.sort_by(|one, other| one.header.cmp(&other.header));
        batch_queue.extend(oldest.first());
    }
    batch_queue
}
