use model::Actor;
use model::submission::{Approval, Assignment, Children, Failure, Investigation, Reported};
use serde_json::{Value, json};
use wire::api::{
    AcknowledgeBody, ActBody, AttemptView, FindAnswer, Held, LaneView, LeaseView, ManyAnswer, ManyResult,
    OverduePage, Problem, RedriveBody, SlaView, SubmissionPage, SubmissionView, SubmitAnswer, SubmitBody,
    SubmitMany,
};

use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, any, list, list_of, map, or_null};

const ID: &str = "01a1e148-25d3-7c36-9f16-9d3a7fedad24";
const NEXT: &str = "What to give as `after` for the next page; null at the end.";

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<SubmitBody>(),
        named::<SubmitMany>(),
        named::<SubmitAnswer>(),
        named::<ManyAnswer>(),
        named::<ManyResult>(),
        named::<SubmissionView>(),
        named::<LaneView>(),
        named::<LeaseView>(),
        named::<Reported>(),
        named::<Held>(),
        named::<SlaView>(),
        named::<Investigation>(),
        named::<Children>(),
        named::<Failure>(),
        named::<Approval>(),
        named::<AttemptView>(),
        named::<SubmissionPage>(),
        named::<FindAnswer>(),
        named::<OverduePage>(),
        named::<ActBody>(),
        named::<RedriveBody>(),
        named::<AcknowledgeBody>(),
    ]
}

impl Shape for SubmitBody {
    fn schema() -> Piece {
        taken("A submission.")
            .has("payload", any(), "Any JSON that fits the pipeline's schema.")
            .may(
                "key",
                or_null(words::key()),
                "Only where the pipeline makes none: unique among its submissions that have not ended.",
            )
            .may(
                "priority",
                or_null(words::priority()),
                "Lower first. Counts instead of what the pipeline says.",
            )
            .may("not_before", or_null(words::time()), "Nothing is done with it before.")
            .may("reason", or_null(words::reason()), "Kept in the first event: up to 4,000 bytes.")
            .like(json!({ "payload": { "id": "r-1", "pages": 12 } }))
    }
}

impl Shape for SubmitMany {
    fn schema() -> Piece {
        taken("Many at once.").has("submissions", list_of(refer::<SubmitBody>(), 0, 1_000), "").like(
            json!({ "submissions": [{ "payload": { "id": "r-2", "pages": 300 }, "reason": "monthly" }] }),
        )
    }
}

fn submitted() -> Value {
    json!({
        "id": ID, "pipeline": "report", "version": 1, "state": "SENDING", "revision": 1,
        "created_at": "2026-11-15T22:16:04.307Z"
    })
}

impl Shape for SubmitAnswer {
    fn schema() -> Piece {
        given("")
            .has("id", words::id(), "")
            .has("pipeline", words::pipeline(), "")
            .has("version", words::version(), "")
            .has("state", words::state(), "")
            .has("revision", words::count(), "")
            .has("created_at", words::time(), "")
            .may(
                "duplicate",
                words::flag(),
                "An open submission with the same key stands for the one that was sent.",
            )
            .like(submitted())
    }
}

impl Shape for ManyAnswer {
    fn schema() -> Piece {
        given("")
            .has("results", list(refer::<ManyResult>()), "In the order given.")
            .like(json!({ "results": [{ "status": 201, "submission": submitted() }] }))
    }
}

impl Shape for ManyResult {
    fn schema() -> Piece {
        given("A submission or a problem, with the status it would have had alone.")
            .has("status", words::status_number(), "")
            .may("submission", refer::<SubmitAnswer>(), "")
            .may("problem", refer::<Problem>(), "")
            .like(json!({ "status": 201, "submission": submitted() }))
    }
}

fn submission() -> Value {
    json!({
        "id": ID, "pipeline": "report", "version": 1, "state": "SENT", "phase": null, "status": "succeeded",
        "revision": 3, "attempt": 1, "requeues": 0, "priority": 0, "key": "r-1", "lane": null, "labels": {},
        "parent": null, "children": { "total": 0, "open": 0, "succeeded": 0, "failed": 0, "cancelled": 0 },
        "failed_from": null, "last_good": "SENDING", "error": null, "waits_for": "nothing", "wake_at": null,
        "lease": null, "holds": [], "parked": null, "actions": [], "created_at": "2026-11-15T22:16:04.307Z",
        "entered_at": "2026-11-15T22:16:35.484Z", "finished_at": "2026-11-15T22:16:35.484Z",
        "payload": { "id": "r-1", "pages": 12 }, "outputs": { "SENDING": { "at": "noon" } },
        "result": { "message": "m-1" }
    })
}

