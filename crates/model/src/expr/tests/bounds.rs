use super::super::{Expr, GuardError, MAX_LIST_LEN, MAX_SOURCE_LEN, MAX_STRING_LEN, Scope};
use super::{NAMES, compile, eval_value, gives, problems};
use crate::json::Value;

#[track_caller]
fn refused(source: &str, reason: &str) {
    let problems = problems(source);
    assert!(problems.iter().any(|problem| problem.message.contains(reason)), "{problems:?}");
}

fn numbers(count: usize) -> Value {
    (0..count).collect()
}

#[test]
fn sources_are_bounded() {
    let source = |len: usize| format!("'{}'", "a".repeat(len - 2));
    compile(&source(MAX_SOURCE_LEN));
    refused(&source(MAX_SOURCE_LEN + 1), "at most 4096 bytes");
}

#[test]
fn depth_is_bounded_however_it_is_reached() {
    let deep = "nested more than 32 deep";
    compile(&format!("{}1{}", "[".repeat(31), "]".repeat(31)));
    refused(&format!("{}1{}", "[".repeat(32), "]".repeat(32)), deep);
    compile(&format!("payload{}", ".a".repeat(31)));
    refused(&format!("payload{}", ".a".repeat(32)), deep);
    refused(&format!("payload{}", ".a".repeat(2_000)), deep);
    refused(&format!("payload{}", "[0]".repeat(1_300)), deep);
    refused(&format!("1{}", "+1".repeat(2_000)), deep);
    refused(&format!("{}1", "true?1:".repeat(500)), deep);
    refused(&format!("{}true", "-!".repeat(2_000)), deep);
    refused(&format!("payload{}", ".f()".repeat(1_000)), deep);
    refused(&format!("{}1{}", "size(".repeat(500), ")".repeat(500)), deep);
    refused(&format!("{}1{}", "{'a':".repeat(500), "}".repeat(500)), deep);
}

#[test]
fn long_flat_conditions_are_not_deep() {
    let source = vec!["payload == 1"; 250].join(" || ");
    gives(&source, "1", "true");
}

#[test]
fn hostile_sources_neither_hang_nor_crash() {
    for source in [
        "(".repeat(4_000),
        "((".repeat(1_000) + "1" + &"))".repeat(1_000),
        "-".repeat(4_000),
        "!".repeat(4_000),
        "-".repeat(4_000) + "1",
        "[".repeat(4_000),
        "{".repeat(4_000),
        "{1:".repeat(1_300),
        "?".repeat(4_000),
        "1?".repeat(2_000),
        "(([{".repeat(1_000),
        "a.all(x,".repeat(500),
        "payload.map(x,".repeat(30) + "1" + &")".repeat(30),
        "\u{10ffff}".repeat(1_000),
        "'".repeat(4_000),
        "\\".repeat(4_000),
        "\"\"\"".repeat(1_300),
        "payload in ".repeat(300) + "payload",
        "\u{0}".repeat(4_000),
        "`".repeat(4_000),
    ] {
        let compiled = Expr::compile(&source, &NAMES);
        if let Err(problems) = &compiled {
            assert!(!problems.is_empty() && problems.len() <= 20);
            assert!(problems.iter().all(|problem| source.get(problem.span.clone()).is_some()));
        }
        if let Ok(expr) = compiled {
            let _ = expr.eval_json(&Scope::new());
        }
    }
}

#[test]
fn comprehensions_do_not_nest_but_may_follow_one_another() {
    let nested = "cannot be used inside one another";
    refused("payload.all(x, payload.all(y, x == y))", nested);
    refused("payload.map(x, x.map(y, y))", nested);
    refused("payload.filter(x, [x].exists(y, y))", nested);
    gives("payload.filter(x, x > 1).map(y, y + 1)", "[1,2,3]", "[3,4]");
}

#[test]
fn iterated_and_made_lists_are_bounded() {
    let reason = "at most 1000 elements";
    let (full, over) = (numbers(MAX_LIST_LEN), numbers(MAX_LIST_LEN + 1));
    assert_eq!(eval_value("payload.all(x, x >= 0)", &full).as_deref(), Ok("true"));
    for source in ["payload.all(x, true)", "payload.map(x, x)", "payload.exists_one(x, true)", "payload + []"]
    {
        assert!(eval_value(source, &over).expect_err(source).contains(reason), "{source}");
    }
    assert!(eval_value("payload.map(x, 1) + [1]", &full).unwrap_err().contains(reason));
    assert_eq!(eval_value("size(payload) == 1001 && 7 in payload", &over).as_deref(), Ok("true"));
    let map: Value = (0..=MAX_LIST_LEN).map(|key| (key.to_string(), key)).collect();
    assert!(eval_value("payload.all(k, true)", &map).unwrap_err().contains(reason));
    refused(&format!("[{}1]", "1,".repeat(MAX_LIST_LEN)), reason);
}

