//! The events of submissions, and why they are where they are.

use model::Actor;
use serde_json::{Value, json};
use wire::api::{EventPage, EventView, Reason, WhyAnswer};
use wire::event::{Kind, Notified};
use wire::submission::Failure;

use crate::openapi::shape::{Named, Shape, given, named, refer};
use crate::openapi::words::{self, Piece, any, list, list_of, or_null};

const ID: &str = "01a1e148-25d3-7c36-9f16-9d3a7fedad24";

/// The kinds of events.
pub(in crate::openapi) const KINDS: [&str; Kind::ALL.len()] = {
    let mut words = [""; Kind::ALL.len()];
    let mut no = 0;
    while no < words.len() {
        words[no] = Kind::ALL[no].as_str();
        no += 1;
    }
    words
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<EventView>(),
        named::<Notified>(),
        named::<EventPage>(),
        named::<WhyAnswer>(),
        named::<Reason>(),
    ]
}

pub(super) fn event_example() -> Value {
    json!({
        "id": "f8d29645-684c-844a-a47b-9f2ba62b4e12", "seq": 1, "submission": ID, "revision": 1,
        "kind": "submitted", "from": null, "to": "SENDING", "trigger": "submit",
        "actor": { "type": "admin", "name": "local" }, "attempt": 1, "at": "2026-11-15T22:16:04.307Z",
        "metadata": null
    })
}

impl Shape for EventView {
    fn schema() -> Piece {
        given("What happened to a submission, once for each revision.")
            .has("id", words::id(), "")
            .has("seq", words::count(), "Its place in the sequence of all events.")
            .has("submission", words::id(), "")
            .may("pipeline", words::text(), "In feeds: the pipeline whose rules it followed.")
            .has("revision", words::count(), "")
            .has("kind", words::one_of(&KINDS), "")
            .has("from", or_null(words::text()), "Null for the first.")
            .has("to", words::text(), "")
            .has("trigger", words::text(), "")
            .has("actor", refer::<Actor>(), "")
            .has("attempt", words::count(), "")
            .has("at", words::time(), "")
            .may("error", refer::<Failure>(), "What went wrong, where that is what happened.")
            .may("worker", words::text(), "Of `crashed`: the worker that vanished.")
            .has("metadata", any(), "")
            .may("notified", list(refer::<Notified>()), "Who is told of it, and what came of that.")
            .like(event_example())
    }
}

impl Shape for Notified {
    fn schema() -> Piece {
        given("What came of one channel of a notification.")
            .has("name", words::text(), "")
            .has("channel", words::one_of(&["webhook", "mail"]), "")
            .may("deliveries", list(words::id()), "What it makes, one for each address.")
            .may("problem", words::text(), "Why there is none, or what is missing from them.")
            .like(json!({ "name": "author", "channel": "mail", "problem": "no address" }))
    }
}

impl Shape for EventPage {
    fn schema() -> Piece {
        given("")
            .has("events", list(refer::<EventView>()), "")
            .has(
                "next",
                or_null(words::count()),
                "The revision to give as `after` for the next page; null at the end.",
            )
            .like(json!({ "events": [event_example()], "next": null }))
    }
}

impl Shape for WhyAnswer {
    fn schema() -> Piece {
        given("")
            .has("submission", words::id(), "")
            .has("state", words::text(), "")
            .has("status", words::status(), "")
            .has("reasons", list_of(refer::<Reason>(), 1, 10_000), "What stops it before what it waits for.")
            .like(json!({ "submission": ID, "state": "SENDING", "status": "open", "reasons": [reason()] }))
    }
}

fn reason() -> Value {
    json!({
        "code": "worker", "sentence": "it waits for a worker of task report.send",
        "details": { "task": "report.send", "attempt": 1 }
    })
}

impl Shape for Reason {
    fn schema() -> Piece {
        given("One reason.")
            .has("code", words::text(), "Stable: decide by it.")
            .has("sentence", words::text(), "For people; it may change.")
            .has("details", words::object(), "")
            .like(reason())
    }
}