impl Shape for SubmissionView {
    fn schema() -> Piece {
        let text = || or_null(words::text());
        given("A submission. Its documents are there when it is asked for by id, not in lists.")
            .has("id", words::id(), "")
            .may(
                "stands_for",
                words::id(),
                "The id it was asked for by, where it stands for what was sent under that.",
            )
            .has("pipeline", words::pipeline(), "")
            .has("version", words::version(), "")
            .has("state", words::state(), "")
            .has("phase", text(), "")
            .has("status", words::status(), "`dead`: it stopped in its state, a dead letter.")
            .has("revision", words::count(), "One for each event; the ETag.")
            .has("attempt", words::count(), "The number of the try in this state, from 1.")
            .has("requeues", words::count(), "How often it was set going again after it had stopped.")
            .has("priority", words::whole(i64::MIN, i64::MAX), "")
            .has("key", text(), "")
            .may("key_waits", words::flag(), "Queued behind the open submission that has its key.")
            .has("lane", or_null(refer::<LaneView>()), "")
            .has("labels", map(words::text()), "")
            .has("parent", or_null(words::id()), "Who made it.")
            .has("children", refer::<Children>(), "How many it made, and how they fare.")
            .has("failed_from", text(), "Where it failed last.")
            .has("last_good", text(), "The last task state that went well.")
            .has("error", or_null(refer::<Failure>()), "The last failure.")
            .has("waits_for", words::text(), "The one thing it waits for: a worker, a lease, a person, ...")
            .has("wake_at", or_null(words::time()), "When it goes on by itself.")
            .has("lease", or_null(refer::<LeaseView>()), "Who works on it.")
            .has("holds", list(refer::<Held>()), "The first 20 holds that cover it, the one that took it out of its queue before others; in lists the first 3, with 200 \
                 characters of each reason.")
            .has("parked", text(), "The hold or limit that took it out of its queue.")
            .has("actions", list(words::text()), "What somebody with the right role can do now.")
            .may(
                "approvals",
                list(refer::<Approval>()),
                "Who has agreed so far to an action that needs several.",
            )
            .may("assigned", refer::<Assignment>(), "Whose review it is, where somebody took it on.")
            .may("notes", words::count(), "How many notes people wrote about it.")
            .may("sla", list(refer::<SlaView>()), "The service levels it is measured by at present.")
            .may(
                "investigation",
                refer::<Investigation>(),
                "The investigation of how it ended, where its state asks for one.",
            )
            .may("traceparent", words::text(), "The trace it is part of, as its submitter gave it.")
            .may("tracestate", words::text(), "")
            .has("created_at", words::time(), "")
            .has("entered_at", words::time(), "Since when it is in its state.")
            .has("finished_at", or_null(words::time()), "")
            .may("payload", any(), "")
            .may("outputs", map(any()), "The last output of each state's task.")
            .may("result", any(), "What a worker named as the result.")
            .may(
                "attempts",
                list(refer::<AttemptView>()),
                "The tries of workers that have ended, oldest first: the first two and the last eight. Not in lists.",
            )
            .may("attempts_left_out", words::count(), "How many between those are not kept.")
            .may(
                "replaced",
                map(any()),
                "The members of the payload that amendments replaced, as they were, by the revision of each. Not in lists.",
            )
            .like(submission())
    }
}

impl Shape for LaneView {
    fn schema() -> Piece {
        given("Its place in a lane. Neither holding nor waiting: its state has no use for the lane.")
            .has("key", words::text(), "")
            .has("holds", words::flag(), "")
            .has("waits", words::flag(), "")
            .like(json!({ "key": "service-a", "holds": true, "waits": false }))
    }
}

impl Shape for LeaseView {
    fn schema() -> Piece {
        given("")
            .has("task", words::text(), "")
            .has("worker", words::text(), "")
            .has("expires_at", words::time(), "")
            .may("progress", refer::<Reported>(), "How far the task has come, where its worker says so.")
            .like(json!({ "task": "report.send", "worker": "w1", "expires_at": "2026-11-15T22:17:05.448Z" }))
    }
}

impl Shape for Reported {
    fn schema() -> Piece {
        given("The progress of a task, as its worker last told it.")
            .has("done", words::count(), "In whatever the worker counts.")
            .may("total", words::count(), "Of so much.")
            .may("line", words::text(), "What it is at.")
            .has("at", words::time(), "When that was told.")
            .like(
                json!({ "done": 40, "total": 120, "line": "copying a.nc", "at": "2026-11-15T22:16:35.115Z" }),
            )
    }
}

impl Shape for Held {
    fn schema() -> Piece {
        given("A hold as whoever it stops sees it.")
            .has("id", words::text(), "")
            .has("reason", words::text(), "")
            .has("owner", refer::<Actor>(), "")
            .has("expires_at", or_null(words::time()), "")
            .like(json!({
                "id": "01a1e182-bb83-7103-9bb0-83d2b70de638", "reason": "the mail server is down",
                "owner": { "type": "admin", "name": "local" }, "expires_at": null
            }))
    }
}

