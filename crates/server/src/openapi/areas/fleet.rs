use serde_json::{Value, json};
use wire::api::{
    BlockerView, DeadView, DwellView, EdgeView, FiguresView, FlowView, LaneLine, LanePage, LimitView,
    OldestView, PercentilesView, StoreView, UnknownTaskView, UnpolledView,
};

use crate::openapi::call::{Call, get};
use crate::openapi::shape::{Named, Shape, given, named, refer};
use crate::openapi::words::{self, Piece, list, or_null};

const ID: &str = "01a1e148-25d3-7c36-9f16-9d3a7fedad24";
const TIME: &str = "2026-11-15T22:16:04.307Z";

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/figures", "show_figures", "What flows, how long it stays, and what stops it")
            .details("Of all servers over the store. Nothing is counted by looking at submissions.")
            .gives::<FiguresView>(200, "The figures."),
        get(
            "/v1/pipelines/{pipeline}/lanes",
            "list_lanes",
            "Lanes that somebody is in line for, and who is in the way",
        )
        .query("limit", words::limit(), "At most so many.")
        .query("after", words::wanted(), "The `next` of the page before.")
        .gives::<LanePage>(200, "A page of lanes, in the order of their names.")
        .refuses(&[model::Code::UnknownPipeline]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<FiguresView>(),
        named::<FlowView>(),
        named::<EdgeView>(),
        named::<DwellView>(),
        named::<PercentilesView>(),
        named::<OldestView>(),
        named::<DeadView>(),
        named::<LimitView>(),
        named::<UnpolledView>(),
        named::<UnknownTaskView>(),
        named::<StoreView>(),
        named::<LanePage>(),
        named::<LaneLine>(),
        named::<BlockerView>(),
    ]
}

impl Shape for FiguresView {
    fn schema() -> Piece {
        given("Figures of all servers over the store. None is of a single submission's labels: a token for labels sees none.")
            .has("flow", refer::<FlowView>(), "")
            .has("dwells", list(refer::<DwellView>()), "The stays that ended in the last three hours, by state.")
            .has("oldest", list(refer::<OldestView>()), "The oldest open submission of each state.")
            .has("dead", list(refer::<DeadView>()), "Dead letters by what went wrong, most first.")
            .may("dead_more", words::flag(), "Whether there are more of those than are shown.")
            .has("limits", list(refer::<LimitView>()), "Limits that something is counted under now, by label value.")
            .may("limits_more", words::flag(), "Whether there are more of those than are shown.")
            .has("unpolled", list(refer::<UnpolledView>()), "Tasks that something waits for and nobody asks for.")
            .has(
                "unknown_tasks",
                list(refer::<UnknownTaskView>()),
                "Tasks that workers ask for and no pipeline has; none for a token with a scope.",
            )
            .may("store", refer::<StoreView>(), "For a token without a scope.")
            .like(json!({
                "flow": flow(), "dwells": [dwell()], "oldest": [oldest()], "dead": [dead()], "limits": [limit()],
                "unpolled": [unpolled()], "unknown_tasks": [unknown()], "store": store()
            }))
    }
}

fn flow() -> Value {
    json!({ "since": TIME, "edges": [edge()] })
}

impl Shape for FlowView {
    fn schema() -> Piece {
        given("Moves by edge and minute.")
            .has("since", words::time(), "The beginning of the first of 180 minutes. The last is under way.")
            .has("edges", list(refer::<EdgeView>()), "")
            .like(flow())
    }
}

fn edge() -> Value {
    json!({ "pipeline": "report", "from": "SENDING", "to": "SENT", "minutes": [0, 3, 12] })
}

impl Shape for EdgeView {
    fn schema() -> Piece {
        given("The moves along one edge.")
            .has("pipeline", words::text(), "")
            .has("from", or_null(words::text()), "Null: it was submitted.")
            .has("to", words::text(), "")
            .has("minutes", list(words::count()), "How many in each minute.")
            .like(edge())
    }
}

fn percentiles() -> Value {
    json!({ "p50": "2s", "p95": "9s", "p99": "14s" })
}

impl Shape for PercentilesView {
    fn schema() -> Piece {
        given("Times that so many of a hundred stayed below: off by an eighth at most.")
            .has("p50", words::span(), "")
            .has("p95", words::span(), "")
            .has("p99", words::span(), "")
            .like(percentiles())
    }
}

fn dwell() -> Value {
    json!({ "pipeline": "report", "state": "SENDING", "measured": 41, "p50": "2s", "p95": "9s", "p99": "14s" })
}

