//! Metadata that guards make reads back, however deep a worker's answer was.

use crate::support::{Story, pipeline};
use model::Event;

#[test]
fn metadata_around_the_deepest_output_reads_back() {
    let machine = pipeline(
        r#"
name = "deep"
version = 1
title = "Deep"
start = "WORK"

[states.WORK]
task = "work.do"
on.done = { to = "DONE", metadata = { all = "[[output]]" } }

[states.DONE]
final = "success"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    let token = story.claim_any();
    let deepest = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    story.finish(token, "done", &deepest).unwrap();
    let (leaf, detail) = story.events.last().unwrap().to_stored();
    let read = Event::from_stored(&leaf, &detail).unwrap();
    assert!(read.detail.metadata.unwrap().as_str().contains(&deepest));
}
