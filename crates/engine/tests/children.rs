//! Children: made once, joined when all have ended, over the core.

use crate::support;

use engine::core::{Ask, OPERATIONS, Output, RUNNING};
use engine::duty::Operations;
use model::admit::Admission;
use model::command::{Fail, Finish, Snooze, Spawn};
use model::submission::{Failure, Status, Wait};
use model::{Command, Json, LeaseToken, Millis, SubmissionId};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite, serve};

const PROMISES: Promises = &[
    (
        "children are made in the commit of the answer and joined when all have ended",
        children_are_made_in_the_commit_of_the_answer_and_joined_when_all_have_ended,
    ),
    ("the same children spawned twice are made once", the_same_children_spawned_twice_are_made_once),
    (
        "children stand in their queue in the order they were named",
        children_stand_in_the_order_they_were_named,
    ),
    ("a child that is forgotten is not made again", a_child_that_is_forgotten_is_not_made_again),
    (
        "one failed child fails its parent and going on opens it again",
        one_failed_child_fails_its_parent_and_going_on_opens_it_again,
    ),
    ("a cancelled child counts as neither", a_cancelled_child_counts_as_neither),
    ("children follow a parent that is cancelled", children_follow_a_parent_that_is_cancelled),
    ("children of a pipeline that says nothing stay", children_of_a_pipeline_that_says_nothing_stay),
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
actions.delete = "DELETED"
[states.DELETED]
final = "cancelled"
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
        application.door = model::admit::Door::Child(parent, (*name).into());
        model::admit::admit(&child, application, &mut model::schema::Fuel::whole()).unwrap()
    });
    children.collect()
}

