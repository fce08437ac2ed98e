//! Somebody who sets many right at once: operations over filters, started, stopped and cleared away.

use std::collections::BTreeMap;

use engine::core::{Ask, Deed, Filter, Input, Operation, OperationStatus};
use model::{Caller, Name, Role, Status, SubmissionId, Time};

use super::View;
use crate::chance::Chance;
use crate::pipelines::RENAMED;

#[derive(Debug, Default)]
pub(crate) struct Director {
    started: u64,
}

/// Each operation has its turn only while there are few.
const RUNNING_MAX: usize = 4;

/// The callers that act through operations, and through those that only try. Nobody else has these names.
pub(crate) const OPERATES: &str = "operation";
pub(crate) const TRIES: &str = "dry-run";

impl Director {
    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        let known: Vec<&Operation> = view.ledger.operations().collect();
        let running = known.iter().filter(|operation| operation.status == OperationStatus::Running).count();
        let ended: Vec<&&Operation> =
            known.iter().filter(|operation| operation.status != OperationStatus::Running).collect();
        if view.chance.percent(3) {
            return Some(Ask::Stop("00000000-0000-7000-8000-000000000000".into()).into());
        }
        if !known.is_empty() && (running >= RUNNING_MAX || view.chance.percent(12)) {
            return Some(Ask::Stop(view.chance.pick(&known).id.clone()).into());
        }
        if !ended.is_empty() && view.chance.percent(15) {
            let operation = view.chance.pick(&ended).id.clone();
            let results = view.ledger.results(&operation).take(2).map(|id| id.to_string()).collect();
            return Some(Ask::Drop { operation, results }.into());
        }
        self.started += 1;
        Some(Ask::Start(Box::new(operation(self.started, view))).into())
    }
}

fn operation(no: u64, view: &mut View<'_>) -> Operation {
    let chance = &mut *view.chance;
    let id = SubmissionId::new(view.now, std::array::from_fn(|_| byte(chance)));
    let pipeline = *chance.pick(&["studio", "dock", "studio", "dock", "mill", "batch", "convoy", "part"]);
    let dry_run = chance.percent(20);
    let role = if chance.percent(85) { Role::Admin } else { Role::Reviewer };
    Operation {
        id: id.to_string().into(),
        filter: filter(pipeline, chance),
        deed: deed(pipeline, chance),
        reason: chance.percent(60).then(|| "many at once".to_owned()),
        dry_run,
        by: Caller::new(format!("{}-{no}", if dry_run { TRIES } else { OPERATES }), role),
        status: OperationStatus::Running,
        found: 0,
        done: 0,
        refused: BTreeMap::new(),
        started_at: Time::EPOCH,
        ended_at: None,
        after: None,
    }
}

fn filter(pipeline: &str, chance: &mut Chance) -> Filter {
    let mut filter = Filter::of(pipeline.into());
    match chance.below(8) {
        0 => filter.status = Some(Status::Dead),
        1 => filter.status = Some(Status::Open),
        2 => filter.version = Some(u32::try_from(chance.below(2)).unwrap_or(0) + 1),
        3 => filter.error = Some("broken".into()),
        4 => {
            let labels: &[(&str, &str)] = match pipeline {
                "dock" => &[("cargo", "coal"), ("quay", "q1")],
                "studio" => &[("client", "c0"), ("medium", "oil")],
                _ => &[],
            };
            if !labels.is_empty() {
                let (label, value) = *chance.pick(labels);
                filter.labels = BTreeMap::from([(label.into(), value.into())]);
            }
        }
        _ => {}
    }
    filter
}

fn deed(pipeline: &str, chance: &mut Chance) -> Deed {
    let migrates = matches!(pipeline, "studio" | "dock");
    match chance.below(10) {
        0..6 if migrates => {
            let version = *chance.pick(&[1, 2, 2, 2, 7]);
            let names = RENAMED.into_iter().map(|(first, second)| {
                let (from, to) = if version == 1 { (second, first) } else { (first, second) };
                (Name::from(from), Name::from(to))
            });
            let map = if chance.percent(85) { names.collect() } else { BTreeMap::new() };
            Deed::Migrate { version, map }
        }
        0..5 => Deed::Resume { to: None },
        6..8 => Deed::Redrive,
        _ => {
            let action = *chance.pick(match pipeline {
                "dock" => &["salvage", "cancel", "inspect"],
                "mill" => &["redrive", "revive", "fix"],
                "studio" => &["cancel", "shelve", "again"],
                _ => &["cancel", "again", "ok"],
            });
            Deed::Act { action: action.into(), data: None, to: None }
        }
    }
}

fn byte(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(256)).expect("below 256")
}
