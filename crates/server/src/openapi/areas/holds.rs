use model::Code;
use serde_json::json;
use wire::actor::{Actor, ActorKind};
use wire::api::{HoldBody, HoldList, HoldView};

use crate::openapi::call::{Call, delete, get, post};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, map, or_null};

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/holds", "list_holds", "Every hold in force").gives::<HoldList>(200, "The holds."),
        post("/v1/holds", "place_hold", "Stop submissions where they are")
            .details(
                "All that is given must fit. A hold that names nothing is refused: it would stop everything.",
            )
            .takes::<HoldBody>()
            .gives::<HoldView>(201, "The hold.")
            .location()
            .refuses(&[Code::UnknownPipeline, Code::UnknownSubmission, Code::ReasonRequired]),
        delete("/v1/holds/{hold}", "release_hold", "End a hold")
            .gives::<HoldView>(200, "The hold that was.")
            .refuses(&[Code::UnknownHold]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![named::<Actor>(), named::<HoldBody>(), named::<HoldView>(), named::<HoldList>()]
}

impl Shape for Actor {
    fn schema() -> Piece {
        given("Who did it, under the role used.")
            .has("type", words::one_of(&ActorKind::ALL.map(ActorKind::as_str)), "")
            .has("name", words::text(), "")
            .like(json!({ "type": "admin", "name": "ada" }))
    }
}

impl Shape for HoldBody {
    fn schema() -> Piece {
        taken("What to hold. Everything that is given must fit.")
            .may("pipeline", or_null(words::pipeline()), "Submissions of this pipeline.")
            .may("labels", words::labels(16), "With these labels.")
            .may("lane", or_null(words::key()), "That stand in this lane.")
            .may("submission", or_null(words::id()), "This one.")
            .has("reason", words::short(1, 4_000), "For whoever finds them held: up to 4,000 bytes.")
            .may("expires_at", or_null(words::time()), "It ends by itself then.")
            .like(json!({
                "pipeline": "report", "reason": "the mail server is down", "expires_at": "2036-11-16T08:00:00Z"
            }))
    }
}

impl Shape for HoldView {
    fn schema() -> Piece {
        given("A hold.")
            .has("id", words::text(), "")
            .has("pipeline", or_null(words::text()), "")
            .has("labels", map(words::text()), "")
            .has("lane", or_null(words::text()), "")
            .has("submission", or_null(words::id()), "")
            .has("reason", words::text(), "")
            .has("owner", refer::<Actor>(), "Who placed it.")
            .has("created_at", words::time(), "")
            .has("expires_at", or_null(words::time()), "")
            .like(json!({
                "id": "01a1e182-bb83-7103-9bb0-83d2b70de638", "pipeline": "report", "labels": {}, "lane": null,
                "submission": null, "reason": "the mail server is down", "owner": { "type": "admin", "name": "local" },
                "created_at": "2026-11-15T23:20:03.715Z", "expires_at": "2026-11-16T08:00:00.000Z"
            }))
    }
}

impl Shape for HoldList {
    fn schema() -> Piece {
        given("").has("holds", list(refer::<HoldView>()), "").like(json!({ "holds": [] }))
    }
}
