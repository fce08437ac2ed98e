use serde_json::{Value, json};
use wire::api::{
    ChildBody, ClaimAnswer, ClaimBody, EntryChangeBody, ErrorBody, FailBody, FinishBody, GiveBackBody,
    Problem, RenewBody, SettleAnswer, SettleResult, SnoozeBody, SpawnBody, TaskView, Tasks,
};
use wire::submission::{Children, Progress};

use crate::openapi::call::{Call, post};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, any, list, list_of, map, or_null};

const TOKEN: &str = "AaHhSCXTfDafFp06f-2tJAAAAAAAAAADGsqBje4js-lKWWjZY6krmg";

pub(super) fn calls() -> Vec<Call> {
    vec![
        post("/v1/tasks:claim", "claim", "Ask for tasks")
            .takes::<ClaimBody>()
            .gives::<ClaimAnswer>(200, "The tasks; none if there is nothing to do."),
        settling::<FinishBody>("/v1/tasks:finish", "finish", "Say what came of tasks").proof(),
        settling::<FailBody>("/v1/tasks:fail", "fail", "Say that attempts went wrong").proof(),
        settling::<SpawnBody>("/v1/tasks:spawn", "spawn", "Make children, and keep the lease").proof(),
        settling::<SnoozeBody>("/v1/tasks:snooze", "snooze", "Say that tasks cannot be done yet").proof(),
        settling::<GiveBackBody>("/v1/tasks:give-back", "giveBack", "Give leases back: somebody else")
            .proof(),
        settling::<RenewBody>("/v1/tasks:renew", "renew", "Keep leases longer").proof(),
    ]
}

fn settling<T: Shape>(path: &'static str, name: &'static str, summary: &'static str) -> Call {
    post(path, name, summary)
        .details("Each task has its own result and status. A call takes up to 1,000 in up to 4 MB.")
        .takes::<Tasks<T>>()
        .gives::<SettleAnswer>(200, "The results.")
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<ClaimBody>(),
        named::<ClaimAnswer>(),
        named::<TaskView>(),
        named::<FinishBody>(),
        named::<Tasks<FinishBody>>(),
        named::<ChildBody>(),
        named::<SpawnBody>(),
        named::<Tasks<SpawnBody>>(),
        named::<FailBody>(),
        named::<Tasks<FailBody>>(),
        named::<ErrorBody>(),
        named::<SnoozeBody>(),
        named::<Tasks<SnoozeBody>>(),
        named::<GiveBackBody>(),
        named::<Tasks<GiveBackBody>>(),
        named::<RenewBody>(),
        named::<Tasks<RenewBody>>(),
        named::<Progress>(),
        named::<SettleAnswer>(),
        named::<SettleResult>(),
    ]
}

impl Shape for ClaimBody {
    fn schema() -> Piece {
        taken("What a worker can do.")
            .has("worker", words::short(1, 128), "A name; events show it.")
            .has("tasks", list_of(words::text(), 1, 100), "Names of tasks.")
            .may("pipelines", or_null(list_of(words::text(), 0, 20)), "Only of these pipelines.")
            .may("labels", or_null(map(words::text()).with("maxProperties", 20)), "Only with these labels.")
            .may("max", or_null(words::whole(1, 1_000)), "At most so many; 1 if left out.")
            .may(
                "wait",
                or_null(words::span()),
                "How long to wait for the first: up to 60s. Left out: not at all.",
            )
            .may(
                "lease",
                or_null(words::span()),
                "How long the leases are to be good without a renewal: 1s to 12h. Left out: as the state says.",
            )
            .like(json!({ "worker": "w1", "tasks": ["report.send"], "wait": "20s" }))
    }
}

fn task() -> Value {
    json!({
        "token": TOKEN, "submission": "01a1e148-25d3-7c36-9f16-9d3a7fedad24", "pipeline": "report",
        "state": "SENDING", "task": "report.send", "with": null, "params": {}, "attempt": 2,
        "payload": { "id": "r-1", "pages": 12 }, "payload_revision": 1, "outputs": {}, "labels": {}, "lease": "1m",
        "lease_expires_at": "2026-11-15T22:17:05.448Z"
    })
}

impl Shape for ClaimAnswer {
    fn schema() -> Piece {
        given("")
            .has("tasks", list(refer::<TaskView>()), "")
            .may(
                "unknown_tasks",
                list(words::text()),
                "Those of the tasks asked for that no pipeline has within the token's scope: waiting for them is in vain \
                 until one is applied.",
            )
            .like(json!({ "tasks": [task()] }))
    }
}

impl Shape for TaskView {
    fn schema() -> Piece {
        given("A task and the right to settle it.")
            .has("token", words::lease_token(), "Whoever holds it can settle the task: it is a secret.")
            .has("submission", words::id(), "")
            .has("pipeline", words::pipeline(), "")
            .has("state", words::state(), "")
            .has("task", words::task(), "")
            .has("with", any(), "From the pipeline file.")
            .has("params", any(), "From the pipeline file and the deployment.")
            .has("attempt", words::count(), "")
            .has("requeues", words::count(), "How often it came back from a later state.")
            .has("priority", words::priority(), "")
            .may("key", words::text(), "What no other open submission of its pipeline has.")
            .may("parent", words::id(), "The submission that made this one.")
            .may(
                "failed_from",
                words::state(),
                "The state in which it failed last, while it is being put right.",
            )
            .may("last_good", words::state(), "The last state that it left by an outcome.")
            .has("payload", any(), "")
            .has("payload_revision", words::count(), "The revision that last changed the payload.")
            .has("outputs", map(any()), "Those of earlier tasks, by state.")
            .has("labels", map(words::text()), "")
            .has("lease", words::span(), "How long the lease is good without a renewal.")
            .has("lease_expires_at", words::time(), "")
            .may("timeout", words::span(), "The time that one attempt may take, however lively.")
            .may("traceparent", words::text(), "The trace the submission is part of.")
            .may("tracestate", words::text(), "")
            .like(task())
    }
}

