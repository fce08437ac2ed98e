//! A batch becomes three jobs; one of a torn batch cannot be fetched.

use client::{Failure, Outcome};
use serde_json::{Value, json};
use wire::api::ChildBody;

use super::{done, text};

const TORN: &str = "torn";

pub(super) fn expand(batch: &Value) -> Result<Outcome, Failure> {
    let last = if text(batch, "filename").contains(TORN) { "torn-sheet.checkm" } else { "sheet-3.checkm" };
    let jobs = ["sheet-1.checkm", "sheet-2.checkm", last].map(|filename| ChildBody {
        name: Some(filename.to_owned()),
        payload: json!({
            "payload_version": "1",
            "profile": batch["profile"],
            "submitter": batch["submitter"],
            "payload_type": "object_manifest",
            "filename": filename,
            "space_needed": 0,
        })
        .into(),
        ..ChildBody::default()
    });
    Ok(Outcome::sealed().children(jobs))
}

pub(super) fn download(job: &Value) -> Result<Outcome, Failure> {
    let file = text(job, "filename");
    if file.contains(TORN) {
        return Err(Failure::new("http-404", format!("{file} names a file that is not there")).permanent());
    }
    done("done", json!({ "space_needed": 4096 }))
}
