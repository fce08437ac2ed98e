//! Migrations: a submission follows another version of its pipeline from where it stands.

use crate::support;

use model::command::Migrate;
use model::submission::{Cause, Status, Wait};
use model::{Caller, Code, Command, Pipeline, Role, Time};
use support::{Story, fail, migrate, pipeline};

const FIRST: &str = r#"
name = "work"
version = 1
key = "payload.id"
labels = { owner = "payload.owner" }
start = [{ to = "REVIEW", when = "has(payload.review)" }, { to = "PAUSE", when = "has(payload.pause)" }, { to = "SORT", when = "has(payload.sort)" }, "DOING"]
ttl = { after = "30d", to = "LOST" }

[defaults]
lease = "30s"
retry = { times = 3, delay = "10s" }

[states.DOING]
task = "work.do"
sla = { target = "1h" }
ttl = { after = "1d", to = "LOST" }
on.done = "DONE"

[states.REVIEW]
review = "admin"
actions.accept = "DONE"
actions.publish = { to = "DONE", task = "work.publish" }
actions.vote = { to = "DONE", approvals = 2 }

[states.PAUSE]
wait = "2h"
next = "DONE"

[states.SORT]
next = { to = "DONE", when = "has(payload.ready)" }
actions.go = "DONE"

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#;

fn first() -> Pipeline {
    pipeline(FIRST)
}

/// The second version: the first with some things replaced.
fn second(changes: &[(&str, &str)]) -> Pipeline {
    let mut toml = FIRST.replace("version = 1", "version = 2");
    for (from, to) in changes {
        assert!(toml.contains(from), "{from}");
        toml = toml.replace(from, to);
    }
    pipeline(&toml)
}