impl<T: Shape> Shape for Tasks<T> {
    fn name() -> String {
        format!("Many{}", T::name())
    }

    fn schema() -> Piece {
        taken("")
            .has("tasks", list_of(refer::<T>(), 0, 1_000), "")
            .like(json!({ "tasks": T::schema().get("examples") }))
    }
}

impl Shape for FinishBody {
    fn schema() -> Piece {
        taken("What came of a task.")
            .has("token", words::text(), "That of the lease in force.")
            .has("outcome", words::text(), "One that the state declares.")
            .may("output", any(), "Guards see it, and later tasks.")
            .may("result", any(), "What the submission is to have as its result. The last one counts.")
            .may(
                "children",
                list_of(refer::<ChildBody>(), 0, 1_000),
                "Submissions it makes, in the same commit.",
            )
            .may(
                "entries",
                list_of(refer::<EntryChangeBody>(), 0, 100),
                "Entries of a system that it changes, in the same commit: all, or none and no move.",
            )
            .like(json!({
                "token": TOKEN, "outcome": "sent", "output": { "at": "noon" }, "result": { "message": "m-1" }
            }))
    }
}

impl Shape for ChildBody {
    fn schema() -> Piece {
        taken("A submission that another makes.")
            .has("payload", any(), "What fits the child's pipeline.")
            .may("key", or_null(words::key()), "")
            .may("priority", or_null(words::priority()), "")
            .may("not_before", or_null(words::time()), "")
            .may(
                "name",
                or_null(words::key()),
                "Among its parent's children: the same name is the same child.",
            )
            .like(json!({ "payload": { "file": "a.nc" }, "name": "a.nc" }))
    }
}

impl Shape for SpawnBody {
    fn schema() -> Piece {
        taken("Children of the submission the task is of.")
            .has("token", words::text(), "That of the lease in force.")
            .has("children", list_of(refer::<ChildBody>(), 0, 1_000), "")
            .like(json!({ "token": TOKEN, "children": [{ "payload": { "file": "a.nc" }, "name": "a.nc" }] }))
    }
}

impl Shape for FailBody {
    fn schema() -> Piece {
        taken("")
            .has("token", words::text(), "That of the lease in force.")
            .has("error", refer::<ErrorBody>(), "")
            .like(json!({ "token": TOKEN, "error": { "code": "smtp", "message": "no route to the mail server" } }))
    }
}

impl Shape for ErrorBody {
    fn schema() -> Piece {
        taken("What went wrong.")
            .has("code", words::error_code(), "Rules go by it.")
            .has("message", words::text(), "For people; cut after 2,000 characters.")
            .may("retryable", words::flag(), "False: do not try again. True if left out.")
            .may(
                "retry_after",
                or_null(words::span()),
                "The pause before the next try, up to 7 days. Left out: as the pipeline says.",
            )
            .like(json!({ "code": "smtp", "message": "no route to the mail server" }))
    }
}

impl Shape for SnoozeBody {
    fn schema() -> Piece {
        taken("")
            .has("token", words::text(), "That of the lease in force.")
            .has("for", words::span(), "After that the task can be claimed again: up to 7 days.")
            .like(json!({ "token": TOKEN, "for": "30s" }))
    }
}

impl Shape for GiveBackBody {
    fn schema() -> Piece {
        taken("A task for somebody else: its worker stops. It is ready at once, in the place it had in its queue.")
            .has("token", words::text(), "That of the lease in force.")
            .like(json!({ "token": TOKEN }))
    }
}

impl Shape for RenewBody {
    fn schema() -> Piece {
        taken("")
            .has("token", words::text(), "That of the lease in force.")
            .may(
                "progress",
                or_null(refer::<Progress>()),
                "How far the task has come. Left out: as it was told before.",
            )
            .like(json!({ "token": TOKEN, "progress": { "done": 40, "total": 120, "line": "copying a.nc" } }))
    }
}

impl Shape for Progress {
    fn schema() -> Piece {
        taken("How far a task has come.")
            .has("done", words::count(), "In whatever the worker counts.")
            .may("total", or_null(words::count()), "Of so much.")
            .may("line", or_null(words::text()), "What it is at; cut at 200 characters.")
            .like(json!({ "done": 40, "total": 120, "line": "copying a.nc" }))
    }
}

impl Shape for SettleAnswer {
    fn schema() -> Piece {
        let done =
            json!({ "token": TOKEN, "status": 200, "state": "SENT", "submission_status": "succeeded" });
        given("")
            .has("results", list(refer::<SettleResult>()), "One for each task sent, in order.")
            .like(json!({ "results": [done] }))
    }
}

impl Shape for SettleResult {
    fn schema() -> Piece {
        given("Where a settlement left the submission, or why it changed nothing.")
            .has("token", words::text(), "")
            .has("status", words::status_number(), "")
            .may("state", words::text(), "")
            .may("submission_status", words::status(), "")
            .may("children", refer::<Children>(), "How its children stand, after a spawn.")
            .may("repeated", words::flag(), "The same settlement was taken before; this is its answer again.")
            .may("lease_expires_at", words::time(), "Of a renewal: until when the lease is good now.")
            .may(
                "payload_revision",
                words::count(),
                "Of a renewal: higher than the task's means the payload was amended since.",
            )
            .may("problem", refer::<Problem>(), "Of a refusal: its status is that of the result.")
            .like(json!({ "token": TOKEN, "status": 200, "state": "SENT", "submission_status": "succeeded" }))
    }
}
