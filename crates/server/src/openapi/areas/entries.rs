use model::Code;
use serde_json::{Value, json};
use wire::api::{EntryBody, EntryChangeBody, EntryPage, EntryView};

use crate::openapi::call::{Call, get, put};
use crate::openapi::shape::{Named, Shape, given, named, refer, taken};
use crate::openapi::words::{self, Piece, any, list, or_null};

const WHOSE: &str = "For the system itself inside of a server, and for admins whose token is for everything.";
const EXPECTED: &str =
    "The digest of the body that is to be replaced. Left out: there is to be no such entry yet.";
const BODY: &str = "The new body, of up to 64 KB. Left out: the entry is removed.";

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/v1/systems/{system}/entries", "list_entries", "Entries that a system keeps, by name")
            .details(WHOSE)
            .pages(words::wanted())
            .gives::<EntryPage>(200, "The entries."),
        get("/v1/systems/{system}/entries/{entry}", "show_entry", "An entry that a system keeps")
            .details(WHOSE)
            .gives::<EntryView>(200, "The entry; without digest and body where there is none."),
        put(
            "/v1/systems/{system}/entries/{entry}",
            "put_entry",
            "Change an entry, if it is what is expected",
        )
        .details(WHOSE)
        .takes::<EntryBody>()
        .gives::<EntryView>(200, "The entry as it is now.")
        .refuses(&[Code::EntryConflict]),
    ]
}

pub(super) fn shapes() -> Vec<Named> {
    vec![named::<EntryView>(), named::<EntryPage>(), named::<EntryBody>(), named::<EntryChangeBody>()]
}

impl Shape for EntryView {
    fn schema() -> Piece {
        given("")
            .has("name", words::text(), "")
            .has("digest", or_null(words::digest()), "Names this body to whoever means to replace it.")
            .has("body", any(), "")
            .like(example())
    }
}

impl Shape for EntryPage {
    fn schema() -> Piece {
        given("")
            .has("entries", list(refer::<EntryView>()), "")
            .has("next", or_null(words::text()), "What to give as `after` for the next page.")
            .like(json!({ "entries": [example()], "next": null }))
    }
}

impl Shape for EntryBody {
    fn schema() -> Piece {
        taken("")
            .may("expected", or_null(words::digest()), EXPECTED)
            .may("body", any(), BODY)
            .like(json!({ "body": { "size": 7 } }))
    }
}

impl Shape for EntryChangeBody {
    fn schema() -> Piece {
        taken("")
            .has("system", words::text(), "Whose entry it is.")
            .has("name", words::short(1, 256), "")
            .may("expected", or_null(words::digest()), EXPECTED)
            .may("body", any(), BODY)
            .like(json!({ "system": "site-list", "name": "head", "body": { "size": 7 } }))
    }
}

fn example() -> Value {
    let digest = "fMgZ4nlFZbzBBdyB5mGxEDYqHBQRfeQ3sqOOyfPOYH8";
    json!({ "name": "head", "digest": digest, "body": { "size": 7 } })
}
