//! CEL's conformance suite, section by section, against the evaluator.
//!
//! The cases are our own; the sections are those of the suite that CEL publishes (`tests/simple`). A section either has
//! cases or is listed as absent with its reason. A case in which ours differs says what CEL gives and why.

mod absent;
mod relations;
mod texts;
mod values;

use std::collections::BTreeSet;

use absent::ABSENT;
use model::Json;
use model::expr::{Expr, Scope};

struct Case {
    source: &'static str,
    ours: Ours,
    /// The result that CEL specifies, and the reason for another one, where ours differs.
    differs: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
enum Ours {
    /// A value, as canonical JSON.
    Gives(&'static str),
    /// An evaluation that ends with a reason which contains this.
    Fails(&'static str),
    /// A source that is refused with a problem which contains this.
    Refuses(&'static str),
}

const fn gives(source: &'static str, json: &'static str) -> Case {
    Case { source, ours: Ours::Gives(json), differs: None }
}

const fn fails(source: &'static str, reason: &'static str) -> Case {
    Case { source, ours: Ours::Fails(reason), differs: None }
}

const fn refused(source: &'static str, problem: &'static str) -> Case {
    Case { source, ours: Ours::Refuses(problem), differs: None }
}

const fn differs(source: &'static str, ours: Case, cel: &'static str, why: &'static str) -> Case {
    Case { source, ours: ours.ours, differs: Some((cel, why)) }
}

/// The files of the published suite. One more holds only cases that its own authors know to be broken.
const SECTIONS: [&str; 30] = [
    "basic",
    "bindings_ext",
    "block_ext",
    "comparisons",
    "conversions",
    "dynamic",
    "encoders_ext",
    "enums",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "macros2",
    "math_ext",
    "namespace",
    "network_ext",
    "optionals",
    "parse",
    "plumbing",
    "proto2",
    "proto2_ext",
    "proto3",
    "string",
    "string_ext",
    "timestamps",
    "type_deduction",
    "unknowns",
    "wrappers",
];

const RUN: [(&str, &[Case]); 15] = [
    ("basic", values::BASIC),
    ("comparisons", relations::COMPARISONS),
    ("conversions", values::CONVERSIONS),
    ("dynamic", relations::DYNAMIC),
    ("fields", relations::FIELDS),
    ("fp_math", values::FP_MATH),
    ("integer_math", values::INTEGER_MATH),
    ("lists", relations::LISTS),
    ("logic", relations::LOGIC),
    ("macros", relations::MACROS),
    ("namespace", texts::NAMESPACE),
    ("parse", texts::PARSE),
    ("plumbing", texts::PLUMBING),
    ("string", texts::STRING),
    ("timestamps", texts::TIMESTAMPS),
];

const NAMES: [&str; 9] = ["payload", "a", "d", "m", "n", "s", "x", "xs", "u"];

const PAYLOAD: &str = r#"{
    "int": 5, "decimal": 2.50, "text": "héllo", "flag": true, "nothing": null, "list": [1, {"k": "v"}, {"l": 2}],
    "deep": {"a": {"b": 42}}, "big": 123456789012345678901234567890, "max": 18446744073709551615,
    "chain": {"c": {"c": {"c": {"c": {"c": {"c": {"c": {"c": {"c": {"c": {"c": 12}}}}}}}}}}}
}"#;

fn evaluate(source: &str) -> Result<Result<String, String>, String> {
    let json = |text: &str| Json::parse(text).expect(text).value();
    let scope = Scope::new()
        .with_owned("payload", json(PAYLOAD))
        .with_owned("a", json("[0]"))
        .with_owned("d", json("2.5"))
        .with_owned("m", json(r#"{"a": 1, "b": 2, "c d": 3}"#))
        .with_owned("n", json("null"))
        .with_owned("s", json("\"milepost\""))
        .with_owned("x", json("7"))
        .with_owned("xs", json("[1, 2, 3]"))
        .with_owned("u", json("18446744073709551615"));
    let expr = Expr::compile(source, &NAMES).map_err(|problems| {
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    })?;
    Ok(expr.eval_json(&scope).map(|value| value.canonical()).map_err(|error| error.message))
}

/// Returns the way in which a case is not as the table says.
fn fault(case: &Case) -> Option<String> {
    let found = evaluate(case.source);
    let as_said = match (&found, case.ours) {
        (Ok(Ok(value)), Ours::Gives(expected)) => value == expected,
        // A fault of the evaluator is never what the table means.
        (Ok(Err(reason)), Ours::Fails(expected)) => {
            reason.contains(expected) && !reason.contains("a fault of the evaluator")
        }
        (Err(problems), Ours::Refuses(expected)) => problems.contains(expected),
        _ => false,
    };
    (!as_said).then(|| format!("{} gave {found:?}", case.source))
}

#[test]
fn every_case_is_as_the_table_says() {
    let mut faults = Vec::new();
    for (section, cases) in RUN {
        faults.extend(cases.iter().filter_map(fault).map(|fault| format!("{section}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_section_is_run_or_absent_with_a_reason() {
    let mut known: Vec<&str> = RUN.iter().map(|(section, _)| *section).collect();
    known.extend(ABSENT.iter().map(|absent| absent.section));
    known.sort_unstable();
    assert_eq!(known, SECTIONS, "each once");
    assert!(RUN.iter().all(|(_, cases)| !cases.is_empty()));
    assert!(ABSENT.iter().all(|absent| !absent.why.is_empty()));
}

#[test]
fn what_is_absent_is_refused_before_it_is_evaluated() {
    let mut faults = Vec::new();
    for absent in ABSENT {
        for (source, problem) in absent.refused {
            let case = refused(source, problem);
            faults.extend(fault(&case).map(|fault| format!("{}: {fault}", absent.section)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_difference_says_what_cel_gives_and_why() {
    let cases = || RUN.iter().flat_map(|(_, cases)| cases.iter());
    for case in cases() {
        if let Some((cel, why)) = case.differs {
            assert!(!cel.is_empty() && !why.is_empty(), "{}", case.source);
        }
    }
    for (section, cases) in RUN {
        let sources: BTreeSet<&str> = cases.iter().map(|case| case.source).collect();
        assert_eq!(sources.len(), cases.len(), "{section} has a case twice");
    }
    let evaluated = cases().filter(|case| !matches!(case.ours, Ours::Refuses(_))).count();
    assert!(evaluated >= 300, "{evaluated} are evaluated");
}