impl Shape for DwellView {
    fn schema() -> Piece {
        given("How long stays in a state took.")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("measured", words::count(), "How many ended.")
            .has("p50", words::span(), "About: off by an eighth at most.")
            .has("p95", words::span(), "")
            .has("p99", words::span(), "")
            .like(dwell())
    }
}

fn oldest() -> Value {
    json!({ "pipeline": "report", "state": "REVIEW", "submission": ID, "created_at": TIME })
}

impl Shape for OldestView {
    fn schema() -> Piece {
        given("")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("submission", words::id(), "")
            .has("created_at", words::time(), "When it was made, not when it came to this state.")
            .like(oldest())
    }
}

fn dead() -> Value {
    json!({
        "pipeline": "report", "state": "SENDING", "code": "mail-down", "message": "no answer within # s",
        "fingerprint": "3b5d5c3712d9", "count": 12
    })
}

impl Shape for DeadView {
    fn schema() -> Piece {
        given("")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("code", words::text(), "Of the error; empty where there is none.")
            .has("message", words::text(), "Without ids, numbers and paths.")
            .has("fingerprint", words::fingerprint(), "Of code and message, to filter by.")
            .has("count", words::count(), "")
            .like(dead())
    }
}

fn limit() -> Value {
    json!({ "pipeline": "report", "label": "owner", "value": "northwind", "in_use": 2, "most": 5 })
}

impl Shape for LimitView {
    fn schema() -> Piece {
        given("")
            .has("pipeline", words::text(), "")
            .has("label", words::text(), "")
            .has("value", words::text(), "")
            .has("in_use", words::count(), "")
            .has("most", or_null(words::count()), "The limit of the newest version; null where it has none.")
            .like(limit())
    }
}

fn unpolled() -> Value {
    json!({ "task": "report.send", "pipeline": "report", "state": "SENDING", "open": 3, "polled_ago": null })
}

impl Shape for UnpolledView {
    fn schema() -> Piece {
        given("")
            .has("task", words::text(), "")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("open", words::count(), "How many submissions are open in the state.")
            .has(
                "polled_ago",
                or_null(words::span()),
                "Since a worker asked for it; null: none has within an hour.",
            )
            .like(unpolled())
    }
}

fn unknown() -> Value {
    json!({ "task": "report.sned", "worker": "press-1", "asked_ago": "2s" })
}

impl Shape for UnknownTaskView {
    fn schema() -> Piece {
        given("")
            .has("task", words::text(), "")
            .has("worker", words::text(), "Who asked for it last.")
            .has("asked_ago", words::span(), "")
            .like(unknown())
    }
}

fn store() -> Value {
    json!({ "bytes": 73728, "backup_ago": "5h", "checkpoint_ago": "1s204ms" })
}

impl Shape for StoreView {
    fn schema() -> Piece {
        given("")
            .has("bytes", or_null(words::count()), "Null where the store does not know.")
            .has(
                "backup_ago",
                or_null(words::span()),
                "Since the last backup; null where nobody said that one was made.",
            )
            .has(
                "checkpoint_ago",
                or_null(words::span()),
                "Since a server published a checkpoint of the audit log.",
            )
            .like(store())
    }
}

fn blocker() -> Value {
    json!({ "submission": ID, "state": "SENDING", "status": "dead", "entered_at": TIME })
}

impl Shape for BlockerView {
    fn schema() -> Piece {
        given("")
            .has("submission", words::id(), "")
            .has("state", words::text(), "")
            .has("status", words::status(), "")
            .has("entered_at", words::time(), "")
            .like(blocker())
    }
}

fn lane() -> Value {
    json!({
        "pipeline": "report", "lane": "press-1", "blocker": blocker(), "first": ID, "first_created_at": TIME
    })
}

impl Shape for LaneLine {
    fn schema() -> Piece {
        given("A lane, and who is in the way of the first in line.")
            .has("pipeline", words::text(), "")
            .has("lane", words::text(), "")
            .has("blocker", or_null(refer::<BlockerView>()), "Null where nobody holds the lane.")
            .has("first", or_null(words::id()), "The first in line.")
            .has("first_created_at", or_null(words::time()), "")
            .like(lane())
    }
}

impl Shape for LanePage {
    fn schema() -> Piece {
        given("")
            .has("lanes", list(refer::<LaneLine>()), "")
            .has(
                "next",
                or_null(words::text()),
                "What to give as `after` for the next page; null at the end.",
            )
            .like(json!({ "lanes": [lane()], "next": null }))
    }
}
