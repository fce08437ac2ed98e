//! The actions open to a caller, and reviews that people take on.

use model::submission::Assignment;
use serde_json::{Value, json};
use wire::api::{
    ActionView, ActionsAnswer, ClaimReviewBody, DeedView, FormView, HandOverBody, NoteBody, Problem,
    ReviewPage, SubmissionView, TargetView,
};

use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, or_null};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<ActionsAnswer>(),
        named::<ActionView>(),
        named::<FormView>(),
        named::<TargetView>(),
        named::<DeedView>(),
        named::<Assignment>(),
        named::<ReviewPage>(),
        named::<ClaimReviewBody>(),
        named::<HandOverBody>(),
        named::<NoteBody>(),
    ]
}

impl Shape for ActionsAnswer {
    fn schema() -> Piece {
        given("The actions of a submission, seen by one caller at one revision.")
            .has("submission", words::id(), "")
            .has("pipeline", words::pipeline(), "")
            .has("version", words::version(), "")
            .has("state", words::text(), "")
            .has("status", words::status(), "")
            .has("revision", words::count(), "What to give as `If-Match`.")
            .has("actions", list(refer::<ActionView>()), "Those of its state, then those of other states.")
            .has("deeds", list(refer::<DeedView>()), "What is asked by calls of their own.")
            .like(json!({
                "submission": "01a1e148-25d3-7c36-9f16-9d3a7fedad24", "pipeline": "report", "version": 1,
                "state": "REVIEW", "status": "open", "revision": 2, "actions": [action()], "deeds": [deed()]
            }))
    }
}

fn action() -> Value {
    json!({ "name": "approve", "title": "Approve", "legal": true, "forms": [form()] })
}

impl Shape for ActionView {
    fn schema() -> Piece {
        given("An action, and whether the caller may take it now.")
            .has("name", words::text(), "")
            .has("title", words::text(), "Its name as people read it.")
            .has("legal", words::flag(), "")
            .has(
                "forms",
                list(refer::<FormView>()),
                "Several only where conditions read the data: the first whose `when` holds counts.",
            )
            .may("refusal", refer::<Problem>(), "Why not: what trying it would be answered.")
            .like(action())
    }
}

fn form() -> Value {
    json!({
        "role": "reviewer", "reason": false, "task": "report.publish", "approvals": 2, "to": [target()],
        "pick": "DONE"
    })
}

impl Shape for FormView {
    fn schema() -> Piece {
        given("What an action asks for, and what it does.")
            .may("when", words::text(), "The condition that the data must meet.")
            .has("role", words::role(), "The role that it takes.")
            .may(
                "reviewers",
                list(words::text()),
                "Who may, where the file names them: `alice`, `role:admin`.",
            )
            .may("only_submitter", words::flag(), "Only whoever submitted it may.")
            .has("reason", words::flag(), "A reason must be given.")
            .may("data", words::any(), "The JSON Schema of its data; without one, it takes none.")
            .may("task", words::text(), "The task that runs before the move is made.")
            .has("approvals", words::count(), "How many people must agree.")
            .has("to", list(refer::<TargetView>()), "The states it may lead to.")
            .has("pick", or_null(words::text()), "Where it leads if none is picked; null where one must be.")
            .like(form())
    }
}

fn target() -> Value {
    json!({ "state": "DONE", "title": null, "legal": true, "agreed": ["ada"] })
}

impl Shape for TargetView {
    fn schema() -> Piece {
        given("A state that an action may lead to.")
            .has("state", words::text(), "")
            .has("title", or_null(words::text()), "")
            .has("legal", words::flag(), "")
            .has("agreed", list(words::text()), "Who has agreed so far that it shall go there.")
            .may("refusal", refer::<Problem>(), "Why it may not go there.")
            .like(target())
    }
}

fn deed() -> Value {
    json!({ "name": "amend", "legal": true })
}

impl Shape for DeedView {
    fn schema() -> Piece {
        given("Something that is asked by a call of its own.")
            .has("name", words::text(), "`amend`, `redrive`, `acknowledge`, `review` or `note`.")
            .has("legal", words::flag(), "")
            .may("refusal", refer::<Problem>(), "Why not.")
            .like(deed())
    }
}

impl Shape for Assignment {
    fn schema() -> Piece {
        given("A person's claim on a review.")
            .has("to", words::text(), "Whoever reviews.")
            .has("by", words::text(), "Whoever said so.")
            .has("since", words::time(), "")
            .has("until", words::time(), "")
            .like(json!({
                "to": "ada", "by": "ada", "since": "2026-11-15T22:16:04.307Z", "until": "2026-11-15T22:46:04.307Z"
            }))
    }
}

impl Shape for ReviewPage {
    fn schema() -> Piece {
        given("")
            .has(
                "submissions",
                list(refer::<SubmissionView>()),
                "The first due first, without their documents.",
            )
            .has(
                "next",
                or_null(words::text()),
                "What to give as `after` for the next page; null at the end.",
            )
            .like(json!({ "submissions": [], "next": null }))
    }
}

impl Shape for ClaimReviewBody {
    fn schema() -> Piece {
        taken("")
            .may("for", or_null(words::span()), "Half an hour, unless it says otherwise; up to 7d.")
            .like(json!({ "for": "1h" }))
    }
}

impl Shape for HandOverBody {
    fn schema() -> Piece {
        taken("")
            .has("to", words::short(1, 256), "The subject who reviews from now on.")
            .may("for", or_null(words::span()), "Half an hour, unless it says otherwise; up to 7d.")
            .like(json!({ "to": "bob", "for": "4h" }))
    }
}

impl Shape for NoteBody {
    fn schema() -> Piece {
        taken("")
            .has("text", words::reason(), "Up to 4,000 bytes.")
            .like(json!({ "text": "asked the author" }))
    }
}