#[test]
fn made_strings_are_bounded() {
    let reason = "at most 65536 bytes";
    let half = Value::from("a".repeat(MAX_STRING_LEN / 2));
    assert_eq!(eval_value("size(payload + payload)", &half).as_deref(), Ok("65536"));
    assert!(eval_value("size(payload + payload + 'a')", &half).unwrap_err().contains(reason));
    let long = Value::from("A".repeat(MAX_STRING_LEN + 1));
    for source in ["lower(payload)", "canonical(payload)"] {
        assert!(eval_value(source, &long).expect_err(source).contains(reason), "{source}");
    }
    assert!(eval_value("payload.matches('a')", &long).unwrap_err().contains(reason));
    assert_eq!(eval_value("size(sha256(payload))", &long).as_deref(), Ok("64"));
}

#[test]
fn work_is_bounded_and_cannot_be_excused() {
    let big: Value =
        [("list", numbers(MAX_LIST_LEN)), ("blob", "x".repeat(1 << 20).into())].into_iter().collect();
    for source in [
        "payload.list.all(x, payload.list == payload.list)",
        "payload.list.map(x, payload)",
        "payload.list.map(x, payload.blob.contains('y'))",
        "payload.list.map(x, sha256(payload.blob))",
        "payload.list.exists(x, -1 in payload.list)",
        "payload.list.exists(x, size(payload.list + []) == 0)",
        "payload.list.exists(x, size(payload.blob) == x) || true",
        "true || payload.list.exists(x, size(payload.blob) == x)",
    ] {
        match eval_value(source, &big) {
            Err(error) => {
                assert!(error.contains("too much work") || error.contains("at most"), "{source}: {error}")
            }
            Ok(_) => assert!(source.starts_with("true ||"), "{source} was let through"),
        }
    }
}

#[test]
fn a_large_payload_costs_nothing_where_it_is_not_read() {
    let big: Value = [("score", Value::from(92)), ("list", numbers(300_000))].into_iter().collect();
    assert_eq!(eval_value("payload.score >= 80", &big).as_deref(), Ok("true"));
}

#[test]
fn a_megabyte_passes_through_and_a_copy_of_everything_does_not() {
    let megabyte = numbers(100_000);
    assert!(eval_value("payload", &megabyte).is_ok());
    let all = numbers(300_000);
    assert!(eval_value("payload", &all).unwrap_err().contains("too much work"));
}

#[test]
fn patterns_are_bounded_and_literal() {
    refused("payload.matches(params.pattern)", "must be written out as a string");
    refused(&format!("payload.matches('{}')", "a".repeat(257)), "at most 256 bytes");
    refused("payload.matches('((a{50}){50}){50}')", "repeats too much");
    refused("payload.matches('(')", "not a valid pattern");
    let words: Value = (0..MAX_LIST_LEN).map(|_| "word").collect();
    assert_eq!(eval_value("payload.all(w, w.matches('^[a-z]+$'))", &words).as_deref(), Ok("true"));
    let long: Value = (0..100).map(|_| "a".repeat(20_000)).collect();
    assert!(eval_value("payload.all(w, !w.matches('^b'))", &long).unwrap_err().contains("too much work"));
}

#[test]
fn errors_are_short() {
    let source = format!("payload.x == '{}'", "é".repeat(2_000));
    let error = compile(&source).eval_bool(&Scope::new().with_owned("payload", 1)).unwrap_err();
    assert!(error.message.chars().count() <= GuardError::MAX_LEN, "{}", error.message.len());
    assert!(error.message.ends_with("no such key: payload.x, for payload is an int"), "{error}");
    let source = format!("payload['{}']", "k".repeat(3_000));
    let error =
        compile(&source).eval_bool(&Scope::new().with_owned("payload", Value::Object(Default::default())));
    assert_eq!(error.unwrap_err().message.chars().count(), GuardError::MAX_LEN);
}
