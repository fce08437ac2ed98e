//! Duplicates: the same payload, another one, and what the pipeline says of each.

use crate::support::{Story, admin, pipeline};
use model::decide::Answer;
use model::pipeline::OnDuplicate;
use model::{Code, Refusal};

/// A machine that says this of duplicates.
fn machine(says: &str) -> model::Pipeline {
    pipeline(&format!(
        r#"
name = "orders"
version = 1
key = "payload.id"
{says}
amend = {{ fields = ["pages"], role = "submitter" }}
start = "DOING"
[states.DOING]
task = "orders.do"
on.done = "DONE"
[states.DONE]
final = "success"
"#
    ))
}

const FIRST: &str = r#"{"id":"a","pages":3}"#;
const OTHER: &str = r#"{"id":"a","pages":4}"#;

fn again(says: &str, payload: &str) -> Result<Answer, Refusal> {
    Story::submitted(machine(says), FIRST).submit(admin(), payload)
}

#[test]
fn another_payload_under_a_taken_key_is_a_conflict_unless_declared_otherwise() {
    for says in ["", "on_duplicate = 'return'", "on_duplicate = { same = 'return', differs = 'reject' }"] {
        assert_eq!(again(says, FIRST).unwrap(), Answer::Duplicate);
        assert_eq!(again(says, OTHER).unwrap_err().code, Code::KeyConflict, "{says}");
    }
    let any = "on_duplicate = { same = 'return', differs = 'return' }";
    assert_eq!(again(any, FIRST).unwrap(), Answer::Duplicate);
    assert_eq!(again(any, OTHER).unwrap(), Answer::Duplicate);
    for says in ["on_duplicate = 'reject'", "on_duplicate = { same = 'reject', differs = 'reject' }"] {
        for payload in [FIRST, OTHER] {
            assert_eq!(again(says, payload).unwrap_err().code, Code::DuplicateKey);
        }
    }
}

#[test]
fn a_conflict_names_the_open_one_and_the_way_out() {
    let mut story = Story::submitted(machine(""), FIRST);
    let id = story.row().id.to_string();
    let refusal = story.submit(admin(), OTHER).unwrap_err();
    assert_eq!(refusal.details["submission"], id.as_str());
    let expected = format!(
        "submission {id} has this key with another payload and is still open; amend that one, or wait until it has ended"
    );
    assert_eq!(refusal.message, expected);
}

#[test]
fn how_a_payload_is_spelled_makes_no_difference() {
    for same in
        [" {\n \"pages\": 3, \"id\": \"a\" }", r#"{"\u0069d":"\u0061","pages":3}"#, r#"{"pages":3,"id":"a"}"#]
    {
        assert_eq!(again("", same).unwrap(), Answer::Duplicate, "{same}");
    }
    for other in
        [r#"{"id":"a","pages":3.0}"#, r#"{"id":"a","pages":"3"}"#, r#"{"id":"a","pages":3,"x":null}"#]
    {
        assert_eq!(again("", other).unwrap_err().code, Code::KeyConflict, "{other}");
    }
}

#[test]
fn it_is_compared_with_what_the_open_one_was_amended_to() {
    let mut story = Story::submitted(machine(""), FIRST);
    story.amend(r#"{"pages":4}"#).unwrap();
    assert_eq!(story.submit(admin(), OTHER).unwrap(), Answer::Duplicate);
    assert_eq!(story.submit(admin(), FIRST).unwrap_err().code, Code::KeyConflict);
}

#[test]
fn only_what_needs_it_is_compared() {
    let compares = |says: &str| machine(says).on_duplicate.compares();
    assert!(compares("") && compares("on_duplicate = 'return'"));
    assert!(!compares("on_duplicate = 'reject'") && !compares("on_duplicate = 'queue'"));
    assert!(!compares("on_duplicate = { same = 'return', differs = 'return' }"));
    let queue = machine("on_duplicate = { same = 'queue', differs = 'queue' }").on_duplicate;
    assert_eq!(queue, OnDuplicate::Queue);
}
