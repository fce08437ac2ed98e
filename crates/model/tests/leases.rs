//! Leases, fences, retries and what time does to them.

use crate::support;

use model::admit::{Application, Door, admit_any};
use model::command::{Command, Fail, Renew};
use model::decide::{Answer, CRASHES_MAX};
use model::schema::Fuel;
use model::submission::{Progress, Status, Wait};
use model::{Code, Time};
use support::{Story, fail, finish, pipeline};

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
start = "DOING"

[states.DOING]
task = "work.do"
lease = "30s"
timeout = "5m"
retry = { times = 2, delay = "10s", backoff = "exponential", max = "15s", on.flaky = { times = 1, delay = "1s" } }
on.done = "DONE"
on.error = [{ to = "REFUSED", when = "error.code == 'refused'" }, {}]

[states.DONE]
final = "success"

[states.REFUSED]
final = "failure"
"#;

fn story() -> Story {
    Story::submitted(pipeline(WORK), "{}")
}

#[test]
fn a_stale_lease_cannot_finish() {
    let mut story = story();
    let first = story.claim_any();
    story.pass("31s");
    story.wake();
    let second = story.claim_any();
    let refusal = story.finish(first, "done", "{}").unwrap_err();
    assert_eq!(refusal.code, Code::StaleLease);
    assert_eq!(story.state(), "DOING");
    story.finish(second, "done", "{}").unwrap();
    assert_eq!(story.path(), ["DOING", "DONE"]);
}

#[test]
fn a_finish_past_its_time_is_good_while_nobody_took_the_lease() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("10m");
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.state(), "DONE");
}

