//! Children: made once, joined when all have ended, over the core.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use engine::core::{Ask, Output};
use model::admit::Admission;
use model::command::{Finish, Spawn};
use model::submission::{Status, Wait};
use model::{Command, Json, SubmissionId};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};

const PROMISES: Promises = &[
    (
        "children are made in the commit of the answer and joined when all have ended",
        children_are_made_in_the_commit_of_the_answer_and_joined_when_all_have_ended,
    ),
    ("the same children spawned twice are made once", the_same_children_spawned_twice_are_made_once),
    ("a child that is forgotten is not made again", a_child_that_is_forgotten_is_not_made_again),
    (
        "one failed child fails its parent and going on opens it again",
        one_failed_child_fails_its_parent_and_going_on_opens_it_again,
    ),
    ("a cancelled child counts as neither", a_cancelled_child_counts_as_neither),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const PARENT: &str = r#"
name = "parent"
version = 1
title = "Parent"
start = "MAKING"
[states.MAKING]
task = "t.expand"
join = "child"
on.corrupt = "FAILED"
on.error = "FAILED"
on.all_succeeded = "DONE"
on.some_failed = "FAILED"
[states.DONE]
final = "success"
[states.FAILED]
final = "failure"
on.reopened = "MAKING"
"#;

const CHILD: &str = r#"
name = "child"
version = 1
title = "Child"
start = "WORK"
[states.WORK]
task = "t.child"
on.good = "GOOD"
on.bad = "BAD"
[states.GOOD]
final = "success"
[states.BAD]
final = "failure"
actions.again = "WORK"
actions.delete = "GONE"
[states.GONE]
final = "cancelled"
"#;

fn children(bench: &Bench, parent: SubmissionId, names: &[&str]) -> Vec<Admission> {
    let child = bench.machine.pipelines.current().in_force("child").unwrap().clone();
    let children = names.iter().map(|name| {
        let mut application = support::application("");
        application.payload = Json::parse(&format!(r#"{{"n":"{name}"}}"#)).unwrap();
        application.parent = Some((parent, (*name).into()));
        model::admit::admit(&child, application).unwrap()
    });
    children.collect()
}

fn sealed(bench: &mut Bench, parent: SubmissionId, names: &[&str]) -> Command {
    let children = children(bench, parent, names);
    let token = bench.machine.claim_task("t.expand")[0].token;
    Command::Finish(Finish { token, outcome: "sealed".into(), output: None, result: None, children })
}

fn work_off(bench: &mut Bench, outcome: impl Fn(&str) -> &'static str) {
    for task in bench.machine.claim_task("t.child") {
        let name = task.documents.payload.value().get("n").unwrap().as_str().unwrap().to_owned();
        bench.machine.finish(task.token, outcome(&name)).unwrap();
    }
}

fn children_are_made_in_the_commit_of_the_answer_and_joined_when_all_have_ended(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let parent = bench.machine.submit_to("parent", "{}");
    let finish = sealed(&mut bench, parent, &["a", "b", "c"]);
    bench.machine.one(Ask::Tell(parent, finish.clone())).unwrap();
    assert_eq!((bench.row(parent).children.total, bench.row(parent).wait), (3, Wait::Children));
    let again = bench.machine.one(Ask::Tell(parent, finish)).unwrap();
    assert!(matches!(again, Output::Settled { repeated: true, .. }));
    assert_eq!(bench.row(parent).children.total, 3, "the same answer twice makes no more children");
    work_off(&mut bench, |_| "good");
    assert_eq!((bench.state(parent).as_str(), bench.row(parent).children.succeeded), ("DONE", 3));
}

fn the_same_children_spawned_twice_are_made_once(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let parent = bench.machine.submit_to("parent", "{}");
    let token = bench.machine.claim_task("t.expand")[0].token;
    for (names, total) in [(&["a", "b"][..], 2), (&["a", "b"], 2), (&["b", "c"], 3)] {
        let spawn = Spawn { token, children: children(&bench, parent, names) };
        bench.machine.one(Ask::Tell(parent, Command::Spawn(spawn))).unwrap();
        let counted = bench.row(parent).children;
        assert_eq!((counted.total, counted.open), (total, total));
    }
    assert_eq!(bench.machine.claim_task("t.child").len(), 3);
}

fn a_child_that_is_forgotten_is_not_made_again(bench: Open<'_>) {
    let brief = CHILD.replace("final = \"success\"", "final = \"success\"\nforget = \"1s\"");
    let mut bench = bench(&[PARENT, &brief]);
    let parent = bench.machine.submit_to("parent", "{}");
    let token = bench.machine.claim_task("t.expand")[0].token;
    let spawn = |bench: &mut Bench, names: &[&str]| {
        let spawn = Spawn { token, children: children(bench, parent, names) };
        bench.machine.one(Ask::Tell(parent, Command::Spawn(spawn))).unwrap();
        let counted = bench.row(parent).children;
        (counted.total, counted.open, counted.succeeded)
    };
    assert_eq!(spawn(&mut bench, &["a"]), (1, 1, 0));
    work_off(&mut bench, |_| "good");
    bench.clock.advance(1_000);
    bench.machine.settle();
    assert!(bench.store.submission(SubmissionId::of_child(parent, "a")).unwrap().is_none());
    assert_eq!(spawn(&mut bench, &["a", "b"]), (2, 1, 1));
    assert_eq!(bench.machine.claim_task("t.child").len(), 1);
}

fn one_failed_child_fails_its_parent_and_going_on_opens_it_again(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let parent = bench.machine.submit_to("parent", "{}");
    let finish = sealed(&mut bench, parent, &["a", "b"]);
    bench.machine.one(Ask::Tell(parent, finish)).unwrap();
    work_off(&mut bench, |name| if name == "b" { "bad" } else { "good" });
    assert_eq!(bench.state(parent), "FAILED");
    let failed = SubmissionId::of_child(parent, "b");
    bench.machine.act(failed, "again").unwrap();
    assert_eq!((bench.state(parent).as_str(), bench.row(parent).status), ("MAKING", Status::Open));
    assert_eq!(bench.machine.claim_task("t.expand").len(), 0, "its children are made already");
    work_off(&mut bench, |_| "good");
    assert_eq!(bench.state(parent), "DONE");
    let children = bench.row(parent).children;
    assert_eq!((children.total, children.open, children.succeeded, children.failed), (2, 0, 2, 0));
}

fn a_cancelled_child_counts_as_neither(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let parent = bench.machine.submit_to("parent", "{}");
    let finish = sealed(&mut bench, parent, &["a", "b"]);
    bench.machine.one(Ask::Tell(parent, finish)).unwrap();
    let token = bench.machine.claim_task("t.child")[0].token;
    bench.machine.finish(token, "bad").unwrap();
    bench.machine.act(token.submission, "delete").unwrap();
    assert_eq!(bench.row(parent).children.cancelled, 1);
    bench.clock.advance(30_000);
    bench.machine.settle();
    work_off(&mut bench, |_| "good");
    assert_eq!(bench.state(parent), "DONE");
}