fn sealed(bench: &mut Bench, parent: SubmissionId, names: &[&str]) -> Command {
    let children = children(bench, parent, names);
    let token = bench.machine.claim_task("t.expand")[0].token;
    Command::Finish(Finish {
        token,
        outcome: "sealed".into(),
        output: None,
        result: None,
        children,
        entries: Vec::new(),
    })
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

fn children_stand_in_the_order_they_were_named(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let (parent, other) = (bench.machine.submit_to("parent", "{}"), bench.machine.submit_to("parent", "{}"));
    let tokens: Vec<_> = bench.machine.claim_task("t.expand").iter().map(|task| task.token).collect();
    let names: Vec<String> = (0..40).map(|no| format!("{}", no * 7 % 40)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // Two calls at once, and one a little later: the children of each stand behind those of the one before.
    for (from, to, pause) in [(0, 15, 0), (15, 30, 5), (30, 40, 0)] {
        let spawn = Spawn { token: tokens[0], children: children(&bench, parent, &names[from..to]) };
        bench.machine.one(Ask::Tell(parent, Command::Spawn(spawn))).unwrap();
        bench.clock.advance(pause);
    }
    let finish = Finish {
        token: tokens[1],
        outcome: "sealed".into(),
        output: None,
        result: None,
        children: children(&bench, other, &["x", "y", "b"]),
        entries: Vec::new(),
    };
    bench.machine.one(Ask::Tell(other, Command::Finish(finish))).unwrap();
    let (mut of_first, mut of_other) = (Vec::new(), Vec::new());
    for task in bench.machine.claim_task("t.child") {
        let name = task.documents.payload.value().get("n").unwrap().as_str().unwrap().to_owned();
        if task.row.parent == Some(parent) { of_first.push(name) } else { of_other.push(name) }
    }
    assert_eq!(
        (of_first, of_other),
        (names.iter().map(|&name| name.to_owned()).collect(), vec!["x".into(), "y".into(), "b".into()])
    );
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

/// A parent of 250 children, each where the first letters of its name say: open, leased, dead, bad or good.
fn brood(bench: &mut Bench) -> (SubmissionId, Vec<(String, SubmissionId)>, LeaseToken) {
    let mut late = None;
    let parent = bench.machine.submit_to("parent", "{}");
    let token = bench.machine.claim_task("t.expand")[0].token;
    let places = ["open", "leased", "dead", "bad", "good"];
    let names: Vec<String> = (0..250).map(|n| format!("{}-{n}", places[n % places.len()])).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let spawn = Spawn { token, children: children(bench, parent, &all) };
    bench.machine.one(Ask::Tell(parent, Command::Spawn(spawn))).unwrap();
    let mut tasks = Vec::new();
    while let more @ [_, ..] = &*bench.machine.claim_task("t.child") {
        tasks.extend_from_slice(more);
    }
    for task in tasks {
        let name = task.documents.payload.value().get("n").unwrap().as_str().unwrap().to_owned();
        match name.split('-').next().unwrap() {
            "dead" => {
                let failure = Failure { code: "no".into(), message: String::new() };
                let fail = Fail { token: task.token, failure, retryable: false, after: None };
                bench.machine.one(Ask::Tell(task.token.submission, Command::Fail(fail))).unwrap();
            }
            "leased" => late = Some(task.token),
            "open" => {
                let snooze = Snooze { token: task.token, span: Millis::from_secs(3_600) };
                bench.machine.one(Ask::Tell(task.token.submission, Command::Snooze(snooze))).unwrap();
            }
            outcome => {
                let outcome = if outcome == "bad" { "bad" } else { "good" };
                bench.machine.finish(task.token, outcome).unwrap();
            }
        }
    }
    let failure = Failure { code: "no".into(), message: String::new() };
    let fail = Fail { token, failure, retryable: false, after: None };
    bench.machine.one(Ask::Tell(parent, Command::Fail(fail))).unwrap();
    assert_eq!(bench.state(parent), "FAILED");
    let made = names.into_iter().map(|name| (name.clone(), SubmissionId::of_child(parent, &name)));
    (parent, made.collect(), late.expect("some are leased"))
}

fn children_follow_a_parent_that_is_cancelled(bench: Open<'_>) {
    let following = CHILD
        .replace("on.bad = \"BAD\"", "on.bad = \"BAD\"\non.parent_cancelled = \"GONE\"")
        .replace("actions.again", "on.parent_cancelled = \"GONE\"\nactions.again");
    let mut bench = bench(&[PARENT, &following]);
    let (parent, made, late) = brood(&mut bench);
    let stranger = bench.machine.submit_to("child", r#"{"n":"mine"}"#);
    bench.machine.act(parent, "delete").unwrap();
    // The machine may stop at any point: what is left is done by whoever comes next.
    bench.machine.core = bench.machine.rebuilt(bench.store.clone());
    serve(&mut bench, &mut Operations);
    bench.machine.settle();
    for (name, id) in &made {
        let row = bench.row(*id);
        let expected = if name.starts_with("good") { "GOOD" } else { "GONE" };
        assert_eq!(&*row.state, expected, "{name}");
        let last = bench.store.history(*id, row.revision - 1, 1).unwrap().remove(0).event;
        let by_rule = last.leaf.right == model::Right::Rule && &*last.leaf.trigger == "parent_cancelled";
        assert_eq!(by_rule, expected == "GONE", "{name}");
    }
    let counted = bench.row(parent).children;
    assert_eq!((counted.open, counted.succeeded, counted.failed, counted.cancelled), (0, 50, 0, 200));
    assert_eq!(bench.state(stranger), "WORK", "another's child is not its business");
    let refused = bench.machine.finish(late, "good").unwrap_err();
    assert_eq!(refused.code.as_str(), "stale-lease");
    let operations = store::registry_all(&*bench.store, OPERATIONS).unwrap();
    assert_eq!(operations.len(), 1, "begun once");
    assert!(bench.store.registry(RUNNING, "", 10).unwrap().is_empty(), "and done");
}

fn children_of_a_pipeline_that_says_nothing_stay(bench: Open<'_>) {
    let mut bench = bench(&[PARENT, CHILD]);
    let (parent, made, _) = brood(&mut bench);
    bench.machine.act(parent, "delete").unwrap();
    serve(&mut bench, &mut Operations);
    let stays = |(name, id): &(String, SubmissionId)| {
        let expected = if name.starts_with("good") {
            "GOOD"
        } else if name.starts_with("bad") {
            "BAD"
        } else {
            "WORK"
        };
        bench.state(*id) == expected
    };
    assert!(made.iter().all(stays));
    assert!(store::registry_all(&*bench.store, OPERATIONS).unwrap().is_empty(), "nobody is asked");
}
