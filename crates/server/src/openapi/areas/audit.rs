use model::Code;
use serde_json::{Value, json};
use wire::actor::ActorKind;
use wire::api::{ActActor, ActPage, ActView, AuditView, ForkBody, LogKeyAnswer, LogKeyBody, WitnessView};

use crate::openapi::call::{Call, JSON, get, post};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, map, or_null};

const TEXT: &[&str] = &["text/plain"];

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/checkpoint", "checkpoint", "The newest signed checkpoint")
            .gives_as(200, TEXT, Some(words::text()), "A signed note: origin, size, root, signatures.")
            .refuses(&[Code::NoLog, Code::UnknownTile, Code::Unavailable, Code::Draining]),
        get("/tile/{*path}", "tile", "A file of the log, as tlog-tiles has them")
            .details("What the checkpoint does not cover, and entries that are no longer kept, are 404.")
            .gives_as(200, &["application/octet-stream"], None, "The tile's bytes.")
            .refuses(&[Code::NoLog, Code::UnknownTile]),
        get("/definition/{digest}", "definition", "The exact bytes of a definition that was applied")
            .gives_as(200, &[JSON], Some(words::object()), "The definition.")
            .refuses(&[Code::UnknownTile]),
        get("/v1/audit", "show_audit", "How the log is doing")
            .gives::<AuditView>(200, "The log.")
            .refuses(&[Code::NoLog]),
        get("/v1/audit/key", "audit_keys", "The log's keys, one line each, as verifiers are given them")
            .gives_as(200, TEXT, Some(words::text()), "Signed-note verifier keys.")
            .refuses(&[Code::NoLog]),
        get(
            "/v1/audit/acts",
            "list_acts",
            "What was done besides what happened to submissions, newest first",
        )
        .pages(words::position())
        .gives::<ActPage>(200, "A page of them."),
        post("/v1/audit/keys", "change_audit_keys", "Add a key to the log, or retire one")
            .takes::<LogKeyBody>()
            .gives::<LogKeyAnswer>(200, "The key, and those that sign from now on.")
            .refuses(&[Code::NoLog, Code::UnknownKey, Code::LastKey]),
        post("/v1/audit/fork", "fork_audit", "Let a log go on whose store is not what was signed")
            .details("What was signed is given up, and the log says so, with the reason.")
            .takes::<ForkBody>()
            .gives::<AuditView>(200, "The log.")
            .refuses(&[Code::NoLog, Code::LogRunning]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<AuditView>(),
        named::<WitnessView>(),
        named::<ForkBody>(),
        named::<LogKeyBody>(),
        named::<LogKeyAnswer>(),
        named::<ActPage>(),
        named::<ActView>(),
        named::<ActActor>(),
    ]
}

const KEY: &str = "example.org/log+7c2f31aa+AZ0k3Jd0yXcvQ0m1qkq8mWfY9C1c2oQv8mEo1aJ5gW2T";

impl Shape for AuditView {
    fn schema() -> Piece {
        given("")
            .has("origin", words::text(), "What the log is called.")
            .has("size", words::count(), "Leaves under the published checkpoint.")
            .has(
                "checkpoint_at",
                or_null(words::time()),
                "When this server published or confirmed it last; null: another one does, or it has just started.",
            )
            .has(
                "unpublished",
                words::or_null(words::count()),
                "Leaves that wait for the next checkpoint; null for a token with a scope.",
            )
            .has(
                "standing",
                words::one_of(&["running", "refused", "failing"]),
                "`refused`: nothing is signed until it is forked; `failing`: it is tried again.",
            )
            .may("reason", words::text(), "Why, where it does not run.")
            .has("keys", list(words::text()), "As verifiers are given them.")
            .has("witnesses", list(refer::<WitnessView>()), "")
            .like(json!({
                "origin": "example.org/log", "size": 1204, "checkpoint_at": "2026-11-15T23:20:04.000Z",
                "unpublished": 0, "standing": "running", "keys": [KEY],
                "witnesses": [{ "name": "good", "cosigned": 1204 }]
            }))
    }
}

impl Shape for WitnessView {
    fn schema() -> Piece {
        given("")
            .has("name", words::text(), "")
            .may("cosigned", words::count(), "The size of the last checkpoint it cosigned.")
            .may("missing", words::text(), "Why it did not, the last time it was asked.")
            .like(json!({ "name": "good", "cosigned": 1204 }))
    }
}

impl Shape for ForkBody {
    fn schema() -> Piece {
        taken("")
            .has("reason", words::reason(), "")
            .like(json!({ "reason": "restored the backup of Sunday" }))
    }
}

impl Shape for LogKeyBody {
    fn schema() -> Piece {
        taken("Without `retire`, a key is added.")
            .may("retire", or_null(words::text()), "The key to retire: its line, or its id.")
            .like(json!({ "retire": "7c2f31aa" }))
    }
}

impl Shape for LogKeyAnswer {
    fn schema() -> Piece {
        given("")
            .has("key", words::text(), "The key that was added or retired.")
            .has("keys", list(words::text()), "Those that sign from now on.")
            .like(json!({ "key": KEY, "keys": [KEY] }))
    }
}

fn act() -> Value {
    json!({
        "index": 41, "kind": "administered", "at": "2026-11-15T23:52:17.435Z",
        "of": "01a1e1a0-3c1b-7be2-a0c5-5a0c2a7b8e11", "no": 7, "deed": "token-created",
        "actor": { "type": "admin", "id": "12HzRwq6DEhnTAQ8Da5h8dgaOoh42AQfOSI_RWBr_Lo", "name": "ada" },
        "role": "admin", "detail": { "role": "worker" }
    })
}

impl Shape for ActPage {
    fn schema() -> Piece {
        given("")
            .has("acts", list(refer::<ActView>()), "")
            .has("next", or_null(words::count()), "The `after` of the next page; null: there is none.")
            .like(json!({ "acts": [act()], "next": null }))
    }
}

impl Shape for ActView {
    fn schema() -> Piece {
        let kinds = ["applied", "pruned", "forked", "key_added", "key_retired", "administered"];
        given("Something that was done to the rules, the log or the server.")
            .has("index", words::count(), "Its index in the log.")
            .has("kind", words::one_of(&kinds), "")
            .has("at", words::time(), "")
            .has("of", words::text(), "What it was done to.")
            .may("no", words::count(), "Its number among those that were administered.")
            .may("deed", words::text(), "What was administered.")
            .may("actor", refer::<ActActor>(), "")
            .may("role", words::role(), "By which right; absent: the server did it by itself.")
            .may("detail", map(words::text()), "")
            .like(act())
    }
}

impl Shape for ActActor {
    fn schema() -> Piece {
        given("Who acted.")
            .has("type", words::one_of(&ActorKind::ALL.map(ActorKind::as_str)), "")
            .has("id", words::digest(), "The pseudonym, as the log has it.")
            .may("name", words::text(), "What it stands for, where that is still known.")
            .like(json!({ "type": "admin", "id": "12HzRwq6DEhnTAQ8Da5h8dgaOoh42AQfOSI_RWBr_Lo", "name": "ada" }))
    }
}
