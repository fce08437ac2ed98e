use model::Code;
use serde_json::{Value, json};
use wire::api::Difference;
use wire::api::{
    ApplyAnswer, ApplyBody, DefinitionView, KeptVersion, PipelineList, PipelineView, RetireAnswer,
    RetireBody, ScheduleView, StateCount, StateView,
};

use crate::openapi::call::{Call, get, post, put};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, map_of, or_null};

const TOML: &str = "application/toml";

pub(super) fn calls() -> Vec<Call> {
    let text = || Some(words::text());
    vec![
        get(
            "/v1/pipelines",
            "list_pipelines",
            "The version in force of every pipeline, with how much is where",
        )
        .gives::<PipelineList>(200, "The pipelines."),
        get("/v1/pipelines/{pipeline}", "show_pipeline", "One pipeline, in the form that is asked for")
            .details("`Accept` chooses the form; `format` does where no header can be set.")
            .query("version", words::version(), "Another version than the one in force.")
            .query(
                "format",
                words::one_of(&["json", "toml", "mermaid", "svg"]),
                "Counts instead of `Accept`.",
            )
            .gives::<PipelineView>(200, "The pipeline.")
            .gives_as(200, &[TOML], text(), "")
            .gives_as(200, &["text/vnd.mermaid", "text/plain"], text(), "")
            .gives_as(200, &["image/svg+xml"], text(), "")
            .refuses(&[Code::UnknownPipeline, Code::UnknownVersion]),
        put("/v1/pipelines/{pipeline}", "apply_pipeline", "Bring a pipeline file into force")
            .details(
                "The name in the file must be the one in the address. A file whose version is in force needs no new version \
                 where only parameters differ: that is a new revision of it.",
            )
            .query("dry_run", words::flag(), "Check and compare; apply nothing.")
            .query("rollback", words::flag(), "Go back to an older version than the one in force.")
            .takes_as(&[TOML], words::text())
            .takes::<ApplyBody>()
            .gives::<ApplyAnswer>(200, "Exactly this was in force already, or it was a dry run.")
            .gives::<ApplyAnswer>(201, "It is in force.")
            .refuses(&[
                Code::InvalidDefinition,
                Code::VersionExists,
                Code::VersionOutdated,
                Code::UnknownVersion,
                Code::TooManyVersions,
            ]),
        post("/v1/pipelines/{pipeline}/retire", "retire_versions", "Let go of versions that nothing follows")
            .details(
                "Nothing can follow a retired version any more, and it takes no memory. Its definition stays where verifiers \
                 find it. The version in force and the one before it are kept.",
            )
            .takes::<RetireBody>()
            .gives::<RetireAnswer>(200, "What was retired.")
            .refuses(&[Code::UnknownPipeline, Code::UnknownVersion, Code::VersionInUse]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<ApplyBody>(),
        named::<ApplyAnswer>(),
        named::<Difference>(),
        named::<RetireBody>(),
        named::<RetireAnswer>(),
        named::<KeptVersion>(),
        named::<PipelineList>(),
        named::<PipelineView>(),
        named::<DefinitionView>(),
        named::<ScheduleView>(),
        named::<StateView>(),
        named::<StateCount>(),
    ]
}

impl Shape for ApplyBody {
    fn schema() -> Piece {
        taken("A pipeline file with what it names.")
            .has("toml", words::text(), "The file.")
            .may("files", map_of("^.{1,200}$", words::text(), 100), "The files it names: path to text.")
            .may(
                "params",
                or_null(words::object()),
                "Parameters this deployment sets; null sets one back to its default, and others stay as they were set before.",
            )
            .like(json!({
                "toml": "name = \"note\"\nversion = 1\nstart = \"OPEN\"\n[states.OPEN]\nactions.close = \"DONE\"\n\
                         [states.DONE]\nfinal = \"success\"\n",
                "files": {}, "params": {}
            }))
    }
}

impl Shape for ApplyAnswer {
    fn schema() -> Piece {
        given("")
            .has("name", words::pipeline(), "")
            .has("version", words::version(), "")
            .has("revision", words::version(), "One more with every change of the version's parameters.")
            .has("digest", words::digest(), "")
            .may("params", words::object(), "The parameters that are set in place of their defaults.")
            .has("changed", words::flag(), "False: exactly this was in force already.")
            .may("dry_run", words::flag(), "True: nothing was applied; this is what would have come of it.")
            .may("rolled_back", words::flag(), "True: an older version is in force again.")
            .may("compared_to", words::version(), "The version that was in force before.")
            .has("diff", list(refer::<Difference>()), "What is different from it.")
            .may("lost_states", list(words::text()), "Its states that are no more.")
            .like(json!({
                "name": "report", "version": 2, "revision": 1, "digest": "tCU_uUezPgtvEhy5qhnL4p1CoKHpwnLoVM_rR4Wq2tA",
                "changed": true, "dry_run": true, "compared_to": 1,
                "diff": [{ "place": "SENDING.lease", "what": "changed", "old": "30s", "new": "1m" }]
            }))
    }
}

impl Shape for RetireBody {
    fn schema() -> Piece {
        taken("Either `version` or `unused`.")
            .may(
                "version",
                or_null(words::version()),
                "The version to retire; refused where something needs it.",
            )
            .may("unused", words::flag(), "True: every version that nothing needs.")
            .may("dry_run", words::flag(), "Look; retire nothing.")
            .like(json!({ "unused": true, "dry_run": true }))
    }
}

impl Shape for RetireAnswer {
    fn schema() -> Piece {
        given("")
            .has("name", words::pipeline(), "")
            .has("retired", list(words::version()), "Those that were retired now.")
            .has("kept", list(refer::<KeptVersion>()), "Those that were looked at and stay.")
            .may("dry_run", words::flag(), "True: nothing was retired; this is what would have come of it.")
            .like(json!({ "name": "report", "retired": [1, 2], "kept": [kept_example()] }))
    }
}

fn kept_example() -> Value {
    json!({ "version": 4, "reason": "version 4 of `report` is in force; apply another one first" })
}

impl Shape for KeptVersion {
    fn schema() -> Piece {
        given("A version that is not retired.")
            .has("version", words::version(), "")
            .has("reason", words::text(), "")
            .like(kept_example())
    }
}

impl Shape for Difference {
    fn schema() -> Piece {
        given("")
            .has("place", words::text(), "What it is about, as the file would name it.")
            .has("what", words::one_of(&["added", "removed", "changed"]), "")
            .may("old", words::text(), "")
            .may("new", words::text(), "")
            .like(json!({ "place": "SENDING.lease", "what": "changed", "old": "30s", "new": "1m" }))
    }
}

fn example() -> Value {
    json!({
        "name": "report", "title": "Reports", "version": 1, "revision": 1, "in_force": 1, "versions": [1],
        "definitions": [{
            "version": 1, "revision": 1, "digest": "X8gAcTpz4JZSZF5O6sTJ8VHar_-u_n0P8O59P34Z4Dg", "params": {}
        }],
        "digest": "X8gAcTpz4JZSZF5O6sTJ8VHar_-u_n0P8O59P34Z4Dg",
        "states": [{
            "name": "REVIEW", "title": null, "phase": null, "kind": "human", "actions": ["approve", "reject"],
            "counts": [{ "status": "open", "count": 1 }]
        }]
    })
}

impl Shape for PipelineList {
    fn schema() -> Piece {
        given("")
            .has("pipelines", list(refer::<PipelineView>()), "")
            .like(json!({ "pipelines": [example()] }))
    }
}

impl Shape for PipelineView {
    fn schema() -> Piece {
        given("")
            .has("name", words::pipeline(), "")
            .has("title", words::text(), "")
            .has("version", words::version(), "")
            .has("revision", words::version(), "One more with every change of the version's parameters.")
            .has("in_force", words::version(), "The version that new submissions get.")
            .has("versions", list(words::version()), "Every version there is.")
            .has("definitions", list(refer::<DefinitionView>()), "The same, each with what decides for it.")
            .may("retired", list(words::version()), "Those that nothing can follow any more.")
            .has("digest", words::digest(), "")
            .has("states", list(refer::<StateView>()), "")
            .may("schedules", list(refer::<ScheduleView>()), "What it submits by the clock.")
            .like(example())
    }
}

impl Shape for DefinitionView {
    fn schema() -> Piece {
        given("A version as it decides for the submissions that follow it.")
            .has("version", words::version(), "")
            .has("revision", words::version(), "")
            .has("digest", words::digest(), "")
            .has("params", words::object(), "The parameters that are set in place of their defaults.")
            .like(example()["definitions"][0].clone())
    }
}

impl Shape for ScheduleView {
    fn schema() -> Piece {
        given("")
            .has("id", words::text(), "Another time or another payload is another schedule.")
            .has(
                "next_at",
                or_null(words::time()),
                "Null: its times are over, or a newer version has taken its place.",
            )
            .has("last_at", or_null(words::time()), "The time it served last, or when it was first seen.")
            .has("submission", or_null(words::id()), "What was submitted then.")
            .has("refused", or_null(words::text()), "Why nothing was.")
            .like(json!({
                "id": "YBxrPEQBEe9JuWzj", "next_at": "2026-11-16T03:00:00.000Z",
                "last_at": "2026-11-16T02:11:10.773Z", "submission": null, "refused": null
            }))
    }
}

impl Shape for StateView {
    fn schema() -> Piece {
        given("")
            .has("name", words::state(), "")
            .has("title", or_null(words::text()), "")
            .has("phase", or_null(words::text()), "")
            .has("kind", words::one_of(&["pass", "task", "wait", "human", "join", "final"]), "")
            .may("task", words::task(), "The task that its submissions wait for.")
            .has("actions", list(words::text()), "")
            .has("counts", list(refer::<StateCount>()), "")
            .like(example()["states"][0].clone())
    }
}

impl Shape for StateCount {
    fn schema() -> Piece {
        given("")
            .has("status", words::status(), "")
            .has("count", words::count(), "")
            .like(json!({ "status": "open", "count": 1 }))
    }
}
