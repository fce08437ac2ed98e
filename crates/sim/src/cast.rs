//! The actors that take part in every run.

use std::collections::BTreeMap;

use engine::core::ClaimMany;
use model::{Name, Role};

use crate::actors::{Actor, Clerk, Director, Habit, Operator, Person, Submitter, Warden, Worker};

/// Every task of every pipeline.
pub(crate) const TASKS: [&str; 23] = [
    "review.scan",
    "review.score",
    "review.publish",
    "mill.grind",
    "mill.sift",
    "mill.polish",
    "mill.retool",
    "patience.fetch",
    "patience.walk",
    "dock.unload",
    "dock.inspect",
    "dock.customs",
    "convoy.drive",
    "router.send",
    "batch.fill",
    "batch.report",
    "part.make",
    "studio.sketch",
    "studio.paint",
    "studio.frame",
    "studio.varnish",
    "bulletin.write",
    "dock.papers",
];
const PLAIN: [&str; 2] = ["plain.work", "plain.audit"];

pub(crate) fn all_tasks() -> Vec<Name> {
    TASKS.into_iter().chain(PLAIN).map(Name::from).collect()
}

pub(crate) fn cast() -> Vec<Actor> {
    let mut cast = vec![
        Actor::Operator(Operator::default()),
        Actor::Warden(Warden::default()),
        Actor::Director(Director::default()),
        Actor::Clerk(Clerk::default()),
        Actor::Clerk(Clerk::default()),
        Actor::Person(Person::new("ada", Role::Admin)),
        Actor::Person(Person::new("ravi", Role::Reviewer)),
        Actor::Person(Person::new("rita", Role::Reviewer)),
        Actor::Person(Person::new("sam", Role::Submitter)),
        Actor::Person(Person::new("vera", Role::Viewer)),
    ];
    cast.extend(["sam", "sue", "sid"].map(|name| Actor::Submitter(Submitter::new(name, Role::Submitter))));
    cast.push(Actor::Submitter(Submitter::new("ada", Role::Admin)));
    let habits = [
        Habit::Steady,
        Habit::Steady,
        Habit::Steady,
        Habit::Slow,
        Habit::Slow,
        Habit::Dying,
        Habit::Late,
        Habit::Careless,
        Habit::Leaving,
    ];
    cast.extend(habits.into_iter().enumerate().map(|(index, habit)| worker(index, habit, ClaimAll)));
    cast.push(worker(90, Habit::Steady, OnePipeline));
    cast.push(worker(92, Habit::Sitting, OneTask));
    cast.push(worker(91, Habit::Careless, OneTenant));
    cast
}

use Wanted::{ClaimAll, OnePipeline, OneTask, OneTenant};

#[derive(Debug, Clone, Copy)]
enum Wanted {
    ClaimAll,
    OnePipeline,
    OneTask,
    OneTenant,
}

fn worker(index: usize, habit: Habit, wanted: Wanted) -> Actor {
    let mut claim = claim(&format!("worker-{index}"), 1);
    match wanted {
        ClaimAll => {}
        OnePipeline => claim.pipelines = vec!["plain".into(), "patience".into()],
        OneTask => claim.tasks = vec!["review.score".into()],
        OneTenant => claim.labels = BTreeMap::from([("tenant".into(), "t1".into())]),
    }
    Actor::Worker(Worker::new(claim, habit))
}

pub(crate) fn claim(worker: &str, max: usize) -> ClaimMany {
    ClaimMany {
        worker: worker.into(),
        tasks: all_tasks(),
        pipelines: Vec::new(),
        labels: BTreeMap::new(),
        max,
        arriving: false,
        only: None,
        lease: None,
    }
}
