use model::Code;
use serde_json::{Value, json};
use wire::actor::Caller;
use wire::api::{OperationBody, OperationList, ResultPage, ResultView};
use wire::operation::{Deed, Filter, Operation};

use crate::openapi::call::{Call, get, post};
use crate::openapi::shape::{Fields, Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, either, list, map, map_of, or_null};

const STATE: &str = "^[A-Za-z][A-Za-z0-9_.-]{0,63}$";

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/operations", "list_operations", "Operations, newest first")
            .pages(words::id())
            .gives::<OperationList>(200, "A page of operations."),
        post("/v1/operations", "start_operation", "Do one thing to every submission a filter finds")
            .details(
                "It runs in the server, from the newest to the oldest, each once. Names the pipeline does not have are \
                 refused. The body has at most 64 KB.",
            )
            .takes::<OperationBody>()
            .gives::<Operation>(201, "The operation.")
            .location()
            .refuses(&[Code::UnknownPipeline, Code::UnknownVersion]),
        get("/v1/operations/{operation}", "show_operation", "One operation")
            .gives::<Operation>(200, "The operation.")
            .refuses(&[Code::UnknownOperation]),
        post("/v1/operations/{operation}/stop", "stop_operation", "Stop an operation; what was done stays done")
            .gives::<Operation>(200, "The operation.")
            .refuses(&[Code::UnknownOperation, Code::OperationOver]),
        get("/v1/operations/{operation}/results", "list_results", "What came of each submission")
            .query("code", words::wanted(), "Those that refused with this code.")
            .pages(words::id())
            .gives::<ResultPage>(200, "A page of results, in the order of the submissions' ids.")
            .refuses(&[Code::UnknownOperation]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<OperationBody>(),
        named::<Filter>(),
        named::<Deed>(),
        named::<Caller>(),
        named::<Operation>(),
        named::<OperationList>(),
        named::<ResultView>(),
        named::<ResultPage>(),
    ]
}

impl Shape for OperationBody {
    fn schema() -> Piece {
        taken("One deed for many.")
            .has("filter", refer::<Filter>(), "")
            .has("action", words::word(), "An action some state declares, or `resume`, `redrive`, `acknowledge` or `migrate`.")
            .may("reason", or_null(words::reason()), "")
            .may("data", words::any(), "What the action's schema asks for.")
            .may("to", or_null(words::state()), "The state to go to, where one may pick.")
            .may("version", or_null(words::version()), "Of a migration: the version to follow.")
            .may("map", map_of(STATE, words::state(), 200), "Of a migration: states, old to new.")
            .may("dry_run", words::flag(), "Everything is decided and told, nothing is changed.")
            .like(json!({
                "filter": { "pipeline": "report", "state": "REVIEW" }, "action": "reject", "reason": "too old",
                "dry_run": true
            }))
    }
}

impl Shape for Filter {
    fn schema() -> Piece {
        taken("Which submissions. Every condition given must hold.")
            .has("pipeline", words::pipeline(), "")
            .may("version", or_null(words::version()), "")
            .may("state", or_null(words::state()), "")
            .may("status", or_null(words::status()), "")
            .may(
                "investigation",
                or_null(words::investigation()),
                "How far the investigation of its end has come.",
            )
            .may("parent", or_null(words::id()), "")
            .may("lane", or_null(words::text()), "")
            .may("labels", words::labels(16), "")
            .may("error", or_null(words::text()), "The code of its last error.")
            .may("fingerprint", or_null(words::fingerprint()), "Of its last error.")
            .may("created_before", or_null(words::time()), "")
            .may("created_after", or_null(words::time()), "Created at this time or later.")
            .may("entered_before", or_null(words::time()), "In its state since before this time.")
            .may("worker", or_null(words::text()), "The worker that has its lease.")
            .like(json!({ "pipeline": "report", "state": "REVIEW" }))
    }
}

fn deed(name: &str, fields: impl FnOnce(Fields) -> Fields) -> Piece {
    let named = given("").has("do", words::one_of(&[name]), "");
    fields(named).plain()
}

impl Shape for Deed {
    fn schema() -> Piece {
        let act = deed("act", |fields| {
            let fields = fields.has("action", words::text(), "");
            fields.may("data", words::any(), "").may("to", words::text(), "")
        });
        let resume = deed("resume", |fields| fields.may("to", words::text(), ""));
        let redrive = deed("redrive", |fields| fields);
        let acknowledge = deed("acknowledge", |fields| fields);
        let migrate = deed("migrate", |fields| {
            fields.has("version", words::version(), "").may("map", map(words::text()), "")
        });
        let parent_cancelled = deed("parent_cancelled", |fields| fields);
        either([act, resume, redrive, acknowledge, migrate, parent_cancelled])
    }
}

impl Shape for Caller {
    fn schema() -> Piece {
        given("")
            .has("name", words::text(), "")
            .has("role", words::role(), "")
            .like(json!({ "name": "local", "role": "admin" }))
    }
}

fn example() -> Value {
    json!({
        "id": "01a1e21f-93cc-716a-a92f-4c1c38012bd6", "filter": { "pipeline": "report", "state": "REVIEW" },
        "deed": { "do": "act", "action": "reject" }, "dry_run": true, "by": { "name": "local", "role": "admin" },
        "status": "done", "found": 12, "done": 0, "refused": { "reason-required": 12 },
        "started_at": "2026-11-16T02:11:22.703Z", "ended_at": "2026-11-16T02:11:22.708Z",
        "after": "01a1e21f-92ef-7226-96ae-a67246e370bc"
    })
}

impl Shape for Operation {
    fn schema() -> Piece {
        given("")
            .has("id", words::text(), "")
            .has("filter", refer::<Filter>(), "")
            .has(
                "deed",
                refer::<Deed>(),
                "What is done to each. `parent_cancelled` is the machine's own: the children of one that was cancelled.",
            )
            .may("reason", words::text(), "")
            .has("dry_run", words::flag(), "")
            .has("by", refer::<Caller>(), "")
            .has("status", words::one_of(&["running", "stopped", "done"]), "")
            .has("found", words::count(), "How many submissions fitted the filter so far.")
            .has("done", words::count(), "How many of them it was done to, or would be.")
            .may("refused", map(words::count()), "How many refused, by the code of the refusal.")
            .has("started_at", words::time(), "")
            .may("ended_at", words::time(), "")
            .may("after", words::id(), "The last submission that was looked at.")
            .like(example())
    }
}

impl Shape for OperationList {
    fn schema() -> Piece {
        given("")
            .has("operations", list(refer::<Operation>()), "")
            .has(
                "next",
                or_null(words::text()),
                "What to give as `after` for the next page; null at the end.",
            )
            .like(json!({ "operations": [example()], "next": null }))
    }
}

impl Shape for ResultView {
    fn schema() -> Piece {
        given("What came of one submission.")
            .has("submission", words::id(), "")
            .may("state", words::text(), "The state it is in after, or would be.")
            .may("code", words::text(), "Why nothing was done: a stable code.")
            .may("message", words::text(), "The same as a sentence.")
            .like(json!({
                "submission": "01a1e21f-92ef-7226-96ae-a67246e370bc", "code": "reason-required",
                "message": "`reject` needs a reason"
            }))
    }
}

impl Shape for ResultPage {
    fn schema() -> Piece {
        given("")
            .has("results", list(refer::<ResultView>()), "")
            .has("next", or_null(words::id()), "What to give as `after` for the next page; null at the end.")
            .like(json!({ "results": [], "next": null }))
    }
}
