//! Service levels: which clocks run, when they are missed, and that being late changes nothing else.

use crate::support;

use model::submission::{SlaClock, Status, Wait};
use model::{Code, Command, Time};
use support::{Story, pipeline};

const WORK: &str = r#"
name = "work"
version = 1
holds = "stop"
start = "DOING"

[sla.whole]
to = "DONE"
not_via = ["REVIEW"]
target = "10m"

[sla.tail]
from = ["CHECKING", "REVIEW"]
to = ["DONE", "LOST"]
p95 = "3m"

[defaults]
lease = "30s"

[states.DOING]
task = "work.do"
sla = { target = "1m", p95 = "2m" }
on.done = "CHECKING"
on.again = "DOING"
on.doubt = "REVIEW"

[states.CHECKING]
task = "work.check"
on.good = "DONE"
on.bad = "DOING"
on.doubt = "REVIEW"

[states.REVIEW]
review = "admin"
actions.accept = "DONE"
actions.redo = "DOING"
actions.drop = "LOST"

[states.DONE]
final = "success"
actions.reopen = "DOING"

[states.LOST]
final = "failure"
"#;

fn story() -> Story {
    Story::submitted(pipeline(WORK), "{}")
}

fn step(story: &mut Story, outcome: &str) {
    let token = story.claim_any();
    story.finish(token, outcome, "{}").unwrap();
}

/// The clocks that run, each with the seconds from the first event to when it is missed; late ones are marked.
fn clocks(story: &Story) -> Vec<String> {
    let since = story.events[0].leaf.at;
    let show = |clock: &SlaClock| {
        let name = clock.leg.as_deref().unwrap_or("state");
        let late = if clock.late { " late" } else { "" };
        format!("{name} {}{late}", clock.due_at.since(since).millis() / 1_000)
    };
    story.row().clocks.iter().map(show).collect()
}

fn lates(story: &Story) -> usize {
    story.events.iter().filter(|event| event.leaf.kind.as_str() == "late").count()
}

#[test]
fn a_state_and_a_leg_run_from_the_submission_on() {
    let story = story();
    assert_eq!(clocks(&story), ["state 60", "whole 600"]);
    assert_eq!(story.row().timer, Some(story.now.plus("1m".parse().unwrap())));
}

#[test]
fn a_leg_survives_moves_and_a_state_begins_anew() {
    let mut story = story();
    story.pass("40s");
    step(&mut story, "again");
    assert_eq!(clocks(&story), ["state 100", "whole 600"], "entered anew");
    step(&mut story, "done");
    assert_eq!(clocks(&story), ["tail 220", "whole 600"], "a leg begins where it says");
    story.pass("1m");
    step(&mut story, "bad");
    assert_eq!(clocks(&story), ["state 160", "tail 220", "whole 600"]);
    step(&mut story, "done");
    assert_eq!(clocks(&story), ["tail 220", "whole 600"], "one that runs does not begin again");
    step(&mut story, "good");
    assert_eq!((story.state(), clocks(&story)), ("DONE", vec![]));
    assert_eq!(story.row().timer, None);
}

#[test]
fn a_leg_is_dropped_on_a_way_it_does_not_measure_and_does_not_come_back() {
    let mut story = story();
    step(&mut story, "doubt");
    assert_eq!(clocks(&story), ["tail 180"], "not via a review");
    story.act("redo").unwrap();
    assert_eq!(clocks(&story), ["state 60", "tail 180"]);
    step(&mut story, "done");
    assert_eq!(clocks(&story), ["tail 180"]);
}

#[test]
fn every_clock_ends_with_the_submission_and_one_that_begins_there_not_at_reopening() {
    let mut story = story();
    step(&mut story, "doubt");
    story.act("drop").unwrap();
    assert_eq!(clocks(&story), [""; 0], "an end the leg does not name is an end, too");
    let mut story = self::story();
    step(&mut story, "done");
    step(&mut story, "good");
    story.pass("1m");
    story.act("reopen").unwrap();
    assert_eq!(clocks(&story), ["state 120"], "the whole way was measured once");
}

#[test]
fn a_leg_that_ends_where_it_enters_never_runs() {
    let at_once = WORK.replace("to = \"DONE\"\nnot_via", "to = [\"DONE\", \"DOING\"]\nnot_via");
    assert_eq!(clocks(&Story::submitted(pipeline(&at_once), "{}")), ["state 60"]);
}

