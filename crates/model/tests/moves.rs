//! Guards, waits, times to live, actions: how a submission gets from state to state.

use crate::support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::admit::{Application, admit};
use model::schema::Fuel;
use model::submission::{Status, Wait};
use model::token::Bits;
use model::{Caller, Code, Command, Digest, Json, Role, Time};
use support::{Story, act, json, pipeline};

fn route(extra: &str) -> model::Pipeline {
    pipeline(&format!(
        r#"
name = "route"
version = 1
title = "Route"
{extra}
[states.DONE]
final = "success"

[states.LOST]
final = "failure"
"#
    ))
}

#[test]
fn the_first_edge_whose_guard_holds_is_taken() {
    let machine = || {
        route(
            r#"start = "SORT"
[states.SORT]
next = [{ to = "LOST", when = "payload.n > 10" }, { to = "LOST", when = "payload.n < 0" }, "DONE"]
"#,
        )
    };
    for (n, end) in [(11, "LOST"), (10, "DONE"), (0, "DONE"), (-1, "LOST")] {
        let story = Story::submitted(machine(), &format!(r#"{{"n":{n}}}"#));
        assert_eq!(story.state(), end, "n = {n}");
    }
}

#[test]
fn a_payload_that_nothing_asks_about_is_not_read() {
    let admitted = |start: &str| {
        let sort = "[states.SORT]\ntask = \"t.sort\"\non.done = \"DONE\"\non.lost = \"LOST\"";
        let machine = route(&format!("start = {start}\n{sort}"));
        // Reading this would panic.
        let payload = Json::from_stored("{");
        let application = Application { payload, ..Story::application(support::admin(), "{}") };
        catch_unwind(AssertUnwindSafe(|| admit(&machine, application, &mut Fuel::whole()).is_ok()))
    };
    assert!(admitted(r#""SORT""#).unwrap());
    assert!(admitted(r#"[{ to = "SORT", when = "payload.n > 1" }, "SORT"]"#).is_err(), "here something asks");
}

#[test]
fn a_payload_is_in_the_log_alike_wherever_it_was_digested() {
    let sort =
        "start = \"SORT\"\n[states.SORT]\nnext = [{ to = \"LOST\", when = \"payload.n > 10\" }, \"DONE\"]";
    let machine = route(sort);
    let mut salts = Vec::new();
    for at_the_door in [None, Some(Bits([7; 16]))] {
        let admission =
            admit(&machine, Story::application(support::admin(), "{\"n\":1}"), &mut Fuel::whole()).unwrap();
        let admission = at_the_door.map_or(admission.clone(), |salt| admission.sealed(salt));
        let mut story = Story::of(machine.clone());
        story.tell(&Command::Submit(admission.into())).unwrap();
        let event = &story.events[0];
        let salt = event.detail.salts.payload.unwrap();
        assert_eq!(event.leaf.payload, Some(Digest::of_parts(&[&salt.0, b"{\"n\":1}"])));
        salts.push(salt.0);
    }
    assert_eq!(salts[1], [7; 16]);
    assert_ne!(salts[0], salts[1], "one that was not digested at the door has a salt of its own");
}

#[test]
fn a_guard_over_a_missing_field_refuses_the_submission() {
    let machine = route(
        r#"start = "SORT"
[states.SORT]
next = [{ to = "LOST", when = "payload.n > 10" }, "DONE"]
"#,
    );
    let mut story = Story::of(machine);
    let refusal = story.submit(support::admin(), r#"{"m":1}"#).unwrap_err();
    assert_eq!(refusal.code, Code::GuardError);
    assert!(refusal.message.contains("payload.n"), "{}", refusal.message);
    assert!(story.row.is_none());
}

const WORK: &str = r#"start = "WORK"
[states.WORK]
task = "work.do"
lease = "30s"
on.done = [{ to = "LOST", when = "output.score < 50" }, "SORT"]
[states.SORT]
next = [{ to = "LOST", when = "outputs.WORK.kind == 'bad'" }, "DONE"]
"#;

#[test]
fn a_guard_error_on_a_settlement_keeps_the_outcome_and_makes_a_dead_letter() {
    let machine = route(&WORK.replace("output.score < 50", "payload.least > output.score"));
    let mut story = Story::submitted(machine.clone(), "{}");
    let token = story.claim_any();
    story.finish(token, "done", r#"{"kind":"good"}"#).unwrap();
    assert_eq!(
        story.row().error.as_ref().map(|error| &*error.code),
        Some("bad-output"),
        "it reads the answer"
    );
    let machine = route(&WORK.replace("output.score < 50", "payload.least > 5"));
    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    story.finish(token, "done", r#"{"kind":"good"}"#).unwrap();
    let row = story.row();
    assert_eq!((row.status, &*row.state), (Status::Dead, "WORK"));
    assert_eq!(&*row.error.as_ref().unwrap().code, "guard-error");
    assert_eq!(&*row.kept.as_ref().unwrap().outcome, "done");
    assert_eq!(story.documents.outputs["WORK"].as_str(), r#"{"kind":"good"}"#);
}

#[test]
fn a_pass_state_sees_what_the_task_before_it_answered() {
    for (kind, end) in [("good", "DONE"), ("bad", "LOST")] {
        let mut story = Story::submitted(route(WORK), "{}");
        let token = story.claim_any();
        story.finish(token, "done", &format!(r#"{{"score":80,"kind":"{kind}"}}"#)).unwrap();
        assert_eq!(story.state(), end);
    }
}

#[test]
fn a_guard_error_after_a_move_dies_in_the_state_it_moved_to() {
    let mut story = Story::submitted(route(WORK), "{}");
    let token = story.claim_any();
    story.finish(token, "done", r#"{"score":80}"#).unwrap();
    assert_eq!((story.row().status, story.state()), (Status::Dead, "SORT"));
    assert_eq!(story.row().kept, None);
}

#[test]
fn waits_end_by_duration_by_time_and_by_expression() {
    let cases = [
        (r#""90s""#, "{}", 90_000),
        (r#""2001-09-09T01:47:00Z""#, "{}", 20_000),
        (r#""payload.until""#, r#"{"until":"2001-09-09T01:47:00Z"}"#, 20_000),
        (r#""payload.span""#, r#"{"span":"1h"}"#, 3_600_000),
        (r#""payload.fast ? duration('0s') : duration('1d')""#, r#"{"fast":true}"#, 0),
    ];
    for (wait, payload, ms) in cases {
        let machine = route(&format!(
            "start = \"PAUSE\"\n[states.PAUSE]\nwait = {wait}\nnext = \"DONE\"\nactions.lose = \"LOST\"\n"
        ));
        let mut story = Story::submitted(machine, payload);
        let end = story.now.millis() + ms;
        assert_eq!(story.row().wait, Wait::Clock { until: Time::from_millis(end) }, "{wait}");
        if ms > 0 {
            story.now = Time::from_millis(end - 1);
            story.wake();
            assert_eq!(story.state(), "PAUSE", "{wait}");
        }
        story.now = Time::from_millis(end);
        story.wake();
        assert_eq!(story.state(), "DONE", "{wait}");
    }
}

const MORTAL: &str = r#"start = "WORK"
ttl = { after = "1h", to = "LOST" }
[states.WORK]
task = "work.do"
lease = "30s"
on.done = "REST"
[states.REST]
actions.finish = "DONE"
ttl = { after = "payload.rest", to = "DONE", trigger = "rested" }
"#;

#[test]
fn a_time_to_live_waits_for_a_live_lease_but_refuses_renewals() {
    let mut story = Story::submitted(route(MORTAL), r#"{"rest":"5m"}"#);
    story.pass("59m");
    let token = story.claim_any();
    for _ in 0..2 {
        story.pass("25s");
        story.renew(token).unwrap();
    }
    story.pass("15s");
    assert_eq!(story.renew(token).unwrap_err().code, Code::Expired, "an hour and five seconds old");
    story.wake();
    assert_eq!(story.state(), "WORK", "the lease is in force for another fifteen");
    story.pass("15s");
    story.wake();
    story.wake();
    assert_eq!(story.state(), "LOST");
    assert_eq!(story.told().last().unwrap(), "moved ttl system");
}

#[test]
fn an_expired_submission_is_not_leased_again() {
    let mut story = Story::submitted(route(MORTAL), r#"{"rest":"5m"}"#);
    story.pass("1h");
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
    story.wake();
    assert_eq!(story.state(), "LOST");
}

#[test]
fn a_states_own_time_to_live_counts_from_entry() {
    let mut story = Story::submitted(route(MORTAL), r#"{"rest":"5m"}"#);
    story.pass("10m");
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    story.pass("4m");
    story.wake();
    assert_eq!(story.state(), "REST");
    story.pass("1m");
    story.wake();
    assert_eq!((story.state(), story.told().last().unwrap().as_str()), ("DONE", "moved rested system"));
}

#[test]
fn a_submission_not_before_a_time_stands_at_the_door_until_then() {
    let mut story = Story::of(route(WORK));
    let mut application = Story::application(support::admin(), "{}");
    application.not_before = Some(story.now.plus(model::Millis::from_secs(60)));
    let admission = model::admit::admit(&story.pipeline, application, &mut Fuel::whole()).unwrap();
    story.tell(&Command::Submit(admission.into())).unwrap();
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
    story.pass("60s");
    story.wake();
    story.claim("work.do").unwrap();
}

const PEOPLE: &str = r#"start = "REVIEW"
[states.REVIEW]
review = "reviewer"
actions.approve = [
  { to = "DONE", when = "data.sure", data = "sure.json" },
]
actions.reject = { to = "LOST", reason = true }
actions.purge = { to = "LOST", role = "admin" }
"#;

fn people() -> model::Pipeline {
    let toml = format!(
        "name = \"people\"\nversion = 1\ntitle = \"People\"\n{PEOPLE}\n[states.DONE]\nfinal = \"success\"\n[states.LOST]\nfinal = \"failure\"\n"
    );
    let mut source = model::pipeline::Source::new("people.toml", toml);
    let schema = r#"{"type":"object","required":["sure"],"properties":{"sure":{"type":"boolean"}}}"#;
    source.files.insert("sure.json".to_owned(), schema.to_owned());
    model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

#[test]
fn an_action_needs_its_role_its_reason_and_its_guard() {
    let mut story = Story::submitted(people(), "{}");
    let by = |name: &str, role, reason: Option<&str>| {
        let mut act = act(name);
        act.caller = Caller::new("someone", role);
        act.reason = reason.map(str::to_owned);
        Command::Act(act)
    };
    let code = |story: &mut Story, command: &Command| story.tell(command).unwrap_err().code;
    assert_eq!(code(&mut story, &by("reject", Role::Submitter, Some("no"))), Code::RoleRequired);
    assert_eq!(code(&mut story, &by("reject", Role::Reviewer, None)), Code::ReasonRequired);
    assert_eq!(code(&mut story, &by("reject", Role::Reviewer, Some("  "))), Code::ReasonRequired);
    assert_eq!(code(&mut story, &by("purge", Role::Reviewer, None)), Code::RoleRequired);
    let mut unsure = act("approve");
    unsure.data = Some(json(r#"{"sure":false}"#));
    assert_eq!(code(&mut story, &Command::Act(unsure)), Code::GuardNotMet);
    assert_eq!(story.row().revision, 1, "nothing was changed");
    story.tell(&by("reject", Role::Reviewer, Some("no"))).unwrap();
    let last = story.events.last().unwrap();
    assert_eq!(last.detail.metadata.as_ref().unwrap().as_str(), r#"{"reason":"no"}"#);
    assert_eq!(last.leaf.actor.kind.as_str(), "reviewer");
}

#[test]
fn an_action_may_insist_on_the_revision_it_saw() {
    let mut story = Story::submitted(people(), "{}");
    let mut late = act("purge");
    late.if_match = Some(7);
    let refusal = story.tell(&Command::Act(late.clone())).unwrap_err();
    assert_eq!((refusal.code, &refusal.details["revision"]), (Code::RevisionMismatch, &serde_json::json!(1)));
    late.if_match = Some(1);
    story.tell(&Command::Act(late)).unwrap();
}

#[test]
fn an_action_ends_a_lease() {
    let machine = route(
        r#"start = "WORK"
[states.WORK]
task = "work.do"
lease = "30s"
on.done = "DONE"
actions.cancel = "LOST"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    story.act("cancel").unwrap();
    assert_eq!(story.state(), "LOST");
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
}

#[test]
fn the_way_in_checks_role_and_reason_after_its_guard_chose_it() {
    let machine = || {
        route(
            r#"start = [{ to = "DONE", when = "payload.kind == 'open'" }, { to = "LOST", when = "payload.kind == 'closed'", role = "admin", reason = true }]
"#,
        )
    };
    let anyone = || Caller::new("bob", Role::Submitter);
    let mut story = Story::of(machine());
    assert_eq!(story.submit(anyone(), r#"{"kind":"closed"}"#).unwrap_err().code, Code::RoleRequired);
    assert_eq!(
        story.submit(support::admin(), r#"{"kind":"closed"}"#).unwrap_err().code,
        Code::ReasonRequired
    );
    assert_eq!(story.submit(anyone(), r#"{"kind":"other"}"#).unwrap_err().code, Code::NotAdmitted);
    story.submit(anyone(), r#"{"kind":"open"}"#).unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn last_good_is_set_by_success_and_not_where_checkpoint_is_off() {
    let machine = route(
        r#"start = "A"
[defaults]
lease = "30s"
on.error = "LOST"
[states.A]
task = "t.a"
on.ok = "B"
[states.B]
task = "t.b"
checkpoint = false
on.ok = "C"
[states.C]
task = "t.c"
on.ok = "DONE"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    for _ in 0..2 {
        let token = story.claim_any();
        story.finish(token, "ok", "{}").unwrap();
    }
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    let row = story.row();
    assert_eq!((row.failed_from.as_deref(), row.last_good.as_deref()), (Some("C"), Some("A")));
}

fn keyed(key: &str) -> model::Pipeline {
    let start = r#"start = [{ to = "LOST", when = "has(payload.lost)" }, "DONE"]"#;
    route(&format!("key = \"{key}\"\n{start}\n"))
}

#[test]
fn a_key_is_derived_and_a_given_one_must_agree() {
    let machine = keyed("payload.id");
    let admit = |key: Option<&str>, payload: &str| {
        let mut application = Story::application(support::admin(), payload);
        application.key = key.map(str::to_owned);
        model::admit::admit(&machine, application, &mut Fuel::whole())
    };
    assert_eq!(&**admit(None, r#"{"id":"a"}"#).unwrap().key().unwrap(), "a");
    assert_eq!(&**admit(Some("a"), r#"{"id":"a"}"#).unwrap().key().unwrap(), "a");
    assert_eq!(admit(Some("b"), r#"{"id":"a"}"#).unwrap_err().code, Code::KeyMismatch);
    assert_eq!(admit(None, r#"{"id":""}"#).unwrap_err().code, Code::InvalidRequest);
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(600));
    assert_eq!(admit(None, &long).unwrap_err().code, Code::TooLarge);
}

#[test]
fn neighbours_of_two_to_the_53_have_different_keys() {
    let machine = keyed("string(payload.id)");
    let key = |id: &str| {
        let application = Story::application(support::admin(), &format!(r#"{{"id":{id}}}"#));
        model::admit::admit(&machine, application, &mut Fuel::whole()).unwrap().key().unwrap().to_string()
    };
    assert_eq!(key("9007199254740992"), "9007199254740992");
    assert_eq!(key("9007199254740993"), "9007199254740993");
}

#[test]
fn a_time_to_live_fires_once_wherever_it_leads() {
    let machine = |extra: &str| {
        route(&format!(
            "start = \"WORK\"\nttl = {{ after = \"1h\", to = \"LATE\"{extra} }}\n[states.WORK]\ntask = \"work.do\"\non.done = \"DONE\"\n[states.LATE]\nreview = \"admin\"\nactions.finish = \"DONE\"\nactions.lose = \"LOST\"\n"
        ))
    };
    let mut story = Story::submitted(machine(""), "{}");
    story.pass("1h");
    (0..5).for_each(|_| story.wake());
    assert_eq!((story.state(), story.row().revision, story.row().timer), ("LATE", 2, None));

    let mut story = Story::submitted(machine(", metadata = { why = \"payload.why\" }"), "{}");
    story.pass("1h");
    (0..5).for_each(|_| story.wake());
    assert_eq!((story.row().status, story.row().revision, story.row().timer), (Status::Dead, 2, None));
}

#[test]
fn a_time_to_live_of_a_state_does_not_run_before_the_submission_may_start() {
    let machine = route(
        "start = \"WORK\"\n[states.WORK]\ntask = \"work.do\"\non.done = \"DONE\"\nttl = { after = \"1h\", to = \"LOST\" }\n",
    );
    let mut story = Story::of(machine);
    let mut application = Story::application(support::admin(), "{}");
    application.not_before = Some(story.now.plus(model::Millis::from_secs(7_200)));
    let admission = model::admit::admit(&story.pipeline, application, &mut Fuel::whole()).unwrap();
    story.tell(&Command::Submit(admission.into())).unwrap();
    story.pass("2h");
    story.wake();
    story.claim("work.do").unwrap();
}

#[test]
fn a_pass_state_hands_an_error_on() {
    let machine = route(
        "start = \"WORK\"\n[states.WORK]\ntask = \"work.do\"\non.done = \"DONE\"\non.error = \"TRIAGE\"\n[states.TRIAGE]\nnext = \"LOST\"\n",
    );
    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    let row = story.row();
    assert_eq!((&*row.state, row.failed_from.as_deref()), ("LOST", Some("WORK")));
    assert_eq!(&*row.error.as_ref().unwrap().code, "broken");
}

#[test]
fn a_granted_action_that_fails_leaves_an_ended_submission_ended() {
    let machine = route(
        "start = \"WORK\"\n[states.WORK]\ntask = \"work.do\"\non.done = \"OVER\"\n[states.OVER]\nfinal = \"success\"\nactions.undo = { to = \"LOST\", task = \"work.undo\" }\nactions.close = \"DONE\"\n",
    );
    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    story.act("undo").unwrap();
    let revision = story.row().revision;
    story.act("undo").unwrap();
    assert_eq!(story.row().revision, revision, "asking twice starts its task once");
    let token = story.claim("work.undo").unwrap();
    story.tell(&support::fail(token, "gone", false)).unwrap();
    let row = story.row();
    assert_eq!((&*row.state, row.status, row.finished_at.is_some()), ("OVER", Status::Succeeded, true));
}

#[test]
fn a_priority_beyond_its_bounds_is_refused() {
    let machine = keyed("payload.id");
    for priority in [i64::MIN, i64::MAX, 1_000_001] {
        let mut application = Story::application(support::admin(), r#"{"id":"a"}"#);
        application.priority = Some(priority);
        assert_eq!(
            model::admit::admit(&machine, application, &mut Fuel::whole()).unwrap_err().code,
            Code::InvalidRequest
        );
    }
}
