//! Liveness: with time, well-behaved workers and people, everything comes to an end or to rest.

use std::collections::BTreeMap;

use engine::core::{Ask, DUE_MAX, Input, Output};
use engine::duty::{Operations, Schedules, Sweep};
use model::command::{Act, Finish, Redrive};
use model::submission::Wait;
use model::{Caller, Command, Json, Role, Status, Submission, SubmissionId};
use serde_json::json;

use crate::actors::{Heard, tell};
use crate::cast;
use crate::check::{Checked, all_made, ensure};
use crate::finding::{Finding, finding};
use crate::pipelines::good_work;
use crate::world::World;

/// The number of times a person helps one submission on: some pipelines let people send a submission in circles.
const HELPED_MAX: u32 = 4;

pub(crate) fn until_nothing_moves(world: &mut World) -> Checked {
    let holds: Vec<Input> = world.ledger.holds().map(|hold| Ask::Release(hold.id.clone()).into()).collect();
    world.commit(&holds, DUE_MAX)?;
    duties(world)?;
    let bound = 400 + 20 * world.ledger.rows().count();
    let mut helped = BTreeMap::new();
    for _ in 0..bound {
        if !moves(world, &mut helped)? {
            world.report.count("rest/reached");
            return at_rest(world);
        }
        world.report.count("rest/steps");
    }
    let stuck = world.ledger.rows().find(|row| !rests(world, row));
    Err(finding!("after {bound} peaceful steps something still moves: {stuck:?}"))
}

/// Operations come to their end, and no time of a schedule is left unserved.
fn duties(world: &mut World) -> Checked {
    let ticks = world.duty(&mut Schedules)?;
    world.commit(&ticks, DUE_MAX)?;
    world.nothing_missed()?;
    let bound = 20 + 10 * world.ledger.rows().count();
    for _ in 0..bound {
        let chunks = world.duty(&mut Operations)?;
        if chunks.is_empty() {
            return Ok(());
        }
        world.commit(&chunks, DUE_MAX)?;
    }
    Err(finding!("after {bound} chunks an operation still runs"))
}

/// One round: people act, workers claim and finish, and if nobody has anything to do, time passes.
fn moves(world: &mut World, helped: &mut BTreeMap<SubmissionId, u32>) -> Result<bool, Finding> {
    let mut inputs = vec![Ask::Claim(cast::claim("well-behaved", 100)).into()];
    inputs.extend(help(world, helped));
    let stepped = world.commit(&inputs, DUE_MAX)?;
    let mut finishes = Vec::new();
    if let Some(Heard::Told(outcome)) = stepped.heard.first()
        && let Ok(Output::Tasks(granted)) = &**outcome
    {
        for granted in granted {
            let task = granted.row.lease().map(|lease| lease.task.clone()).unwrap_or_default();
            let work = good_work(&task);
            let (token, outcome, output) = (granted.token, work.outcome.into(), work.output);
            finishes.push(tell(Command::Finish(Finish {
                token,
                outcome,
                output,
                result: None,
                children: Vec::new(),
                entries: Vec::new(),
            })));
        }
    }
    if !finishes.is_empty() {
        world.commit(&finishes, DUE_MAX)?;
        return Ok(true);
    }
    if inputs.len() > 1 || stepped.changed {
        return Ok(true);
    }
    let Some(next) = stepped.next_timer else {
        let looks = world.duty(&mut Sweep::default())?;
        if !looks.is_empty() {
            world.commit(&looks, DUE_MAX)?;
            return Ok(true);
        }
        return Ok(!world.ledger.rows().all(|row| rests(world, row)));
    };
    if next > world.now() {
        world.clock.set(next);
    }
    Ok(true)
}

/// A person does the sensible thing to every other submission that waits for one.
fn help(world: &World, helped: &mut BTreeMap<SubmissionId, u32>) -> Vec<Input> {
    let mut inputs = Vec::new();
    for id in world.ledger.waiting_for_somebody() {
        let Some(row) = world.ledger.row(id) else { continue };
        let times = helped.entry(id).or_default();
        if id.0.as_bytes()[15] % 2 == 0 || *times >= HELPED_MAX {
            continue;
        }
        let ada = Caller::new("ada", Role::Admin);
        if row.status == Status::Dead && row.seat.is_some() {
            *times += 1;
            inputs.push(Ask::Tell(id, Command::Redrive(Redrive { caller: ada, reason: None })).into());
        } else if let Some((action, data)) = sensible(row) {
            *times += 1;
            let act = Act {
                caller: ada,
                action: action.into(),
                reason: Some("tidying up".to_owned()),
                data,
                to: match action {
                    "fix" => Some("GRIND".into()),
                    "back" => Some("SKETCH".into()),
                    _ => None,
                },
                if_match: Some(row.revision),
            };
            inputs.push(Ask::Tell(id, Command::Act(act)).into());
        }
    }
    inputs
}

fn sensible(row: &Submission) -> Option<(&'static str, Option<Json>)> {
    let action = match &*row.state {
        "NEEDS_REVIEW" => "escalate",
        "TIER3_REVIEW" => return Some(("approve", Some(Json::from(json!({ "read": true }))))),
        "HELD_BACK" => "release",
        "REPAIR" => "fix",
        "REST" | "OVERDUE" => "push",
        "GATE" => "open",
        "PANEL" => "back",
        "HARBOUR" => "pilot",
        "ROADS" => "pilot",
        "UNLOAD" => "ok",
        "LOOK" => "enough",
        "HELD" => "release",
        "PENDING" => "force",
        "ASK" => "fetch",
        "GRIND" => "redrive",
        "SCANNING" | "SCORING" => "rescan",
        _ => return None,
    };
    Some((action, None))
}

/// Ended, dead, or waiting for somebody who may never come; or in line behind one of these.
fn rests(world: &World, row: &Submission) -> bool {
    let behind = |before: &dyn Fn(&Submission) -> bool| {
        let mut others =
            world.ledger.rows().filter(|other| other.id != row.id && other.pipeline == row.pipeline);
        others.any(|other| before(other) && matches!(other.wait, Wait::Redrive | Wait::Person | Wait::Guard))
    };
    let lane = |row: &Submission| row.seat.as_ref().map(|seat| seat.lane.clone());
    match row.wait {
        Wait::Nothing | Wait::Redrive | Wait::Person | Wait::Guard => true,
        Wait::Line => behind(&|other| lane(other) == lane(row) && other.held_lane().is_some()),
        Wait::Key => behind(&|other| other.key == row.key && !other.key_waits),
        _ => false,
    }
}

fn at_rest(world: &World) -> Checked {
    ensure!(world.ledger.owes_nothing(), "nothing moves any more, and something is owed");
    for row in world.ledger.rows() {
        ensure!(rests(world, row), "nothing moves any more, and this waits: {row:?}");
        ensure!(row.timer.is_none(), "nothing moves any more, and a timer is left: {row:?}");
        ensure!(row.parked.is_none(), "no hold is left, and this is parked: {row:?}");
    }
    all_made(&world.ledger)?;
    Ok(())
}