#[test]
fn a_missed_level_is_noted_once_with_what_was_missed() {
    let mut story = story();
    story.pass("59s");
    story.wake();
    assert_eq!(lates(&story), 0);
    story.pass("1s");
    story.wake();
    story.wake();
    story.pass("1m");
    story.wake();
    assert_eq!(lates(&story), 1);
    assert_eq!(clocks(&story), ["state 60 late", "whole 600"]);
    let event = story.events.last().unwrap();
    assert_eq!((&*event.leaf.trigger, event.leaf.from.as_deref()), ("sla", Some("DOING")));
    assert_eq!(
        event.detail.metadata.as_ref().unwrap().as_str(),
        r#"{"missed":[{"due_at":"2001-09-09T01:47:40.000Z","sla":"DOING"}]}"#
    );
    assert_eq!(story.row().timer, Some(story.events[0].leaf.at.plus("10m".parse().unwrap())));
}

#[test]
fn levels_missed_together_are_one_event() {
    let mut story = story();
    story.pass("1h");
    story.wake();
    assert_eq!((lates(&story), clocks(&story)), (1, vec!["state 60 late".into(), "whole 600 late".into()]));
    let metadata = story.events.last().unwrap().detail.metadata.clone().unwrap();
    assert!(metadata.as_str().contains(r#""sla":"whole""#), "{}", metadata.as_str());
    assert_eq!(story.row().timer, None, "nothing is left to wait for");
}

#[test]
fn a_late_leg_stays_late_on_its_way() {
    let mut story = story();
    story.pass("10m");
    story.wake();
    step(&mut story, "done");
    assert_eq!(clocks(&story), ["tail 780", "whole 600 late"]);
    story.pass("1s");
    story.wake();
    assert_eq!(lates(&story), 1);
}

#[test]
fn being_late_leaves_a_worker_its_lease_and_its_token() {
    let mut story = story();
    story.pass("50s");
    let token = story.claim_any();
    assert_eq!(story.row().timer, Some(story.now.plus("10s".parse().unwrap())), "the clock comes first");
    story.pass("10s");
    story.wake();
    assert_eq!((lates(&story), story.row().lease_no), (1, token.lease_no));
    assert_eq!(story.row().timer, story.row().lease().map(|lease| lease.expires_at), "then the lease");
    story.renew(token).unwrap();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(story.state(), "CHECKING");
}

#[test]
fn a_lease_that_ends_as_the_level_is_missed_is_both() {
    let mut story = story();
    story.pass("30s");
    let token = story.claim_any();
    story.pass("30s");
    story.wake();
    let told = story.told();
    assert_eq!(told[1..], ["late sla system".to_owned(), "crashed lease-expired system".to_owned()]);
    assert_eq!(story.finish(token, "done", "{}").unwrap_err().code, Code::StaleLease);
}

#[test]
fn a_store_out_of_reach_keeps_leases_but_not_punctuality() {
    let mut story = story();
    let token = story.claim_any();
    story.pass("1h");
    story.reachable_since = story.now;
    story.wake();
    assert_eq!(lates(&story), 1);
    assert!(story.row().timer.unwrap() > story.now);
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn a_hold_stops_no_clock() {
    let mut story = story();
    story.hold = Some("h1".into());
    story.ask();
    assert_eq!(story.row().parked.as_deref(), Some("h1"));
    assert_eq!(story.row().timer, Some(story.now.plus("1m".parse().unwrap())));
    story.pass("1m");
    story.wake();
    assert_eq!(lates(&story), 1);
    assert_eq!(story.row().parked.as_deref(), Some("h1"), "and being late ends no hold");
    assert!(matches!(story.row().wait, Wait::Worker { .. }));
}

#[test]
fn a_held_wait_that_is_late_stays_held() {
    let machine = pipeline(
        "name = \"w\"\nversion = 1\nstart = \"A\"\n[states.A]\nwait = \"1m\"\nnext = \"B\"\nsla = { target = \"2m\" }\n[states.B]\nfinal = \"success\"\n",
    );
    let mut story = Story::submitted(machine, "{}");
    story.hold = Some("h1".into());
    story.pass("1m");
    story.wake();
    assert_eq!(story.row().parked.as_deref(), Some("h1"));
    assert_eq!(story.row().timer, Some(story.now.plus("1m".parse().unwrap())));
    story.pass("1m");
    story.wake();
    assert_eq!((lates(&story), story.state(), story.row().timer), (1, "A", None));
    story.hold = None;
    story.tell(&Command::Unpark).unwrap();
    story.wake();
    assert_eq!(story.state(), "B");
}

#[test]
fn a_dead_letter_is_late_like_any_other() {
    let mut story = story();
    let token = story.claim_any();
    story.fail(token, "broken").unwrap();
    assert_eq!(story.row().status, Status::Dead);
    story.pass("1m");
    story.wake();
    assert_eq!((lates(&story), story.row().status, &story.row().wait), (1, Status::Dead, &Wait::Redrive));
    story.redrive();
    assert_eq!(clocks(&story), ["state 60 late", "whole 600"], "redriven, but no less late");
}

#[test]
fn clocks_start_when_the_submission_may() {
    let mut story = Story::submitted_for(pipeline(WORK), "{}", "5m");
    assert_eq!(clocks(&story), ["state 360", "whole 900"]);
    story.pass("5m");
    story.wake();
    assert_eq!((lates(&story), clocks(&story)), (0, vec!["state 360".into(), "whole 900".into()]));
    story.claim_any();
}

#[test]
fn a_late_event_that_lasts_as_long_as_its_wait_comes_before_the_move() {
    let machine = pipeline(
        "name = \"w\"\nversion = 1\nstart = \"A\"\n[states.A]\nwait = \"1m\"\nnext = \"B\"\nsla = { target = \"1m\" }\n[states.B]\nfinal = \"success\"\n",
    );
    let mut story = Story::submitted(machine, "{}");
    story.pass("1m");
    story.wake();
    assert_eq!(story.told()[1..], ["late sla system".to_owned(), "moved elapsed system".to_owned()]);
}

fn due(calendars: &str, sla: &str, at: &str) -> Time {
    let toml = format!(
        "name = \"w\"\nversion = 1\nstart = \"A\"\n{calendars}\n[states.A]\nreview = \"admin\"\nactions.go = \"B\"\nsla = {sla}\n[states.B]\nfinal = \"success\"\n"
    );
    let mut story = Story::of(pipeline(&toml));
    story.now = at.parse().unwrap();
    story.submit(support::admin(), "{}").unwrap();
    story.row().clocks[0].due_at
}

#[test]
fn business_days_skip_weekends_holidays_and_follow_the_clocks_of_their_zone() {
    let paris = "calendars.fr = { timezone = \"Europe/Paris\", holidays = [2026-12-25, \"2027-01-01\"] }";
    let cases = [
        // Friday afternoon and two days: Tuesday afternoon.
        ("", "{ target = \"2bd\" }", "2026-11-13T15:00:00Z", "2026-11-17T15:00:00Z"),
        // Over Christmas, a Friday.
        (paris, "{ target = \"2bd\", calendar = \"fr\" }", "2026-12-23T09:00:00Z", "2026-12-28T09:00:00Z"),
        // Both holidays, both weekends.
        (paris, "{ target = \"6bd\", calendar = \"fr\" }", "2026-12-24T09:00:00Z", "2027-01-05T09:00:00Z"),
        // Submitted on a Saturday: from Monday's first hour in Paris.
        (paris, "{ target = \"1bd\", calendar = \"fr\" }", "2026-11-14T12:00:00Z", "2026-11-16T23:00:00Z"),
        // 23:30 UTC on Friday is Saturday in Paris.
        (paris, "{ target = \"1bd\", calendar = \"fr\" }", "2026-11-13T23:30:00Z", "2026-11-16T23:00:00Z"),
        // Summer time begins on the Sunday in between: the same time of day is an hour less.
        (paris, "{ target = \"1bd\", calendar = \"fr\" }", "2027-03-26T10:00:00Z", "2027-03-29T09:00:00Z"),
        // Without the target, what nineteen of twenty should keep.
        (paris, "{ p95 = \"1bd\", calendar = \"fr\" }", "2026-11-16T10:00:00Z", "2026-11-17T10:00:00Z"),
        // A day that is none of business counts as any other where days are written as spans.
        ("", "{ target = \"1d\" }", "2026-11-13T15:00:00Z", "2026-11-14T15:00:00Z"),
        // A calendar called default is everybody's.
        (
            "calendars.default = { holidays = [\"2026-11-16\"] }",
            "{ target = \"1bd\" }",
            "2026-11-13T15:00:00Z",
            "2026-11-17T15:00:00Z",
        ),
    ];
    for (calendars, sla, at, expected) in cases {
        assert_eq!(due(calendars, sla, at), expected.parse::<Time>().unwrap(), "{sla} from {at}");
    }
}

#[test]
fn why_tells_what_is_late() {
    let mut story = story();
    story.pass("1m");
    let around = model::why::Surroundings {
        now: story.now,
        holds: Vec::new(),
        line: None,
        key_holder: None,
        polled_ago: None,
        unsent: Vec::new(),
    };
    let reasons = model::why::why(&story.pipeline, story.row(), None, &around);
    assert_eq!(reasons.last().unwrap().code, "late");
    assert_eq!(reasons.last().unwrap().sentence, "it is late: DOING was due at 2001-09-09T01:47:40.000Z");
}

const KEPT: &str = r#"
name = "kept"
version = 1
start = "REVIEW"
[states.REVIEW]
review = "admin"
actions.end = "DONE"
[states.DONE]
final = "success"
retention = "1h"
forget = "30d"
actions.reopen = "REVIEW"
actions.undo = { to = "REVIEW", task = "kept.undo" }
"#;

#[test]
fn an_ended_submission_is_erased_and_later_forgotten() {
    let mut story = Story::submitted(pipeline(KEPT), "{}");
    story.pass("400d");
    story.wake();
    assert_eq!(story.row().revision, 1, "an open one is not");
    story.act("end").unwrap();
    story.pass("1h");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "erased retention system");
    story.pass("29d");
    story.wake();
    assert_eq!(lates(&story), 0);
    assert_eq!(story.row().timer, story.row().forget_at);
    story.pass("23h");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "forgotten forget system");
    assert_eq!(story.row().timer, None, "once");
}

#[test]
fn a_submission_that_goes_on_is_not_forgotten() {
    let mut story = Story::submitted(pipeline(KEPT), "{}");
    story.act("end").unwrap();
    assert!(story.row().forget_at.is_some());
    story.act("reopen").unwrap();
    assert_eq!((story.row().forget_at, story.row().timer), (None, None));
    story.pass("60d");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "moved reopen admin");
}

