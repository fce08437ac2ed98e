//! The published suites of JSON parsing, category by category, against the strict parser.
//!
//! The cases are our own; the categories and the three expectations (accept, refuse, either) are those of JSONTestSuite.
//! Every case goes through each way in: checked only, read from bytes, read through `serde`.

mod accepted;
mod either;
mod refused;

use std::collections::BTreeSet;

use accepted::ACCEPTED;
use either::{DEPTH, EITHER, LENGTH, STRICTER};
use model::json::{Json, MAX_DEPTH, MAX_NUMBER_LEN};
use refused::REFUSED;
use serde_json::value::RawValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ours {
    Accepts,
    Refuses,
}

/// Returns the reason for a refusal, the same by every way in.
#[track_caller]
fn refusal(name: &str, bytes: &[u8]) -> String {
    let error = Json::check_bytes(bytes).expect_err(name);
    assert!(error.offset <= bytes.len() && error.line > 0 && error.column > 0, "{name}: {error:?}");
    assert_eq!(Json::parse_bytes(bytes).expect_err(name), error, "{name}");
    error.message
}

#[track_caller]
fn accept(name: &str, bytes: &[u8]) {
    if let Err(error) = Json::check_bytes(bytes) {
        panic!("{name}: {error}");
    }
    let json = Json::parse_bytes(bytes).expect(name);
    assert_eq!(json.as_str().as_bytes(), bytes.trim_ascii(), "{name}: kept as it came");
    let canonical = json.canonical();
    let again = Json::parse(&canonical).expect(name);
    assert_eq!(again.value(), json.value(), "{name}: the canonical form says the same");
    assert_eq!(again.canonical(), canonical, "{name}: the canonical form is one");
    serde_json::from_slice::<&RawValue>(bytes).unwrap_or_else(|error| panic!("{name}: serde says {error}"));
    let carried: Json = serde_json::from_slice(bytes).expect(name);
    assert_eq!(carried, json, "{name}: carried by serde");
}

/// Returns the cases that are too long to be written out.
fn made() -> Vec<(&'static str, String, Ours, &'static str)> {
    let arrays = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    vec![
        ("depth/arrays_at_the_limit", arrays(MAX_DEPTH), Ours::Accepts, DEPTH),
        ("depth/objects_at_the_limit", objects(MAX_DEPTH), Ours::Accepts, DEPTH),
        ("depth/arrays_over_the_limit", arrays(MAX_DEPTH + 1), Ours::Refuses, DEPTH),
        ("depth/objects_over_the_limit", objects(MAX_DEPTH + 1), Ours::Refuses, DEPTH),
        ("depth/500_arrays", arrays(500), Ours::Refuses, DEPTH),
        ("depth/100000_opening_arrays", "[".repeat(100_000), Ours::Refuses, DEPTH),
        ("depth/50000_open_arrays_and_objects", "[{\"\":".repeat(50_000), Ours::Refuses, DEPTH),
        ("depth/many_side_by_side", format!("[{}[]]", "[[]],".repeat(10_000)), Ours::Accepts, DEPTH),
        ("length/number_at_the_limit", "1".repeat(MAX_NUMBER_LEN), Ours::Accepts, LENGTH),
        ("length/number_over_the_limit", "1".repeat(MAX_NUMBER_LEN + 1), Ours::Refuses, LENGTH),
        (
            "length/fraction_over_the_limit",
            format!("0.{}", "1".repeat(MAX_NUMBER_LEN)),
            Ours::Refuses,
            LENGTH,
        ),
        (
            "length/exponent_over_the_limit",
            format!("1e{}", "9".repeat(MAX_NUMBER_LEN)),
            Ours::Refuses,
            LENGTH,
        ),
        ("length/long_string", format!("\"{}\"", "a".repeat(1 << 20)), Ours::Accepts, LENGTH),
        ("length/long_key", format!("{{\"{}\":1}}", "k".repeat(1 << 20)), Ours::Accepts, LENGTH),
        ("length/much_whitespace", format!("{}1", " \n\t\r".repeat(1 << 18)), Ours::Accepts, LENGTH),
        ("length/many_escapes", format!("\"{}\"", "\\u0041".repeat(1 << 16)), Ours::Accepts, LENGTH),
    ]
}

#[test]
fn what_is_valid_is_read() {
    for (name, bytes) in ACCEPTED {
        accept(name, bytes);
    }
}

#[test]
fn what_is_invalid_is_refused_for_its_reason() {
    for (name, bytes, reason) in REFUSED {
        let refusal = refusal(name, bytes);
        assert!(refusal.starts_with(reason), "{name}: {refusal}");
        assert!(serde_json::from_slice::<Json>(bytes).is_err(), "{name}: carried by serde");
    }
}

#[test]
fn what_is_left_to_parsers_is_as_the_table_says() {
    for (name, bytes, ours, why) in EITHER {
        assert!(!why.is_empty(), "{name}");
        match ours {
            Ours::Accepts => accept(name, bytes),
            Ours::Refuses => drop(refusal(name, bytes)),
        }
    }
}

#[test]
fn what_is_valid_and_refused_is_an_exception_with_a_reason() {
    for (name, bytes, why) in STRICTER {
        assert!(refusal(name, bytes).starts_with("duplicate key"), "{name}");
        assert!(serde_json::from_slice::<&RawValue>(bytes).is_ok(), "{name} is valid elsewhere");
        assert!(serde_json::from_slice::<Json>(bytes).is_err(), "{name}: carried by serde");
        assert!(!why.is_empty(), "{name}");
    }
}

#[test]
fn bounds_hold_at_the_limit_and_no_sooner() {
    for (name, text, ours, _) in made() {
        match ours {
            Ours::Accepts => accept(name, text.as_bytes()),
            Ours::Refuses => {
                let refusal = refusal(name, text.as_bytes());
                let bound = if name.starts_with("depth/") {
                    "nested more than 64 deep"
                } else {
                    "a number may have at most"
                };
                assert!(refusal.starts_with(bound), "{name}: {refusal}");
            }
        }
    }
}

#[test]
fn every_category_is_there_and_every_name_once() {
    let made = made();
    let accepted = ACCEPTED.iter().map(|(name, _)| *name);
    let refused = REFUSED.iter().map(|(name, ..)| *name);
    let either = EITHER.iter().map(|(name, ..)| *name);
    let stricter = STRICTER.iter().map(|(name, ..)| *name);
    for (expectation, names, categories) in [
        ("accepted", accepted.clone().collect::<Vec<_>>(), "array number object string structure word"),
        ("refused", refused.clone().collect(), "array number object string structure word"),
        ("either", either.clone().collect(), "encoding number string structure"),
    ] {
        let found: BTreeSet<&str> = names.iter().filter_map(|name| name.split('/').next()).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>().join(" "), categories, "{expectation}");
    }
    let names: Vec<String> = accepted
        .map(|name| format!("y {name}"))
        .chain(refused.map(|name| format!("n {name}")))
        .chain(either.map(|name| format!("i {name}")))
        .chain(stricter.map(|name| format!("s {name}")))
        .chain(made.iter().map(|(name, ..)| format!("m {name}")))
        .collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name stands twice");
    assert!(names.len() > 400, "{} cases", names.len());
}
