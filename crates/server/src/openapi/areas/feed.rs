use model::Code;
use serde_json::json;
use wire::api::{CursorBody, CursorList, CursorView, FeedPage};

use super::events::event_example;
use crate::openapi::call::{Call, delete, get, put};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list};

const OTHERS: &str = "That of another subject, if you see all.";

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/feed", "read_feed", "Events in sequence, now or as they happen")
            .details(
                "With `Accept: text/event-stream` they come as server-sent events that do not end: `id` is the position, \
                 `data` the event. A reader that comes again with `Last-Event-ID` goes on from there.",
            )
            .query("pipeline", words::pipeline(), "Only of submissions of this pipeline.")
            .query("state", words::state(), "Only those that lead to this state.")
            .label_filters()
            .query("limit", words::limit(), "At most so many.")
            .query(
                "after",
                words::spelled("^([0-9]{1,20}|end)$"),
                "The position read so far; `end`: from now on. Left out: from the oldest event there is.",
            )
            .query("wait", words::span(), "How long to wait for the first: up to 60s. Left out: not at all.")
            .header("Last-Event-ID", words::text(), "Of a stream: the last `id` that was seen.")
            .gives::<FeedPage>(200, "What follows.")
            .gives_as(200, &["text/event-stream"], Some(words::text()), "")
            .refuses(&[Code::UnknownPipeline, Code::FeedRetired]),
        get("/v1/feed/cursors", "list_cursors", "Positions kept under names of your own")
            .details("An admin whose token is for everything gets those of all subjects.")
            .query("subject", words::short(1, 128), "Only those of this subject: your own, unless you see all.")
            .pages(words::wanted())
            .gives::<CursorList>(200, "The cursors."),
        get("/v1/feed/cursors/{cursor}", "show_cursor", "A position kept under a name of your own")
            .query("subject", words::short(1, 128), OTHERS)
            .gives::<CursorView>(200, "The cursor.")
            .refuses(&[Code::UnknownCursor]),
        put("/v1/feed/cursors/{cursor}", "move_cursor", "Keep a position")
            .details("It goes forwards only, unless `rewind` says otherwise.")
            .takes::<CursorBody>()
            .gives::<CursorView>(200, "The cursor.")
            .refuses(&[Code::CursorAhead]),
        delete("/v1/feed/cursors/{cursor}", "delete_cursor", "Let go of a position")
            .query("subject", words::short(1, 128), OTHERS)
            .gives::<CursorView>(200, "The cursor as it was.")
            .refuses(&[Code::UnknownCursor]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![named::<FeedPage>(), named::<CursorBody>(), named::<CursorView>(), named::<CursorList>()]
}

impl Shape for FeedPage {
    fn schema() -> Piece {
        given("")
            .has("events", list(refer::<wire::api::EventView>()), "")
            .has("next", words::position(), "What to give as `after` next, whether or not there were events.")
            .like(json!({ "events": [event_example()], "next": 1 }))
    }
}

impl Shape for CursorBody {
    fn schema() -> Piece {
        taken("")
            .has("position", words::position(), "")
            .may("rewind", words::flag(), "Whether it may go back.")
            .like(json!({ "position": 2 }))
    }
}

impl Shape for CursorView {
    fn schema() -> Piece {
        given("")
            .has("name", words::text(), "")
            .has(
                "subject",
                words::or_null(words::text()),
                "Whose it is; null for one from before there were tokens.",
            )
            .has("position", words::position(), "")
            .has("moved_at", words::time(), "")
            .like(cursor_example())
    }
}

impl Shape for CursorList {
    fn schema() -> Piece {
        given("")
            .has("cursors", list(refer::<CursorView>()), "")
            .has("next", words::or_null(words::text()), "What to give as `after` for the next page.")
            .like(json!({ "cursors": [cursor_example()], "next": null }))
    }
}

fn cursor_example() -> serde_json::Value {
    json!({ "name": "mailer", "subject": "mailer", "position": 2, "moved_at": "2026-11-15T23:20:04.979Z" })
}
