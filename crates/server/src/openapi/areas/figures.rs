use serde_json::{Value, json};
use wire::api::{
    ClockView, DutyView, InvestigationCount, PercentilesView, PlaceCount, ReceivedView, ServerList,
    ServerView, ServiceLevelView, StatsView, VerdictView, WindowView, WorkerList, WorkerView,
};

use crate::openapi::call::{Call, get, post};
use crate::openapi::shape::{Named, Shape, given, named, refer};
use crate::openapi::words::{self, Piece, list, map, or_null};

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/stats", "show_stats", "How much is where, and how the engine's own chores are doing")
            .gives::<StatsView>(200, "The figures."),
        get("/v1/servers", "list_servers", "The servers that share the store")
            .gives::<ServerList>(200, "The servers."),
        get("/v1/clock", "show_clock", "The clock everything goes by, and whether it is believed")
            .gives::<ClockView>(200, "The clock."),
        post("/v1/clock/confirm", "confirm_clock", "Has the clock believed as it is")
            .details(
                "For a clock in doubt that is right: erasing, forgetting and the end of tokens go on by it. On record in the \
                 audit log as `clock-confirmed`. Nothing happens where the clock is believed already.",
            )
            .gives::<ClockView>(200, "The clock."),
        get("/v1/workers", "list_workers", "Who has asked this server for work within an hour")
            .gives::<WorkerList>(200, "The workers."),
        get("/metrics", "show_metrics", "Everything that is counted, for a scraper")
            .details("Of this server; what is counted in the store is the same on all that share it.")
            .gives_as(200, &["application/openmetrics-text"], Some(words::text()), "OpenMetrics 1.0."),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<StatsView>(),
        named::<PlaceCount>(),
        named::<InvestigationCount>(),
        named::<ServiceLevelView>(),
        named::<WindowView>(),
        named::<VerdictView>(),
        named::<DutyView>(),
        named::<ReceivedView>(),
        named::<ClockView>(),
        named::<ServerList>(),
        named::<ServerView>(),
        named::<WorkerList>(),
        named::<WorkerView>(),
    ]
}

impl Shape for StatsView {
    fn schema() -> Piece {
        let conditions = words::one_of(&["running", "unreachable", "drained", "broken"]);
        given("")
            .has(
                "condition",
                conditions,
                "`unreachable` while the store is; `drained`, `broken`: the engine has ended.",
            )
            .has(
                "last_event",
                words::or_null(words::count()),
                "The position of the newest event; null for a token with a scope.",
            )
            .has(
                "counts",
                list(refer::<PlaceCount>()),
                "As they are kept; places without any are not listed.",
            )
            .has(
                "investigations",
                list(refer::<InvestigationCount>()),
                "Ends that somebody should look into, by pipeline and state.",
            )
            .has(
                "service_levels",
                list(refer::<ServiceLevelView>()),
                "How declared service levels were kept to lately, by all servers over the store.",
            )
            .has("duties", list(refer::<DutyView>()), "None for a token with a scope.")
            .has(
                "received",
                words::or_null(refer::<ReceivedView>()),
                "What this server decided of what applications submitted in SQL, since it started; null for a token with a \
                 scope.",
            )
            .like(json!({
                "condition": "running", "last_event": 14,
                "counts": [{ "pipeline": "report", "state": "REVIEW", "status": "open", "count": 12 }],
                "investigations": [investigations()], "service_levels": [service_level()], "duties": [],
                "received": { "submitted": 40, "merged": 0, "refused": { "schema-violation": 2 } }
            }))
    }
}

impl Shape for PlaceCount {
    fn schema() -> Piece {
        given("")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("status", words::status(), "")
            .has("count", words::count(), "")
            .like(json!({ "pipeline": "report", "state": "REVIEW", "status": "open", "count": 12 }))
    }
}

fn investigations() -> Value {
    json!({ "pipeline": "report", "state": "LOST", "open": 2, "acknowledged": 5 })
}

impl Shape for InvestigationCount {
    fn schema() -> Piece {
        given("Ends of a state that asks for somebody to look into them.")
            .has("pipeline", words::text(), "")
            .has("state", words::text(), "")
            .has("open", words::count(), "Those that nobody has acknowledged.")
            .has("acknowledged", words::count(), "")
            .like(investigations())
    }
}

fn verdict() -> Value {
    json!({ "figure": "2s310ms", "within": 0.97, "met": true })
}

fn window() -> Value {
    json!({ "window": "1h", "measured": 41, "target": verdict(), "p95": verdict() })
}

fn service_level() -> Value {
    json!({
        "pipeline": "report", "name": "SENDING", "of": "state", "target": "15s", "p95": "30s", "windows": [window()]
    })
}