fn story(more: &str) -> Story {
    Story::submitted(first(), &format!(r#"{{"id":"a","owner":"ada"{more}}}"#))
}

#[track_caller]
fn refused(story: &mut Story, command: &Command, code: Code) -> String {
    let before = story.row().clone();
    let refusal = story.clone().decide(command).unwrap_err();
    assert_eq!((refusal.code, story.row()), (code, &before), "{}", refusal.message);
    refusal.message
}

#[test]
fn it_goes_on_under_the_other_version_and_its_history_says_so() {
    let mut story = story("");
    let target = second(&[("on.done = \"DONE\"", "on.done = \"REVIEW\"")]);
    let Command::Migrate(asked) = migrate(&target, &[]) else { unreachable!() };
    story.tell(&Command::Migrate(Migrate { reason: Some("new rules".into()), ..asked })).unwrap();
    assert_eq!((story.row().version, story.state(), story.row().revision), (2, "DOING", 2));
    let event = story.events.last().unwrap();
    assert_eq!((event.leaf.kind.as_str(), &*event.leaf.trigger), ("migrated", "migrate"));
    assert_eq!((event.leaf.definition, event.leaf.actor.kind.as_str()), (target.digest, "admin"));
    assert_eq!(
        event.detail.metadata.as_ref().unwrap().as_str(),
        r#"{"from_version":1,"reason":"new rules","to_version":2}"#
    );
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.state(), "REVIEW");
}

#[test]
fn a_queued_one_keeps_its_place_and_its_tries() {
    let mut story = story("");
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    let delayed = story.row().wait.clone();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    assert_eq!((&story.row().wait, story.row().attempt), (&delayed, 2));
    story.pass("10s");
    story.wake();
    let queued = story.row().wait.clone();
    story.pass("1m");
    story.tell(&migrate(&first(), &[])).unwrap();
    assert_eq!((&story.row().wait, story.row().attempt), (&queued, 2));
    assert_eq!(story.row().failures.values().sum::<u32>(), 1);
}

#[test]
fn a_worker_keeps_its_lease_for_the_same_task() {
    let renamed = [("[states.DOING]", "[states.WORKING]"), ("\"DOING\"]", "\"WORKING\"]")];
    for (changes, map) in [(&[][..], &[][..]), (&renamed[..], &[("DOING", "WORKING")][..])] {
        let mut story = story("");
        let token = story.claim_any();
        story.tell(&migrate(&second(changes), map)).unwrap();
        assert_eq!(story.row().lease_no, token.lease_no);
        story.renew(token).unwrap();
        story.finish(token, "done", "{}").unwrap();
        assert_eq!(story.state(), "DONE");
    }
}

#[test]
fn a_worker_that_has_another_task_is_in_the_way() {
    let mut story = story("");
    story.claim_any();
    let target = second(&[("task = \"work.do\"", "task = \"work.make\"")]);
    let message = refused(&mut story, &migrate(&target, &[]), Code::NotMigratable);
    assert_eq!(message, "a worker has its task `work.do`, which `DOING` does not run");
    refused(&mut story, &migrate(&second(&[]), &[("DOING", "REVIEW")]), Code::NotMigratable);
    story.pass("30s");
    story.wake();
    story.tell(&migrate(&target, &[])).unwrap();
    story.claim("work.make").unwrap();
}

#[test]
fn another_task_begins_at_the_end_of_its_queue_with_all_its_tries() {
    let mut story = story("");
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    story.pass("5s");
    let target = second(&[("task = \"work.do\"", "task = \"work.make\"")]);
    story.tell(&migrate(&target, &[])).unwrap();
    let rank = model::pipeline::Ageing::default().rank(story.now, 0);
    assert_eq!(story.row().wait, Wait::Worker { task: "work.make".into(), rank });
    assert_eq!((story.row().attempt, story.row().failures.len()), (1, 0));
}

#[test]
fn what_cannot_be_migrated_is_refused_with_the_reason() {
    let gone = second(&[("[states.DOING]", "[states.WORKING]"), ("\"DOING\"]", "\"WORKING\"]")]);
    let message = refused(&mut story(""), &migrate(&gone, &[]), Code::NotMigratable);
    assert_eq!(message, "version 2 has no state `DOING`; map `DOING` to one it has");
    refused(&mut story(""), &migrate(&gone, &[("DOING", "NOWHERE")]), Code::NotMigratable);
    refused(&mut story(""), &migrate(&second(&[]), &[("DOING", "DONE")]), Code::NotMigratable);
    refused(&mut story(""), &migrate(&first(), &[]), Code::NotMigratable);
    let other =
        pipeline(&FIRST.replace("name = \"work\"", "name = \"toil\"").replace("version = 1", "version = 2"));
    refused(&mut story(""), &migrate(&other, &[]), Code::NotMigratable);
    let rekeyed = second(&[("key = \"payload.id\"", "key = \"payload.owner\"")]);
    refused(&mut story(""), &migrate(&rekeyed, &[]), Code::NotMigratable);
    let laned = second(&[("start = ", "lane = { key = \"payload.owner\" }\nstart = ")]);
    refused(&mut story(""), &migrate(&laned, &[]), Code::NotMigratable);
}

#[test]
fn an_ended_one_stays_with_its_version() {
    let mut story = story("");
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    refused(&mut story, &migrate(&second(&[]), &[("DONE", "REVIEW")]), Code::NotMigratable);
}

#[test]
fn an_action_under_way_is_in_the_way() {
    let mut story = story(r#","review":true"#);
    story.act("publish").unwrap();
    refused(&mut story, &migrate(&second(&[]), &[]), Code::NotMigratable);
    let token = story.claim_any();
    refused(&mut story, &migrate(&second(&[]), &[]), Code::NotMigratable);
    story.tell(&fail(token, "gone", false)).unwrap();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    assert_eq!(story.row().wait, Wait::Person);
}

#[test]
fn only_an_admin_migrates() {
    let mut story = story("");
    let Command::Migrate(asked) = migrate(&second(&[]), &[]) else { unreachable!() };
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Admin) {
        let caller = Caller::new("someone", role);
        refused(&mut story, &Command::Migrate(Migrate { caller, ..asked.clone() }), Code::RoleRequired);
    }
}

#[test]
fn a_payload_the_other_version_would_not_take_stays_out_of_it() {
    let schema = |properties: &str| {
        let toml = FIRST.replace("version = 1", "version = 2\npayload = \"p.json\"");
        let mut source = model::pipeline::Source::new("w.toml", toml);
        source.files.insert("p.json".to_owned(), format!(r#"{{"type":"object","required":[{properties}]}}"#));
        model::pipeline::load(&source).unwrap()
    };
    refused(&mut story(""), &migrate(&schema(r#""id","weight""#), &[]), Code::SchemaViolation);
    story("").tell(&migrate(&schema(r#""id""#), &[])).unwrap();
}

#[test]
fn an_expression_that_cannot_be_evaluated_refuses_it() {
    let labels = second(&[("payload.owner\" }", "payload.weight\" }")]);
    refused(&mut story(""), &migrate(&labels, &[]), Code::GuardError);
    let priority = second(&[("start = ", "priority = \"payload.weight\"\nstart = ")]);
    refused(&mut story(""), &migrate(&priority, &[]), Code::GuardError);
}

#[test]
fn labels_and_priority_are_derived_again() {
    let mut story = story("");
    let target = second(&[
        ("{ owner = \"payload.owner\" }", "{ id = \"payload.id\", owner = \"payload.owner + '!'\" }"),
        ("start = ", "priority = 5\nstart = "),
    ]);
    story.tell(&migrate(&target, &[])).unwrap();
    let labels: Vec<_> = story.row().labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!((labels, story.row().priority), (vec!["id=a".to_owned(), "owner=ada!".to_owned()], 5));
    assert_eq!(story.row().key.as_deref(), Some("a"));
}

#[test]
fn a_wait_is_counted_again_from_when_it_was_entered() {
    let mut story = story(r#","pause":true"#);
    let entered = story.now;
    story.pass("1h");
    story.tell(&migrate(&second(&[("wait = \"2h\"", "wait = \"3h\"")]), &[])).unwrap();
    assert_eq!(story.row().wait, Wait::Clock { until: entered.plus("3h".parse().unwrap()) });
    assert_eq!((story.row().entered_at, story.row().created_at), (entered, entered));
    story.tell(&migrate(&first(), &[])).unwrap();
    assert_eq!(story.row().wait, Wait::Clock { until: entered.plus("2h".parse().unwrap()) });
    story.tell(&migrate(&second(&[("wait = \"2h\"", "wait = \"10m\"")]), &[])).unwrap();
    story.wake();
    assert_eq!(story.state(), "DONE", "a wait that is over under the new version is over");
}

#[test]
fn times_to_live_are_counted_again() {
    let mut story = story("");
    let entered = story.now;
    story.pass("1h");
    let target = second(&[("after = \"1d\"", "after = \"2d\""), ("after = \"30d\"", "after = \"10d\"")]);
    story.tell(&migrate(&target, &[])).unwrap();
    let after = |span: &str| Some(entered.plus(span.parse().unwrap()));
    assert_eq!((story.row().state_ttl_at, story.row().ttl_at), (after("2d"), after("10d")));
    assert_eq!(story.row().timer, after("1h"), "the service level is missed first");
    let none = pipeline(
        &FIRST
            .replace("version = 1", "version = 3")
            .replace("ttl = { after = \"1d\", to = \"LOST\" }\n", "on.lost = \"LOST\"\n")
            .replace("ttl = { after = \"30d\", to = \"LOST\" }\n", ""),
    );
    story.tell(&migrate(&none, &[])).unwrap();
    assert_eq!((story.row().state_ttl_at, story.row().ttl_at), (None, None));
}

#[test]
fn a_time_to_live_that_ran_out_does_not_run_again() {
    // Its edge could not be walked, and it died of that.
    let broken =
        |ttl: &str| FIRST.replace(ttl, &ttl.replace("to =", "metadata = { why = \"payload.why\" }, to ="));
    for ttl in ["ttl = { after = \"1d\", to = \"LOST\" }", "ttl = { after = \"30d\", to = \"LOST\" }"] {
        let mut story = Story::submitted(pipeline(&broken(ttl)), r#"{"id":"a","owner":"ada"}"#);
        story.row.as_mut().unwrap().clocks.clear();
        story.now = story.row().expires_at().unwrap();
        if ttl.contains("30d") {
            story.row.as_mut().unwrap().state_ttl_at = None;
            story.pass("30d");
        }
        story.wake();
        assert_eq!(story.row().status, Status::Dead, "{ttl}");
        story.tell(&migrate(&second(&[]), &[])).unwrap();
        (0..3).for_each(|_| story.wake());
        assert_eq!((story.state(), story.row().status), ("DOING", Status::Dead), "{ttl}");
    }
}

#[test]
fn a_dead_letter_stays_dead_and_is_redriven_under_the_new_rules() {
    let mut story = story("");
    let token = story.claim_any();
    story.tell(&fail(token, "broken", false)).unwrap();
    let renamed = second(&[("[states.DOING]", "[states.WORKING]"), ("\"DOING\"]", "\"WORKING\"]")]);
    story.tell(&migrate(&renamed, &[("DOING", "WORKING")])).unwrap();
    let row = story.row();
    assert_eq!((&*row.state, row.status, &row.wait), ("WORKING", Status::Dead, &Wait::Redrive));
    assert_eq!(&*row.error.as_ref().unwrap().code, "broken");
    story.redrive();
    story.claim("work.do").unwrap();
}

#[test]
fn a_kept_outcome_follows_the_edges_of_the_new_version() {
    let broken = FIRST
        .replace("on.done = \"DONE\"", "on.done = [{ to = \"LOST\", when = \"payload.n > 1\" }, \"DONE\"]");
    let mut story = Story::submitted(pipeline(&broken), r#"{"id":"a","owner":"ada"}"#);
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.row().status, Status::Dead);
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    assert_eq!(story.row().status, Status::Dead);
    story.redrive();
    assert_eq!(story.state(), "DONE", "its output is not asked for twice");
}

#[test]
fn a_pass_state_walks_on_under_the_new_guards() {
    let mut story = story(r#","sort":true"#);
    assert_eq!(story.row().wait, Wait::Guard);
    story.tell(&migrate(&second(&[("has(payload.ready)", "has(payload.sort)")]), &[])).unwrap();
    assert_eq!((story.state(), story.row().status), ("DONE", Status::Succeeded));
    assert_eq!(story.told()[1..], ["migrated migrate admin".to_owned(), "moved next system".to_owned()]);
}

#[test]
fn a_pass_state_whose_new_guard_cannot_be_evaluated_refuses_the_migration() {
    let mut story = story(r#","sort":true"#);
    let target = second(&[("has(payload.ready)", "payload.ready")]);
    refused(&mut story, &migrate(&target, &[]), Code::GuardError);
}

#[test]
fn it_may_be_mapped_to_a_state_of_another_kind() {
    let mut story = story("");
    story.pass("1h");
    story.tell(&migrate(&second(&[]), &[("DOING", "REVIEW")])).unwrap();
    assert_eq!((story.state(), &story.row().wait), ("REVIEW", &Wait::Person));
    let leaf = &story.events.last().unwrap().leaf;
    assert_eq!((leaf.from.as_deref(), &*leaf.to), (Some("DOING"), "REVIEW"));
    story.act("accept").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn what_was_agreed_to_under_the_old_rules_is_asked_again() {
    let mut story = story(r#","review":true"#);
    story.act_by("bob", "vote").unwrap();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    assert!(story.row().approvals.is_empty());
    story.act_by("cleo", "vote").unwrap();
    assert_eq!(story.state(), "REVIEW");
}

#[test]
fn clocks_are_those_of_the_new_version_counted_from_entry() {
    let mut story = story("");
    let entered = story.now;
    story.pass("10m");
    let target = second(&[
        ("sla = { target = \"1h\" }", "sla = { target = \"2h\" }"),
        (
            "[defaults]",
            "[sla.tail]\nfrom = \"DOING\"\nto = \"DONE\"\ntarget = \"3h\"\n[sla.whole]\nto = \"DONE\"\ntarget = \"4h\"\n[defaults]",
        ),
    ]);
    story.tell(&migrate(&target, &[])).unwrap();
    let due: Vec<_> = story.row().clocks.iter().map(|clock| (clock.leg.as_deref(), clock.due_at)).collect();
    let after = |span: &str| entered.plus(span.parse().unwrap());
    assert_eq!(
        due,
        [(None, after("2h")), (Some("tail"), after("3h"))],
        "the whole way cannot be measured any more"
    );
}

#[test]
fn what_was_noted_as_late_is_not_noted_again() {
    let mut story = story("");
    story.pass("2h");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "late sla system");
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    story.wake();
    assert_eq!(story.told().last().unwrap(), "migrated migrate admin");
    let longer = [("sla = { target = \"1h\" }", "sla = { target = \"3h\" }"), ("version = 2", "version = 3")];
    story.tell(&migrate(&second(&longer), &[])).unwrap();
    story.pass("1h");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "late sla system", "another level, missed later");
}

#[test]
fn a_running_leg_runs_on() {
    let leg = "[sla.whole]\nto = \"DONE\"\ntarget = \"4h\"\n[defaults]";
    let mut story =
        Story::submitted(pipeline(&FIRST.replace("[defaults]", leg)), r#"{"id":"a","owner":"ada"}"#);
    let clocks = story.row().clocks.clone();
    story.pass("10m");
    story.tell(&migrate(&second(&[("[defaults]", leg)]), &[])).unwrap();
    assert_eq!(story.row().clocks, clocks);
}

#[test]
fn one_that_may_not_start_yet_does_not_start_by_migrating() {
    let payload = r#"{"id":"a","owner":"ada"}"#;
    let longer = [("after = \"1d\"", "after = \"2h\""), ("target = \"1h\"", "target = \"2h\"")];
    for (map, wait) in [(&[][..], "worker"), (&[("DOING", "REVIEW")][..], "person")] {
        let mut story = Story::submitted_for(first(), payload, "3h");
        let until = story.now.plus("3h".parse().unwrap());
        story.tell(&migrate(&second(&longer), map)).unwrap();
        assert_eq!(story.row().wait, Wait::Delay { until, cause: Cause::NotBefore }, "{map:?}");
        story.pass("3h");
        story.wake();
        assert_eq!((story.row().wait.as_str(), story.row().status), (wait, Status::Open), "{map:?}");
        assert!(!story.told().contains(&"late sla system".to_owned()), "its clocks have just begun");
    }
}

#[test]
fn one_out_of_its_queue_for_a_hold_stands_in_its_queues_again() {
    let mut story = story("");
    story.hold = Some("h1".into());
    story.ask();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    assert_eq!(story.row().parked, None, "the next claim looks whether it is still held");
    story.ask();
    assert_eq!(story.row().parked.as_deref(), Some("h1"));
}

#[test]
fn the_token_of_a_lease_is_not_written_down() {
    let mut story = story("");
    let token = story.claim_any();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    let (_, detail) = story.events.last().unwrap().to_stored();
    let bits = serde_json::to_string(&token.bits).unwrap();
    assert!(!String::from_utf8(detail).unwrap().contains(&bits));
}

#[test]
fn events_replay_to_the_row_across_versions() {
    let mut story = story("");
    let token = story.claim_any();
    story.tell(&migrate(&second(&[]), &[])).unwrap();
    story.finish(token, "done", "{}").unwrap();
    let again = support::replay(&story.events).unwrap();
    assert_eq!(support::comparable(&again), support::comparable(story.row()));
    assert_eq!(again.created_at, Time::from_millis(1_000_000_000_000));
}