impl Shape for SlaView {
    fn schema() -> Piece {
        given("A running service level: that of its state, or of a leg of its way.")
            .has("name", words::text(), "")
            .has("due_at", words::time(), "")
            .has("late", words::flag(), "")
            .like(json!({ "name": "REVIEW", "due_at": "2026-11-16T02:11:23.173Z", "late": true }))
    }
}

impl Shape for Investigation {
    fn schema() -> Piece {
        given("An end that somebody should look into, and who has.")
            .has("status", words::investigation(), "")
            .may("by", words::text(), "Who acknowledged it.")
            .may("at", words::time(), "When it was acknowledged.")
            .may("note", words::text(), "What came of it, as whoever acknowledged it says.")
            .like(json!({ "status": "open" }))
    }
}

impl Shape for Children {
    fn schema() -> Piece {
        given("How many submissions it made and how they fare. A dead one counts as failed.")
            .has("total", words::count(), "")
            .has("open", words::count(), "")
            .has("succeeded", words::count(), "")
            .has("failed", words::count(), "")
            .has("cancelled", words::count(), "")
            .like(json!({ "total": 1, "open": 1, "succeeded": 0, "failed": 0, "cancelled": 0 }))
    }
}

impl Shape for Failure {
    fn schema() -> Piece {
        given("What went wrong.")
            .has("code", words::text(), "")
            .has("message", words::text(), "")
            .like(json!({ "code": "smtp", "message": "no route to the mail server" }))
    }
}

impl Shape for Approval {
    fn schema() -> Piece {
        given("One person's yes to an action.")
            .has("action", words::text(), "")
            .has("to", words::text(), "")
            .has("by", words::text(), "")
            .like(json!({ "action": "approve", "to": "PUBLISHED", "by": "ada" }))
    }
}

fn attempt() -> Value {
    json!({
        "state": "SENDING", "worker": "press-1", "attempt": 1, "started_at": "2026-11-15T22:16:04.307Z",
        "ended_at": "2026-11-15T22:16:09.001Z", "end": "failed", "trigger": "retry",
        "error": { "code": "mail-down", "message": "connection refused" }
    })
}

impl Shape for AttemptView {
    fn schema() -> Piece {
        given("One try of a worker, from its claim to its end.")
            .has("state", words::text(), "")
            .has("worker", words::text(), "")
            .has("attempt", words::count(), "The number of the try in its visit of the state.")
            .has("started_at", words::time(), "")
            .has("ended_at", words::time(), "")
            .has(
                "end",
                words::one_of(&["finished", "failed", "crashed", "revoked"]),
                "`crashed`: the worker vanished; `revoked`: something else moved on meanwhile.",
            )
            .has("trigger", words::text(), "The outcome, or what ended it instead.")
            .may(
                "error",
                refer::<Failure>(),
                "Its message is cut at 300 characters, and whole in the events.",
            )
            .like(attempt())
    }
}

impl Shape for FindAnswer {
    fn schema() -> Piece {
        given("The submissions that a text may mean.")
            .has(
                "meant",
                or_null(words::id()),
                "The one that is meant, where no other can be: the only one, or the holder of the key.",
            )
            .has("submissions", list(refer::<SubmissionView>()), "The first candidates, newest first.")
            .has("more", words::flag(), "Whether there are more than are shown.")
            .like(json!({ "meant": ID, "submissions": [submission()], "more": false }))
    }
}

impl Shape for SubmissionPage {
    fn schema() -> Piece {
        given("")
            .has("submissions", list(refer::<SubmissionView>()), "")
            .has("next", or_null(words::id()), NEXT)
            .like(json!({ "submissions": [], "next": null }))
    }
}

impl Shape for OverduePage {
    fn schema() -> Piece {
        given("")
            .has("submissions", list(refer::<SubmissionView>()), "")
            .has("next", or_null(words::text()), NEXT)
            .like(json!({ "submissions": [], "next": format!("2026-11-16T02:11:23.173Z/{ID}") }))
    }
}

impl Shape for ActBody {
    fn schema() -> Piece {
        taken("What an action is told.")
            .may("reason", or_null(words::reason()), "Some actions demand one: up to 4,000 bytes.")
            .may("data", any(), "What the action's schema asks for; only for actions that have one.")
            .may("to", or_null(words::state()), "The state to go to, where the action lets one pick.")
            .like(json!({ "reason": "too long" }))
    }
}

impl Shape for RedriveBody {
    fn schema() -> Piece {
        taken("")
            .may("reason", or_null(words::reason()), "Up to 4,000 bytes.")
            .like(json!({ "reason": "the mail server is back" }))
    }
}

impl Shape for AcknowledgeBody {
    fn schema() -> Piece {
        taken("")
            .may("note", or_null(words::reason()), "What came of it: up to 4,000 bytes.")
            .like(json!({ "note": "a bad batch of keys" }))
    }
}