#[test]
fn a_granted_action_keeps_it_until_its_task_is_done() {
    let mut story = Story::submitted(pipeline(KEPT), "{}");
    story.act("end").unwrap();
    story.act("undo").unwrap();
    story.pass("60d");
    story.wake();
    assert_eq!(story.told().last().unwrap(), "requested undo admin");
    let token = story.claim("kept.undo").unwrap();
    story.tell(&support::fail(token, "gone", false)).unwrap();
    story.wake();
    assert_eq!(story.told().last().unwrap(), "forgotten forget system", "given up, it has ended for long");
}

#[test]
fn what_is_forgotten_in_no_time_is_forgotten_before_it_is_erased() {
    let machine = pipeline(&KEPT.replace("30d", "0s"));
    let mut story = Story::submitted(machine, "{}");
    story.act("end").unwrap();
    assert_eq!(story.row().timer, Some(story.now));
    story.wake();
    assert_eq!(story.told().last().unwrap(), "forgotten forget system");
}

/// Lists the measurements of the story: level, seconds, whether target and p95 were kept.
fn measurements(story: &Story) -> Vec<String> {
    let shown = |kept: Option<bool>| kept.map_or("-", |kept| if kept { "kept" } else { "missed" });
    let measured = model::measured::measured(&story.pipeline, &[], &story.events);
    let show = |one: &model::measured::Measured| {
        let seconds = one.took.millis() / 1_000;
        format!("{} {seconds} {} {}", one.level.name(), shown(one.target), shown(one.p95))
    };
    measured.iter().map(show).collect()
}

