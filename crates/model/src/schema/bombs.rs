//! Schemas and documents made to take long.

use std::thread;

use super::*;

fn check(schema: &str, document: &str, mut fuel: Fuel) -> Result<(), Misfit> {
    let document = Json::parse(document).expect("the test's JSON is well formed");
    Schema::compile(schema).expect(schema).check(&document, &mut fuel)
}

/// Makes this many levels, each of which is two times the next.
fn levels(count: usize, keyword: &str, leaf: &str, draft: &str) -> String {
    let mut defs: Vec<String> = (0..count)
        .map(|level| {
            let next = level + 1;
            let part = format!(r##"{{"$ref":"#/definitions/l{next}"}}"##);
            format!(r#""l{level}":{{"{keyword}":[{part},{part}]}}"#)
        })
        .collect();
    defs.push(format!(r#""l{count}":{leaf}"#));
    let defs = defs.join(",");
    format!(r##"{{"$schema":"{draft}","allOf":[{{"$ref":"#/definitions/l0"}}],"definitions":{{{defs}}}}}"##)
}

const NEWEST: &str = "https://json-schema.org/draft/2020-12/schema";
const DRAFTS: [&str; 4] = [
    NEWEST,
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
];

#[test]
fn nested_alternatives_are_given_up() {
    for draft in DRAFTS {
        for count in [22, 40] {
            let schema = levels(count, "anyOf", r#"{"type":"string"}"#, draft);
            for document in [r#"{"a":1}"#, "1"] {
                assert_eq!(check(&schema, document, Fuel::shared()), Err(Misfit::TooComplex), "{draft}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_told_as_far_as_there_is_time() {
    let schema = levels(14, "anyOf", r#"{"type":"string"}"#, NEWEST);
    assert_eq!(check(&schema, "1", Fuel::shared()), Err(Misfit::Violations(vec![Violation::untold()])));
    assert_eq!(check(&schema, "1", Fuel::little()), Err(Misfit::TooComplex));
    assert_eq!(check(&schema, r#""fits""#, Fuel::little()), Ok(()));
}

#[test]
fn parts_that_look_at_nothing_are_counted_too() {
    let draft = NEWEST;
    for (keyword, leaf) in [("allOf", "{}"), ("anyOf", r#"{"not":{}}"#), ("oneOf", r#"{"title":"t"}"#)] {
        let schema = levels(40, keyword, leaf, draft);
        assert_eq!(check(&schema, "1", Fuel::shared()), Err(Misfit::TooComplex), "{keyword}");
    }
    for leaf in ["true", "false"] {
        let schema = levels(40, if leaf == "true" { "allOf" } else { "anyOf" }, leaf, draft);
        assert_eq!(check(&schema, "1", Fuel::shared()), Err(Misfit::TooComplex), "{leaf}");
    }
}

#[test]
fn parts_at_unusual_places_are_counted() {
    let schema = levels(40, "allOf", "true", NEWEST).replace("definitions", "x-parts");
    assert_eq!(check(&schema, "1", Fuel::shared()), Err(Misfit::TooComplex));
    let inner = levels(40, "allOf", "true", NEWEST).replace("definitions", "x~1p%20s");
    let inner = inner.replace("\"x~1p%20s\":", "\"x/p s\":");
    assert_eq!(check(&inner, "1", Fuel::shared()), Err(Misfit::TooComplex));
    let resource = format!(
        r#"{{"$ref":"http://a.example/b","$defs":{{"r":{}}}}}"#,
        levels(40, "allOf", "true", NEWEST).replace("definitions", "x-parts").replacen(
            '{',
            r#"{"$id":"http://a.example/b","#,
            1
        )
    );
    assert_eq!(check(&resource, "1", Fuel::shared()), Err(Misfit::TooComplex));
}

#[test]
fn nothing_of_the_counting_is_seen() {
    let text = r#"{"properties":{"type":{"not":{"minimum":3}}},"unevaluatedProperties":false}"#;
    let schema = Schema::compile(text).unwrap();
    assert_eq!(schema.source(), text);
    for (document, fits) in [(r#"{"type":2}"#, true), (r#"{"type":4}"#, false), (r#"{"b":1}"#, false)] {
        let found = check(text, document, Fuel::little());
        assert_eq!(found.is_ok(), fits, "{document}");
        if let Err(Misfit::Violations(found)) = found {
            assert!(found.iter().all(|violation| !violation.message.contains("boolean")), "{found:?}");
        }
    }
    assert_eq!(check(r#"{"enum":[{"items":{}}]}"#, r#"{"items":{}}"#, Fuel::little()), Ok(()));
    assert_eq!(check(r#"{"prefixItems":[{"const":{}}]}"#, "[{}]", Fuel::little()), Ok(()));
}

#[test]
fn keywords_that_take_long_are_charged_for_it() {
    let numbers = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("[{}]", numbers(100_000));
    assert_eq!(check(r#"{"uniqueItems":true}"#, &many, Fuel::little()), Err(Misfit::TooComplex));
    assert_eq!(check(r#"{"uniqueItems":true}"#, &many, Fuel::shared()), Ok(()));
    let enumerated = format!(r#"{{"contains":{{"enum":[{}]}}}}"#, numbers(20_000));
    assert_eq!(check(&enumerated, "[19999]", Fuel::shared()), Ok(()));
    let misses = format!("[{}]", vec!["0.5"; 100].join(","));
    assert_eq!(check(&enumerated, &misses, Fuel::shared()), Err(Misfit::TooComplex));
    let patterns: Vec<String> = (0..2_000).map(|n| format!(r#""^{n}$":true"#)).collect();
    let patterns = format!(r#"{{"patternProperties":{{{}}}}}"#, patterns.join(","));
    let names: Vec<String> = (0..1_000).map(|n| format!(r#""n{n}":1"#)).collect();
    let names = format!("{{{}}}", names.join(","));
    assert_eq!(check(&patterns, &names, Fuel::shared()), Err(Misfit::TooComplex));
    let long = format!("\"{}\"", "01".repeat(500_000));
    assert_eq!(check(r#"{"pattern":"^[01]+$"}"#, &long, Fuel::shared()), Ok(()));
    assert_eq!(check(r#"{"pattern":"^[01]*1[01]{5000}$"}"#, &long, Fuel::shared()), Err(Misfit::TooComplex));
    let lists = format!(r#"{{"allOf":[{}]}}"#, vec!["true"; 200].join(","));
    assert!(Schema::compile(&lists).is_err());
}

#[test]
fn a_long_chain_of_references_ends() {
    let parts: Vec<String> =
        (0..5_000).map(|n| format!(r##""d{n}":{{"$ref":"#/$defs/d{}"}}"##, n + 1)).collect();
    let text =
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d5000":{{"type":"null"}}}}}}"##, parts.join(","));
    let small = thread::Builder::new().stack_size(2 << 20);
    let answer = small.spawn(move || match Schema::compile(&text) {
        Ok(schema) => schema.check(&Json::null(), &mut Fuel::whole()).is_ok(),
        Err(_) => true,
    });
    assert!(answer.unwrap().join().unwrap());
}
