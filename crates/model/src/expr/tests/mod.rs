mod bounds;
mod functions;
mod problems;
mod properties;
mod semantics;
mod values;

use super::{Expr, Out, Problem, Scope};
use crate::json::{Json, Value};

pub(super) const NAMES: [&str; 6] = ["payload", "output", "outputs", "params", "labels", "held"];

pub(super) fn compile(source: &str) -> Expr {
    Expr::compile(source, &NAMES).unwrap_or_else(|problems| panic!("{source}: {problems:?}"))
}

pub(super) fn problems(source: &str) -> Vec<Problem> {
    Expr::compile(source, &NAMES).expect_err(source)
}

/// The result as canonical JSON, or the reason there is none without the source before it.
pub(super) fn eval(source: &str, payload: &str) -> Result<String, String> {
    let payload = Json::parse(payload).expect(payload).value();
    eval_value(source, &payload)
}

pub(super) fn eval_value(source: &str, payload: &Value) -> Result<String, String> {
    let expr = compile(source);
    match expr.eval_json(&Scope::new().with("payload", payload)) {
        Ok(value) => Ok(value.canonical()),
        Err(error) => Err(error.message.split_once("`: ").expect("the source, then the reason").1.to_owned()),
    }
}

#[track_caller]
pub(super) fn gives(source: &str, payload: &str, expected: &str) {
    assert_eq!(eval(source, payload).as_deref(), Ok(expected), "{source} on {payload}");
}

#[track_caller]
pub(super) fn fails(source: &str, payload: &str, reason: &str) {
    let error = eval(source, payload).expect_err(source);
    assert!(error.contains(reason), "{source} on {payload} failed with: {error}");
}

#[test]
fn an_expression_is_its_source() {
    let expr = compile("payload.a == 1");
    assert_eq!(expr, compile("payload.a == 1"));
    assert_ne!(expr, compile("payload.a  == 1"));
    assert_eq!(format!("{expr:?}"), "Expr(payload.a == 1)");
    assert_eq!(expr.clone().source(), "payload.a == 1");
}

#[test]
fn only_referenced_variables_are_read() {
    let expr = compile("payload.list.all(x, x.output == 'params') && held");
    assert!(expr.reads("payload") && expr.reads("held"));
    assert!(!expr.reads("output") && !expr.reads("params") && !expr.reads("x"));
}

#[test]
fn each_reader_takes_its_own_kind() {
    let payload =
        Json::parse(r#"{"s":"x","b":true,"i":7,"u":18446744073709551615,"d":7.0,"n":null}"#).unwrap().value();
    let scope = Scope::new().with("payload", &payload).with_owned("held", true);
    let bool = |source| compile(source).eval_bool(&scope).map_err(|error| error.message);
    let string = |source| compile(source).eval_string(&scope).map_err(|error| error.message);
    let int = |source| compile(source).eval_i64(&scope).map_err(|error| error.message);
    assert_eq!(bool("payload.b && held"), Ok(true));
    assert_eq!(bool("payload.i"), Err("guard `payload.i`: needs a bool, not an int".to_owned()));
    assert_eq!(string("payload.s"), Ok("x".to_owned()));
    assert_eq!(string("payload.b"), Ok("true".to_owned()));
    assert_eq!(string("payload.u"), Ok("18446744073709551615".to_owned()));
    assert!(
        string("payload.d").is_err() && string("payload.n").is_err() && string("duration('1s')").is_err()
    );
    assert_eq!(int("payload.i"), Ok(7));
    assert!(int("payload.u").is_err() && int("payload.d").is_err() && int("payload.s").is_err());
    let out = |source| compile(source).eval_out(&scope).unwrap();
    assert_eq!(out("duration('90s')"), Out::Duration("90s".parse().unwrap()));
    assert_eq!(out("payload.d"), Out::Json(Json::parse("7.0").unwrap().value()));
}

#[test]
fn a_name_without_a_value_is_an_error_only_when_it_is_needed() {
    let expr = compile("has(output.score) || true");
    assert_eq!(expr.eval_bool(&Scope::new()), Ok(true));
    let error = compile("output.score").eval_json(&Scope::new()).unwrap_err();
    assert_eq!(error.message, "guard `output.score`: output is not known here");
}