impl Shape for ServiceLevelView {
    fn schema() -> Piece {
        given("A service level that the newest version of a pipeline declares, and how it was kept to.")
            .has("pipeline", words::text(), "")
            .has("name", words::text(), "The state, or the leg.")
            .has("of", words::one_of(&["state", "leg"]), "")
            .may("target", words::text(), "As it is declared: a span, or business days such as `5bd`.")
            .may("p95", words::text(), "")
            .has("windows", list(refer::<WindowView>()), "")
            .like(service_level())
    }
}

impl Shape for WindowView {
    fn schema() -> Piece {
        given("What ended within a span of time up to now.")
            .has("window", words::one_of(&["1h", "1d", "30d"]), "")
            .has("measured", words::count(), "How many ended in it.")
            .may("target", refer::<VerdictView>(), "The median against the target.")
            .may("p95", refer::<VerdictView>(), "The 95th percentile against `p95`.")
            .may("percentiles", refer::<PercentilesView>(), "The percentiles themselves.")
            .like(window())
    }
}

impl Shape for VerdictView {
    fn schema() -> Piece {
        given("")
            .has(
                "figure",
                words::span(),
                "About: off by an eighth at most, never on the wrong side of the bound.",
            )
            .has("within", words::share(), "The share that kept to what was declared when it ended.")
            .has("met", words::flag(), "")
            .like(verdict())
    }
}

impl Shape for DutyView {
    fn schema() -> Piece {
        given("A chore the engine does by itself.")
            .has("name", words::text(), "")
            .has(
                "last_good_ago",
                or_null(words::span()),
                "How long ago a pass ended well; null: none has since the server started.",
            )
            .has("passes", words::count(), "Since the server started.")
            .has("failures", words::count(), "")
            .has("running_for", or_null(words::span()), "How long the pass under way has taken.")
            .has("overdue", words::flag(), "Whether that is longer than it may.")
            .has("last_error", or_null(words::text()), "")
            .may("elsewhere", words::text(), "The server that does it, where another one does.")
            .like(json!({
                "name": "steps", "last_good_ago": "30ms", "passes": 0, "failures": 0, "running_for": null,
                "overdue": false, "last_error": null
            }))
    }
}

impl Shape for ReceivedView {
    fn schema() -> Piece {
        given("")
            .has("submitted", words::count(), "")
            .has("merged", words::count(), "An open submission with the same key stands for them.")
            .has("refused", map(words::count()), "By the code of the refusal.")
            .like(json!({ "submitted": 40, "merged": 0, "refused": { "schema-violation": 2 } }))
    }
}

impl Shape for ClockView {
    fn schema() -> Piece {
        given("")
            .has("now", words::time(), "What it says: the machine's, or that of PostgreSQL.")
            .has(
                "known_at",
                words::time(),
                "The latest time that is certain to have come: what is erased, forgotten or ended for good goes by it.",
            )
            .has("doubt", or_null(words::text()), "Why it is not believed, and what to do; null where it is.")
            .like(json!({
                "now": "2026-11-16T04:00:43.129Z", "known_at": "2026-11-16T04:00:43.129Z", "doubt": null
            }))
    }
}

impl Shape for ServerList {
    fn schema() -> Piece {
        given("").has("servers", list(refer::<ServerView>()), "").like(json!({ "servers": [] }))
    }
}

impl Shape for ServerView {
    fn schema() -> Piece {
        given("A server, as those over the same store see it.")
            .has("id", words::text(), "")
            .has("name", words::text(), "What people call it; its id where nobody gave it a name.")
            .has("address", words::text(), "Where it listens; empty before it does.")
            .has("version", words::text(), "")
            .has("started_at", words::time(), "")
            .has("seen_ago", words::span(), "How long ago it said that it is there.")
            .has("duties", list(words::text()), "What it does for all of them at present.")
            .has("asked", words::flag(), "Whether it is the one that was asked.")
            .like(json!({
                "id": "01a1e283-99f9-74d3-b204-1ad95d1fce41", "name": "walker-1", "address": "10.0.0.7:8080",
                "version": "0.1.0", "started_at": "2026-11-16T04:00:43.129Z", "seen_ago": "1s204ms",
                "duties": ["operations", "schedules"], "asked": true
            }))
    }
}

fn worker() -> Value {
    json!({
        "worker": "press-1", "tasks": ["report.send"], "last_seen_at": "2026-11-15T22:16:04.307Z"
    })
}

impl Shape for WorkerView {
    fn schema() -> Piece {
        given("")
            .has("worker", words::text(), "As it calls itself.")
            .has("tasks", list(words::text()), "What it asked for last.")
            .has("last_seen_at", words::time(), "")
            .like(worker())
    }
}

impl Shape for WorkerList {
    fn schema() -> Piece {
        given("").has("workers", list(refer::<WorkerView>()), "").like(json!({ "workers": [worker()] }))
    }
}
