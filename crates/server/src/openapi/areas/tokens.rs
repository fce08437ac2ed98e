use model::Code;
use serde_json::{Value, json};
use wire::api::{RotateBody, TokenBody, TokenGiven, TokenList, TokenView};

use crate::openapi::call::{Call, delete, get, post};
use crate::openapi::shape::{Fields, Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, list_of, map, or_null};

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/tokens", "list_tokens", "Every token, without what it is")
            .gives::<TokenList>(200, "The tokens."),
        post("/v1/tokens", "create_token", "Make a token")
            .details("The first must be an admin's, without a scope and without an end.")
            .takes::<TokenBody>()
            .gives::<TokenGiven>(201, "The one answer that has the token itself.")
            .location()
            .refuses(&[Code::AdminFirst]),
        delete("/v1/tokens/{token}", "revoke_token", "End a token at once")
            .gives::<TokenView>(200, "What it was.")
            .refuses(&[Code::UnknownToken, Code::LastAdmin]),
        post("/v1/tokens/{token}/rotate", "rotate_token", "Make a new token with the same rights")
            .details("The old one ends after `grace`.")
            .may_take::<RotateBody>()
            .gives::<TokenGiven>(201, "The new one.")
            .location()
            .refuses(&[Code::UnknownToken, Code::LastAdmin]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<TokenBody>(),
        named::<TokenView>(),
        named::<TokenGiven>(),
        named::<TokenList>(),
        named::<RotateBody>(),
    ]
}

impl Shape for TokenBody {
    fn schema() -> Piece {
        taken("What a token shall be good for.")
            .has("subject", words::short(1, 128), "Whose it is: the name on every event made with it.")
            .has("role", words::role(), "")
            .may("pipelines", or_null(list_of(words::key(), 1, 64)), "For these only; left out: for all.")
            .may(
                "labels",
                words::map_of("^.{1,512}$", words::key(), 64),
                "For submissions with these labels only.",
            )
            .may("expires_at", or_null(words::time()), "It ends then.")
            .like(json!({ "subject": "scanner", "role": "worker", "pipelines": ["report"] }))
    }
}

fn known(fields: Fields) -> Fields {
    fields
        .has("id", words::text(), "What it is revoked and rotated by.")
        .has("subject", words::text(), "")
        .has("role", words::role(), "")
        .has("pipelines", or_null(list(words::text())), "Null: all.")
        .has("labels", map(words::text()), "")
        .has("created_at", words::time(), "")
        .has("expires_at", or_null(words::time()), "")
        .has("last_used_at", or_null(words::time()), "To the minute; it may have been used a little later.")
}

fn example() -> Value {
    json!({
        "id": "01a1e1a0-3c1b-7be2-a0c5-5a0c2a7b8e11", "subject": "scanner", "role": "worker",
        "pipelines": ["report"], "labels": {}, "created_at": "2026-11-15T23:52:17.435Z", "expires_at": null,
        "last_used_at": null
    })
}

impl Shape for TokenView {
    fn schema() -> Piece {
        known(given("A token, without what it is.")).like(example())
    }
}

impl Shape for TokenGiven {
    fn schema() -> Piece {
        let token = words::spelled("^mp_[0-9a-f]{64}$");
        let mut example = example();
        example["token"] = json!("mp_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9");
        known(given("A token itself: shown this once.").has("token", token, "")).like(example)
    }
}

impl Shape for TokenList {
    fn schema() -> Piece {
        given("").has("tokens", list(refer::<TokenView>()), "").like(json!({ "tokens": [example()] }))
    }
}

impl Shape for RotateBody {
    fn schema() -> Piece {
        taken("")
            .may(
                "grace",
                or_null(words::span()),
                "How long the old one stays good: up to 30 days; 1h if left out.",
            )
            .like(json!({ "grace": "1d" }))
    }
}