#[test]
fn the_same_answer_sent_twice_is_one_move() {
    let mut story = story();
    let token = story.claim_any();
    let first = story.finish(token, "done", r#"{"n":1}"#).unwrap();
    let again = story.finish(token, "done", r#"{"n":1}"#).unwrap();
    assert_eq!(first, Answer::Settled { state: "DONE".into(), status: Status::Succeeded, repeated: false });
    assert_eq!(again, Answer::Settled { state: "DONE".into(), status: Status::Succeeded, repeated: true });
    assert_eq!(story.row().revision, 2);
    let other = story.finish(token, "done", r#"{"n":2}"#).unwrap_err();
    assert_eq!(other.code, Code::StaleLease);
}

#[test]
fn a_token_with_wrong_bits_is_stale() {
    let mut story = story();
    let mut token = story.claim_any();
    token.bits.0[0] ^= 1;
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
    assert_eq!(story.renew(token).unwrap_err().code, Code::StaleLease);
}

#[test]
fn a_leased_submission_cannot_be_claimed() {
    let mut story = story();
    story.claim_any();
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
}

#[test]
fn a_claim_may_ask_for_another_lease_than_the_state_gives() {
    let mut story = story();
    let claim = |lease: &str| {
        let lease = Some(lease.parse().unwrap());
        Command::Claim(model::command::Claim { worker: "w1".into(), tasks: vec!["work.do".into()], lease })
    };
    let Ok(Answer::Granted { token }) = story.tell(&claim("2m")) else { panic!("it is there to be claimed") };
    story.pass("119s");
    story.wake();
    story.renew(token).unwrap();
    assert_eq!(story.row().lease().unwrap().span, "2m".parse().unwrap(), "a renewal is for as long");
    story.pass("120s");
    story.wake();
    assert_eq!((story.row().crashes, story.row().attempt), (1, 1), "and it ends as any other");
    story.tell(&claim("12h")).unwrap();
    story.pass("5m");
    story.wake();
    assert_eq!(
        story.row().attempt,
        2,
        "an attempt takes no longer than the state allows, whatever the lease"
    );
}

#[test]
fn a_missed_heartbeat_is_a_crash_and_costs_no_attempt() {
    let mut story = story();
    story.claim_any();
    story.pass("30s");
    story.wake();
    assert_eq!((story.row().attempt, story.row().crashes), (1, 1));
    assert!(matches!(story.row().wait, Wait::Worker { .. }));
    assert_eq!(story.told()[1], "crashed lease-expired system");
}

#[test]
fn repeated_crashes_quarantine() {
    let mut story = story();
    for _ in 0..CRASHES_MAX {
        assert_eq!(story.row().status, Status::Open);
        story.claim_any();
        story.pass("31s");
        story.wake();
    }
    assert_eq!(story.row().status, Status::Dead);
    assert_eq!(&*story.row().error.as_ref().unwrap().code, "crashing");
}

#[test]
fn a_renewed_lease_lives_on() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("29s");
    story.renew(token).unwrap();
    story.pass("29s");
    story.wake();
    assert!(story.row().lease().is_some());
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn progress_stays_with_the_lease_and_costs_no_revision() {
    let mut story = story();
    let token = story.claim_any();
    let before = story.row().revision;
    let told = |done| Progress { done, total: Some(9), line: None };
    let kept = |story: &Story| story.row().lease().unwrap().progress.as_ref().map(|told| told.done);
    for done in [3, 4] {
        story.tell(&Command::Renew(Renew { token, progress: Some(told(done)) })).unwrap();
        story.renew(token).unwrap();
        assert_eq!(kept(&story), Some(done));
    }
    assert_eq!(story.row().revision, before);
    story.pass("31s");
    story.wake();
    story.pass("1h");
    story.wake();
    story.claim_any();
    assert_eq!(kept(&story), None, "another lease begins anew");
}

#[test]
fn a_renewal_does_not_touch_the_timer_and_an_early_look_arms_it_again() {
    let mut story = story();
    let token = story.claim_any();
    let armed = story.row().timer;
    story.pass("29s");
    story.renew(token).unwrap();
    assert_eq!(story.row().timer, armed);
    story.pass("1s");
    story.wake();
    assert!(story.row().timer > armed);
}

#[test]
fn a_lively_worker_still_times_out_and_that_is_a_failure() {
    let mut story = story();
    let token = story.claim_any();
    for _ in 0..11 {
        story.pass("28s");
        let _ = story.renew(token);
        story.wake();
    }
    assert_eq!(story.row().attempt, 2);
    assert_eq!(&*story.row().error.as_ref().unwrap().code, "timeout");
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
}

#[test]
fn no_lease_expires_until_the_store_has_been_reachable_for_a_while() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("1h");
    story.reachable_since = story.now;
    story.wake();
    assert!(story.row().lease().is_some(), "the worker could not renew while the store was away");
    let armed = story.row().timer.unwrap();
    assert!(armed > story.now, "it is looked at again, later");
    assert_eq!(story.row().attempt, 1, "nor does the attempt time out");
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn retries_are_spaced_bounded_and_then_used_up() {
    let mut story = story();
    for pause in ["10s", "15s"] {
        let token = story.claim_any();
        story.fail(token, "broken").unwrap();
        story.pass(pause);
        story.now = model::Time::from_millis(story.now.millis() - 1);
        story.wake();
        assert!(matches!(story.row().wait, Wait::Delay { .. }), "not before {pause} have passed");
        story.now = model::Time::from_millis(story.now.millis() + 1);
        story.wake();
    }
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    assert_eq!(story.row().status, Status::Dead);
    assert_eq!(story.row().failed_from.as_deref(), Some("DOING"));
    assert_eq!(story.row().wait, Wait::Redrive);
}

#[test]
fn an_error_code_with_a_rule_of_its_own_has_a_budget_of_its_own() {
    let mut story = story();
    let token = story.claim_any();
    story.fail(token, "flaky").unwrap();
    story.pass("1s");
    story.wake();
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    assert_eq!(story.row().status, Status::Open, "one flaky failure does not use up the general budget");
    story.pass("10s");
    story.wake();
    let token = story.claim_any();
    story.fail(token, "flaky").unwrap();
    assert_eq!(story.row().status, Status::Dead);
}

#[test]
fn a_worker_says_when_it_is_tried_again_and_the_rule_how_often() {
    let mut story = story();
    for pause in ["7s", "1h"] {
        let token = story.claim_any();
        let Command::Fail(failed) = fail(token, "broken", true) else { unreachable!("it is one") };
        let later =
            |after: &str| Command::Fail(Fail { after: Some(after.parse().unwrap()), ..failed.clone() });
        assert_eq!(story.tell(&later("8d")).unwrap_err().code, Code::InvalidRequest, "that is another state");
        story.tell(&later(pause)).unwrap();
        assert_eq!(
            story.tell(&later("9s")).unwrap_err().code,
            Code::StaleLease,
            "another pause is no repeat"
        );
        story.pass(pause);
        story.now = Time::from_millis(story.now.millis() - 1);
        story.wake();
        assert!(matches!(story.row().wait, Wait::Delay { .. }), "not before {pause} have passed");
        story.now = Time::from_millis(story.now.millis() + 1);
        story.wake();
    }
    let token = story.claim_any();
    let Command::Fail(failed) = fail(token, "broken", true) else { unreachable!("it is one") };
    story.tell(&Command::Fail(Fail { after: Some("1s".parse().unwrap()), ..failed })).unwrap();
    assert_eq!(story.row().status, Status::Dead, "a pause is no further try");
}

#[test]
fn an_error_that_is_not_retryable_goes_straight_to_on_error() {
    let mut story = story();
    let token = story.claim_any();
    story.tell(&fail(token, "refused", false)).unwrap();
    assert_eq!((story.state(), story.row().status), ("REFUSED", Status::Failed));
    assert_eq!(story.row().failed_from.as_deref(), Some("DOING"));
    assert_eq!(&*story.row().error.as_ref().unwrap().code, "refused");
}

#[test]
fn a_snooze_costs_no_attempt_and_leaves_no_event() {
    let mut story = story();
    let token = story.claim_any();
    story.snooze(token, "1h").unwrap();
    assert_eq!((story.row().attempt, story.row().revision), (1, 1));
    assert_eq!(story.claim("work.do").unwrap_err().code, Code::NotLeasable);
    story.pass("1h");
    story.wake();
    let token = story.claim_any();
    assert_eq!(story.snooze(token, "8d").unwrap_err().code, Code::InvalidRequest);
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn an_unknown_outcome_is_refused_and_the_lease_stays() {
    let mut story = story();
    let token = story.claim_any();
    let refusal = story.finish(token, "perfect", "{}").unwrap_err();
    assert_eq!(refusal.code, Code::UnknownOutcome);
    assert_eq!(refusal.details["outcomes"], serde_json::json!(["done"]));
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn a_lease_number_counts_grants_and_revocations_and_never_goes_back() {
    let mut story = story();
    let first = story.claim_any();
    assert_eq!(first.lease_no, 1);
    story.pass("31s");
    story.wake();
    assert_eq!(story.row().lease_no, 2, "taken away");
    let second = story.claim_any();
    assert_eq!(second.lease_no, 3);
    story.tell(&finish(second, "done", "{}")).unwrap();
    assert_eq!(story.row().lease_no, 3);
}

#[test]
fn a_repeat_is_known_even_after_others_have_settled() {
    let machine = pipeline(
        r#"
name = "two"
version = 1
title = "Two"
start = "A"
[states.A]
task = "t.a"
on.ok = "B"
[states.B]
task = "t.b"
on.ok = "DONE"
[states.DONE]
final = "success"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    let first = story.claim_any();
    story.finish(first, "ok", "{}").unwrap();
    let second = story.claim_any();
    story.finish(second, "ok", "{}").unwrap();
    let again = story.finish(first, "ok", "{}").unwrap();
    assert_eq!(again, Answer::Settled { state: "B".into(), status: Status::Open, repeated: true });
    assert_eq!(story.finish(first, "ok", "[]").unwrap_err().code, Code::StaleLease);
}

#[test]
fn an_answer_with_another_child_is_no_repeat() {
    let file = |name: &str, rest: &str| {
        pipeline(&format!(
            "name = '{name}'\nversion = 1\nstart = 'A'\n{rest}\n[states.B]\nfinal = 'success'\n"
        ))
    };
    let part = file("part", "[states.A]\ntask = 'part.do'\non.done = 'B'");
    let made = "[states.A]\njoin = 'part'\ntask = 'whole.make'\non.all_succeeded = 'B'\non.some_failed = 'B'";
    let mut story = Story::submitted(file("whole", made), "{}");
    let (token, now) = (story.claim_any(), story.now);
    let answer = |change: fn(&mut Application, Time)| {
        let mut child = Story::application(support::admin(), "{}");
        child.door = Door::Child(token.submission, "c0".into());
        change(&mut child, now);
        let Command::Finish(mut finish) = finish(token, "sealed", "{}") else { unreachable!("it finishes") };
        finish.children = vec![admit_any(&part, child, &mut Fuel::whole()).unwrap()];
        Command::Finish(finish)
    };
    let settled = |repeated| Answer::Settled { state: "A".into(), status: Status::Open, repeated };
    assert_eq!(story.tell(&answer(|_, _| ())), Ok(settled(false)));
    assert_eq!(story.tell(&answer(|_, _| ())), Ok(settled(true)));
    let others: [fn(&mut Application, Time); 4] = [
        |child, now| child.not_before = Some(now),
        |child, _| child.priority = Some(7),
        |child, _| child.reason = Some("again".into()),
        |child, _| {
            let Door::Child(_, name) = &mut child.door else { unreachable!("it is a child") };
            *name = "c1".into();
        },
    ];
    for other in others {
        assert_eq!(story.tell(&answer(other)).unwrap_err().code, Code::StaleLease);
    }
}

#[test]
fn a_redrive_keeps_the_reason_it_was_given() {
    let mut story = story();
    let token = story.claim_any();
    story.tell(&fail(token, "broken", false)).unwrap();
    let reason = Some("the disk was replaced".to_owned());
    let redrive = model::command::Redrive { caller: support::admin(), reason };
    story.tell(&model::Command::Redrive(redrive)).unwrap();
    let event = story.events.last().unwrap();
    assert_eq!(event.leaf.kind.as_str(), "redriven");
    assert_eq!(event.detail.metadata.as_ref().unwrap().as_str(), r#"{"reason":"the disk was replaced"}"#);
}

#[test]
fn a_lease_given_back_is_neither_failed_nor_crashed_and_keeps_its_place() {
    let mut story = story();
    let Wait::Worker { rank, .. } = story.row().wait else { panic!("{:?}", story.row().wait) };
    for _ in 0..2 * CRASHES_MAX {
        let token = story.claim_any();
        story.pass("20s");
        story.give_back(token).unwrap();
        assert_eq!(story.row().wait, Wait::Worker { task: "work.do".into(), rank });
    }
    let row = story.row();
    assert_eq!((row.attempt, row.crashes, row.status, row.revision), (1, 0, Status::Open, 1));
    assert_eq!(story.events.len(), 1);
    let token = story.claim_any();
    assert_eq!(story.row().lease().unwrap().times_out_at, Some(story.now.plus("5m".parse().unwrap())));
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn giving_back_twice_is_one_deed_and_ends_the_token() {
    let mut story = story();
    let token = story.claim_any();
    let settled = |repeated| Answer::Settled { state: "DOING".into(), status: Status::Open, repeated };
    assert_eq!(story.give_back(token), Ok(settled(false)));
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
    let other = story.claim_any();
    assert_eq!(story.give_back(token), Ok(settled(true)));
    assert!(story.row().lease().is_some(), "the repeat took the lease of somebody else");
    story.finish(other, "done", "{}").unwrap();
    assert_eq!(story.give_back(other).unwrap_err().code, Code::StaleLease);
}

#[test]
fn giving_back_does_not_make_crashes_undone() {
    let mut story = story();
    for crashes in 1..CRASHES_MAX {
        story.claim_any();
        story.pass("31s");
        story.wake();
        assert_eq!(story.row().crashes, crashes);
        let token = story.claim_any();
        story.give_back(token).unwrap();
        assert_eq!(story.row().crashes, crashes);
    }
}

#[test]
fn an_attempt_cannot_be_handed_from_worker_to_worker_for_ever() {
    let mut story = story();
    let mut given_back = 0;
    while story.row().attempt == 1 {
        let token = story.claim_any();
        story.pass("4m59s");
        story.renew(token).unwrap();
        story.give_back(token).unwrap();
        given_back += 1;
        assert!(given_back < 20, "it went on and on");
    }
    assert_eq!(given_back, 11, "ten times the five minutes that one attempt may take");
    assert_eq!(story.told()[1], "retried retry system");
    let error = story.row().error.as_ref().unwrap();
    assert_eq!(
        (&*error.code, error.message.as_str()),
        ("timeout", "the attempt may take 5m and took 54m49s, on 11 leases that were given back")
    );
    assert_eq!(
        story.row().given_back,
        model::submission::GivenBack::default(),
        "the next attempt begins anew"
    );
}

#[test]
fn a_time_to_live_that_ran_out_under_a_lease_ends_it_once_that_is_given_back() {
    let machine = WORK.replace("start = ", "ttl = { after = \"1m\", to = \"REFUSED\" }\nstart = ");
    let mut story = Story::submitted(pipeline(&machine), "{}");
    let token = story.claim_any();
    story.pass("29s");
    story.renew(token).unwrap();
    story.pass("29s");
    story.renew(token).unwrap();
    story.pass("3s");
    story.give_back(token).unwrap();
    assert!(story.row().timer.unwrap() <= story.now);
    story.wake();
    assert_eq!(story.state(), "REFUSED");
}