#[test]
fn stays_and_legs_are_measured_against_both_bounds() {
    let mut story = story();
    story.pass("30s");
    step(&mut story, "done");
    story.pass("90s");
    step(&mut story, "bad");
    story.pass("90s");
    step(&mut story, "again");
    story.pass("150s");
    step(&mut story, "done");
    story.pass("60s");
    step(&mut story, "good");
    let expected = [
        "DOING 30 kept kept",
        "DOING 90 missed kept",
        "DOING 150 missed missed",
        "tail 390 - missed",
        "whole 420 kept -",
    ];
    assert_eq!(measurements(&story), expected);
}

#[test]
fn a_leg_that_goes_where_it_must_not_or_ends_elsewhere_is_not_measured() {
    let mut story = story();
    story.pass("30s");
    step(&mut story, "doubt");
    story.pass("30s");
    story.act("drop").unwrap();
    assert_eq!(measurements(&story), ["DOING 30 kept kept", "tail 30 - kept"], "the whole went by a review");
}

#[test]
fn business_days_are_kept_to_by_the_calendar() {
    let toml = WORK.replace(r#"{ target = "1m", p95 = "2m" }"#, r#"{ target = "1bd", p95 = "1d" }"#);
    // A Friday: three days later it is Monday, and one business day has gone.
    let mut story = Story::of(pipeline(&toml));
    story.now = "2026-11-13T15:00:00Z".parse::<Time>().unwrap();
    story.submit(support::admin(), "{}").unwrap();
    story.pass("3d");
    step(&mut story, "done");
    assert_eq!(measurements(&story), ["DOING 259200 kept missed"]);
}

#[test]
fn clocks_from_before_are_not_measured() {
    let mut story = story();
    let clock = r#"{"due_at":"2026-11-13T15:00:00.000Z"}"#;
    let clock: SlaClock = serde_json::from_str(clock).unwrap();
    step(&mut story, "done");
    let moved = &story.events[1..];
    assert_eq!(model::measured::measured(&story.pipeline, &[clock], moved), []);
}
