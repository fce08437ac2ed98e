use model::Code;
use serde_json::{Value, json};
use wire::api::{
    DeliveryPage, DeliveryView, EndpointBody, EndpointGiven, EndpointList, EndpointView, RedriveBody,
};
use wire::submission::Failure;

use crate::openapi::call::{Call, delete, get, post};
use crate::openapi::shape::{Fields, Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, list, or_null};

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/deliveries", "list_deliveries", "Messages to the outside, newest first")
            .query("submission", words::id(), "Those about this submission.")
            .query("channel", words::one_of(&["webhook", "mail"]), "Those that go this way.")
            .query("status", words::status(), "")
            .pages(words::id())
            .gives::<DeliveryPage>(200, "A page of them."),
        post("/v1/deliveries/{id}/replay", "replay_delivery", "Send a message again")
            .details(
                "One that is dead is set going again; one that has ended is sent anew, as the same message.",
            )
            .may_take::<RedriveBody>()
            .gives::<DeliveryView>(200, "What is sent now.")
            .refuses(&[Code::UnknownSubmission, Code::NotDead, Code::Erased, Code::DuplicateKey]),
        get("/v1/endpoints", "list_endpoints", "Every endpoint of webhooks, without its secrets")
            .gives::<EndpointList>(200, "The endpoints."),
        post("/v1/endpoints", "create_endpoint", "Give an address a secret of its own")
            .takes::<EndpointBody>()
            .gives::<EndpointGiven>(201, "The one answer that has the secret itself.")
            .location()
            .refuses(&[Code::EndpointExists]),
        delete("/v1/endpoints/{endpoint}", "remove_endpoint", "Forget an endpoint and its secrets")
            .gives::<EndpointView>(200, "What it was.")
            .refuses(&[Code::UnknownEndpoint]),
        post("/v1/endpoints/{endpoint}/rotate", "rotate_endpoint", "Make a new secret, beside the old one")
            .gives::<EndpointGiven>(200, "The one answer that has the new secret.")
            .refuses(&[Code::UnknownEndpoint]),
        post("/v1/endpoints/{endpoint}/retire", "retire_endpoint", "Let the older of two secrets go")
            .gives::<EndpointView>(200, "The endpoint.")
            .refuses(&[Code::UnknownEndpoint]),
        post("/v1/endpoints/{endpoint}/enable", "enable_endpoint", "Post to it again")
            .gives::<EndpointView>(200, "The endpoint.")
            .refuses(&[Code::UnknownEndpoint]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![
        named::<DeliveryView>(),
        named::<DeliveryPage>(),
        named::<EndpointBody>(),
        named::<EndpointView>(),
        named::<EndpointGiven>(),
        named::<EndpointList>(),
    ]
}

fn delivery() -> Value {
    json!({
        "id": "01a1e1a0-3c1b-7be2-a0c5-5a0c2a7b8e11", "cause": "01a1e1a0-3c1b-8be2-a0c5-5a0c2a7b8e12",
        "name": "author", "channel": "webhook", "to": "https://hooks.example/1",
        "submission": "01a1e1a0-3c1b-7be2-a0c5-5a0c2a7b8e13", "pipeline": "report", "state": "POSTING",
        "status": "open", "attempt": 2, "error": { "code": "http-503", "message": "it answered 503" },
        "created_at": "2026-11-15T23:52:17.435Z", "finished_at": null,
        "next_try_at": "2026-11-15T23:57:17.435Z"
    })
}

impl Shape for DeliveryView {
    fn schema() -> Piece {
        given("A message to the outside. What it says is gone once it was erased.")
            .has("id", words::id(), "")
            .has("cause", or_null(words::text()), "The event that asked for it.")
            .has("name", or_null(words::text()), "The notification, as its pipeline calls it.")
            .has("channel", or_null(words::text()), "`webhook` or `mail`.")
            .has("to", or_null(words::text()), "")
            .has("submission", or_null(words::text()), "What it is about.")
            .has("pipeline", or_null(words::text()), "That submission's.")
            .has("state", words::text(), "")
            .has("status", words::status(), "")
            .has("attempt", words::count(), "")
            .has("error", or_null(refer::<Failure>()), "Why the last try failed.")
            .has("created_at", words::time(), "")
            .has("finished_at", or_null(words::time()), "")
            .has("next_try_at", or_null(words::time()), "After a failure.")
            .like(delivery())
    }
}

impl Shape for DeliveryPage {
    fn schema() -> Piece {
        given("")
            .has("deliveries", list(refer::<DeliveryView>()), "")
            .has("next", or_null(words::id()), "The `after` of the next page; null: there is none.")
            .like(json!({ "deliveries": [delivery()], "next": null }))
    }
}

impl Shape for EndpointBody {
    fn schema() -> Piece {
        taken("Where webhooks go.")
            .has("url", words::short(1, 2_000), "As notifications name it.")
            .may("name", or_null(words::short(1, 128)), "What people call it.")
            .like(json!({ "url": "https://hooks.example/1", "name": "the web shop" }))
    }
}

fn known(fields: Fields) -> Fields {
    fields
        .has("id", words::text(), "")
        .has(
            "url",
            or_null(words::text()),
            "Null: it signs for every address without an endpoint of its own.",
        )
        .has("name", or_null(words::text()), "")
        .has("secrets", words::count(), "How many sign: two after a rotation.")
        .has("created_at", words::time(), "")
        .has("rotated_at", or_null(words::time()), "")
        .has("disabled_at", or_null(words::time()), "Since when nothing is posted to it.")
        .has("disabled_reason", or_null(words::text()), "")
}

fn endpoint() -> Value {
    json!({
        "id": "01a1e1a0-3c1b-7be2-a0c5-5a0c2a7b8e11", "url": "https://hooks.example/1", "name": "the web shop",
        "secrets": 1, "created_at": "2026-11-15T23:52:17.435Z", "rotated_at": null, "disabled_at": null,
        "disabled_reason": null
    })
}

impl Shape for EndpointView {
    fn schema() -> Piece {
        known(given("An endpoint, without its secrets.")).like(endpoint())
    }
}

impl Shape for EndpointGiven {
    fn schema() -> Piece {
        let mut example = endpoint();
        example["secret"] = json!("whsec_C2FtcGxlIHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVzIQ==");
        let secret = words::spelled("^whsec_[A-Za-z0-9+/=]+$");
        known(given("A secret itself: shown this once.").has("secret", secret, "")).like(example)
    }
}

impl Shape for EndpointList {
    fn schema() -> Piece {
        given("")
            .has("endpoints", list(refer::<EndpointView>()), "")
            .like(json!({ "endpoints": [endpoint()] }))
    }
}
