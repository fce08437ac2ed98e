use super::super::{Expr, Problem};
use super::problems;

/// Each problem as `what is under the caret: message`.
fn shown(source: &str) -> Vec<String> {
    problems(source)
        .iter()
        .map(|Problem { message, span }| format!("{}: {message}", &source[span.clone()]))
        .collect()
}

#[track_caller]
fn finds(source: &str, expected: &str) {
    let shown = shown(source);
    assert!(shown.iter().any(|problem| problem.starts_with(expected)), "{source} gave {shown:?}");
}

#[test]
fn unknown_names_are_pointed_at_with_a_suggestion() {
    finds("paylaod.x == 1", "paylaod: unknown name `paylaod`; did you mean `payload`?");
    finds("payload.list.all(item, itme.x)", "itme: unknown name `itme`; did you mean `item`?");
    finds("zzzzzz", "zzzzzz: unknown name `zzzzzz`; known here: payload, output");
    finds("payload.list.all(x, true) && x", "x: unknown name `x`");
    finds("now() > 1", "now: unknown function `now`");
    assert_eq!(Expr::compile("a + b", &["a", "b"]).map(|expr| expr.reads("b")), Ok(true));
}

#[test]
fn unknown_functions_are_pointed_at_with_a_suggestion() {
    finds("sise(payload)", "sise: unknown function `sise`; did you mean `size`?");
    finds(
        "payload.x.startswith('a')",
        "startswith: unknown function `startswith`; did you mean `startsWith`?",
    );
    finds("timestamp('2026-01-01T00:00:00Z')", "timestamp: unknown function `timestamp`; there are size, ");
    finds("payload.getFullYear()", "getFullYear: unknown function");
    finds("type(payload)", "type: unknown function");
    finds("bytes('a')", "bytes: unknown function");
}

#[test]
fn calls_of_the_wrong_form_say_the_right_one() {
    finds("payload.lower()", "lower: `lower` is called like lower(value)");
    finds("contains('a', 'b')", "contains: `contains` is called like text.contains(part)");
    finds("size()", "size: `size` is called like size(value)");
    finds("payload.contains()", "contains: `contains` is called like");
    finds("payload.all(payload)", "all: `all` is called like list.all(x, condition)");
    finds("payload.matches()", "matches: `matches` is called like text.matches('pattern')");
    finds("has(payload)", "payload: invalid argument to has() macro");
    finds("payload.all(1, true)", "1: argument must be a simple name");
}

#[test]
fn every_problem_is_reported() {
    let all = shown("foo + bar(1) + payload.x.baz('a') + {'k': qux}.k + [quux][0]");
    let places: Vec<&str> = all.iter().map(|problem| problem.split(':').next().unwrap()).collect();
    assert_eq!(places, ["foo", "bar", "baz", "qux", "quux"]);
}

#[test]
fn spans_are_bytes_between_characters() {
    finds("'é' + foo + 'é'", "foo: unknown name");
    finds("// é\n  'é' + foo // trailing", "foo: unknown name");
    let problem = &problems("'é' + foo")[0];
    assert_eq!(problem.span, 7..10);
}

#[test]
fn syntax_errors_are_located() {
    finds("payload.x ==", ": mismatched input 'the end' expecting expression");
    finds("payload.x = 1", "=");
    finds("(payload.x", ": expected ')'");
    finds("payload.x &&& true", "&");
    finds("99999999999999999999", "99999999999999999999: invalid int literal");
    finds("'abc", "");
    finds("payload.é", "");
    finds("é", "");
    finds("if", "if: reserved identifier");
    finds("payload.?x", ".: unsupported syntax '.?'");
    finds("", ": the expression is empty");
    finds(" \n", " \n: the expression is empty");
}

#[test]
fn what_has_no_json_is_refused() {
    finds("b'abc'", "b'abc': bytes are not used here");
    finds("Thing{a: 1}", "Thing: typed messages are not used here");
    finds(".payload", ".: unknown name `.payload`; did you mean `payload`?");
}

#[test]
fn an_element_may_not_hide_a_name() {
    finds("payload.list.all(params, params.x)", "all: `params` is already a name here");
}
