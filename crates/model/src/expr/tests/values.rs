//! Values that are known before there is a submission.

use super::{Json, Out, compile};

/// The values as they are told, where they are known.
fn values(source: &str) -> Option<Vec<String>> {
    let params =
        Json::parse(r#"{"delay":"7d","wrong":"soon","days":[1,2],"on":true}"#).expect("it is JSON").value();
    let told = |out: &Out| match out {
        Out::Json(value) => value.canonical(),
        Out::Duration(span) => span.to_string(),
    };
    let values = compile(source).values(&params, &["kind", "owner"])?;
    Some(values.iter().map(told).collect())
}

#[track_caller]
fn known(source: &str, expected: &[&str]) {
    assert_eq!(
        values(source).as_deref(),
        Some(&expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..]),
        "{source}"
    );
}

#[test]
fn parameters_decide_what_they_are() {
    known("1", &["1"]);
    known("params.delay", &["\"7d\""]);
    known("duration(params.delay)", &["7d"]);
    known("'at most ' + params.delay", &["\"at most 7d\""]);
    known("params.days.map(day, day * 2)", &["[2,4]"]);
}

#[test]
fn labels_decide_which_of_them() {
    known("labels.kind == 'urgent' ? duration('0s') : duration(params.delay)", &["0s", "7d"]);
    known(
        "!(labels.kind != labels.owner && params.on) ? 1 : labels.owner == params.delay ? 2 : 3",
        &["1", "2", "3"],
    );
}

#[test]
fn nothing_is_known_where_anything_may_fail_or_the_submission_decides() {
    for source in [
        "payload.delay",
        "params.on || payload.late",
        "has(payload.delay) ? payload.delay : params.delay",
        "payload.late ? 1 : 2",
        "duration(params.wrong)",
        "params.missing",
        "params.days[2]",
        "labels.kind",
        "labels.unknown == 'a' ? 1 : 2",
        "labels.kind < 'a' ? 1 : 2",
        "labels.kind == params.missing ? 1 : 2",
        "labels.kind ? 1 : 2",
        "params.delay ? 1 : 2",
        "labels.kind == 'a' ? 1 : duration(params.wrong)",
        "labels.kind == 'a' && params.delay ? 1 : 2",
    ] {
        assert_eq!(values(source), None, "{source}");
    }
}
