//! Migrations of submissions that have a lane, want one or wait for one.

use crate::support;

use model::submission::{Seat, Wait};
use model::{Code, Command, Pipeline, Recipient};
use support::{Story, migrate, pipeline};

/// Versions whose submissions share a lane.
fn laned(version: u32, doing: &str) -> Pipeline {
    pipeline(&format!(
        r#"
name = "lane"
version = {version}
lane = {{ key = "payload.lane" }}
start = "DOING"
[states.DOING]
task = "lane.do"
lease = "30s"
{doing}
on.done = "PAUSE"
[states.REVIEW]
review = "admin"
actions.accept = "DONE"
[states.PAUSE]
wait = "1h"
next = "REVIEW"
[states.DONE]
final = "success"
"#
    ))
}

fn seat(story: &Story) -> &Seat {
    story.row().seat.as_ref().unwrap()
}

#[test]
fn one_in_line_stays_in_line_and_is_looked_at_when_a_hold_kept_it_out() {
    let mut story = Story::of(laned(1, ""));
    story.lane_free = false;
    story.submit(support::admin(), r#"{"lane":"l"}"#).unwrap();
    assert_eq!(story.row().wait, Wait::Line);
    story.tell(&migrate(&laned(2, ""), &[])).unwrap();
    assert_eq!((&story.row().wait, seat(&story).waits()), (&Wait::Line, true));
    (story.lane_free, story.hold) = (true, Some("h1".into()));
    story.tell(&Command::Seat).unwrap();
    assert_eq!(story.row().parked.as_deref(), Some("h1"));
    (story.hold, story.lane_free, story.owed) = (None, false, Vec::new());
    story.tell(&migrate(&laned(3, ""), &[])).unwrap();
    assert_eq!((story.row().wait.as_str(), &story.row().parked), ("line", &None));
    assert!(story.owed.iter().any(|owed| matches!(owed.to, Recipient::Lane { .. })), "somebody has to look");
}

#[test]
fn nobody_is_leased_without_the_lane_its_new_state_needs() {
    for lane_free in [true, false] {
        let mut story = Story::submitted(laned(1, "lane = \"free\""), r#"{"lane":"l"}"#);
        assert!(seat(&story).is_away());
        story.lane_free = lane_free;
        story.tell(&migrate(&laned(2, ""), &[])).unwrap();
        let waits = if lane_free { "worker" } else { "line" };
        assert_eq!((seat(&story).holds(), story.row().wait.as_str()), (lane_free, waits));
    }
}

#[test]
fn a_worker_without_the_lane_its_new_state_needs_is_in_the_way_of_others() {
    let mut story = Story::submitted(laned(1, "lane = \"free\""), r#"{"lane":"l"}"#);
    let token = story.claim_any();
    story.lane_free = false;
    assert_eq!(story.tell(&migrate(&laned(2, ""), &[])).unwrap_err().code, Code::LaneTaken);
    story.lane_free = true;
    story.tell(&migrate(&laned(2, ""), &[])).unwrap();
    assert!(seat(&story).holds());
    story.finish(token, "done", "{}").unwrap();
}

#[test]
fn who_has_no_use_for_the_lane_any_more_gives_it_on() {
    let mut story = Story::submitted(laned(1, ""), r#"{"lane":"l"}"#);
    assert!(seat(&story).holds());
    story.tell(&migrate(&laned(2, "lane = \"free\""), &[])).unwrap();
    assert!(seat(&story).is_away());
    assert!(story.owed.iter().any(|owed| matches!(owed.to, Recipient::Lane { .. })));
}

#[test]
fn who_gets_its_lane_by_migrating_waits_for_the_clock_and_not_for_the_lane() {
    let mut story = Story::of(laned(1, ""));
    story.lane_free = false;
    story.submit(support::admin(), r#"{"lane":"l"}"#).unwrap();
    story.lane_free = true;
    story.tell(&migrate(&laned(2, ""), &[("DOING", "PAUSE")])).unwrap();
    assert_eq!((seat(&story).holds(), story.row().wait.as_str()), (true, "clock"));
}
