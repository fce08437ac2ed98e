use super::{fails, gives};

#[test]
fn numbers_of_every_kind_meet() {
    for (score, expected) in [
        ("92", "true"),
        ("92.5", "true"),
        ("18446744073709551615", "true"),
        ("79.9", "false"),
        ("8e1", "true"),
    ] {
        gives("payload >= 80", score, expected);
        gives("80.0 <= payload", score, expected);
    }
    gives("payload == 1.0 && payload == 1 && payload == 1u", "1", "true");
    gives("payload * 2 + 0.5", "92.5", "185.5");
    gives("payload - 1", "18446744073709551615", "18446744073709551614");
    gives("payload / 2", "7", "3");
    gives("payload / 2", "7.0", "3.5");
    gives("payload % 4", "-7", "-3");
    gives("-payload", "9223372036854775807", "-9223372036854775807");
}

#[test]
fn neighbours_of_2_to_the_53_stay_apart() {
    gives("payload == 9007199254740992", "9007199254740993", "false");
    gives("payload == 9007199254740993", "9007199254740993", "true");
    gives("payload > 9007199254740992.0", "9007199254740993", "true");
    gives("payload[0] == payload[1]", "[9007199254740992,9007199254740993]", "false");
    gives("{'a': payload[0]} == {'a': payload[1]}", "[9007199254740992,9007199254740993]", "false");
    gives("payload[0] in [payload[1]]", "[9007199254740992,9007199254740993]", "false");
    gives("payload", "9007199254740993", "9007199254740993");
    fails("payload + 0.5", "9007199254740993", "no exact double");
}

#[test]
fn literals_pass_through_as_written() {
    for literal in ["1.0", "1e0", "-0", "0.10", "123456789012345678901234567890", "1e400"] {
        gives("payload", literal, literal);
        gives("[payload]", literal, &format!("[{literal}]"));
        gives("canonical(payload)", literal, &format!("\"{literal}\""));
    }
}

#[test]
fn numbers_beyond_64_bits_are_recognised_but_not_computed_with() {
    let two = "[123456789012345678901234567890,123456789012345678901234567891]";
    gives("payload[0] == payload[0]", two, "true");
    gives("payload[0] == payload[1]", two, "false");
    gives("payload[0] == 5 || payload[0] == 'x'", two, "false");
    for source in
        ["payload[0] > 5", "payload[0] + 1", "-payload[0]", "payload[0] == 1.5", "string(payload[0])"]
    {
        fails(source, two, "beyond 64 bits");
    }
    for source in ["int(payload[0])", "double(payload[0])", "[1][payload[0]]"] {
        fails(source, two, "");
    }
    fails("payload[0] == payload[1]", "[1e400,10e399]", "the same literal");
}

#[test]
fn arithmetic_never_wraps() {
    fails("payload + 1", "9223372036854775807", "integer overflow");
    fails("payload - 1", "-9223372036854775808", "integer overflow");
    fails("-payload", "-9223372036854775808", "integer overflow");
    fails("payload / -1", "-9223372036854775808", "integer overflow");
    fails("payload * payload", "4611686018427387904", "integer overflow");
    fails("payload + 1", "18446744073709551615", "integer overflow");
    fails("payload / 0", "1", "division by zero");
    fails("payload % 0", "1", "division by zero");
    fails("payload / 0", "1.5", "division by zero");
    fails("payload * 1e308", "1e308", "too large");
    fails("payload % 2", "1.5", "two integers");
}

#[test]
fn missing_fields_are_named_by_path() {
    fails("payload.a.b.score >= 80", r#"{"a":{"b":{}}}"#, "no such key: payload.a.b.score");
    fails("payload.a.b", r#"{"a":3}"#, "no such key: payload.a.b, for payload.a is an int");
    fails("payload.a[2]", r#"{"a":[1]}"#, "no such element: payload.a[2]");
    fails("payload['x y']", "{}", "no such key: payload['x y']");
    fails("payload.a[-1]", r#"{"a":[1]}"#, "no such element: payload.a[-1]");
    fails("payload.list.map(f, f.name)", r#"{"list":[{}]}"#, "no such key: the element.name");
}

#[test]
fn errors_never_repeat_values() {
    let payload = r#"{"key":"s3cret","s3cret-key":{"n":1},"list":["s3cret"]}"#;
    for source in [
        "payload[payload.key]",
        "payload.list[payload.key]",
        "payload.key + 1",
        "payload.key < 1",
        "payload.key ? 1 : 2",
        "int(payload.key)",
        "double(payload.key)",
        "duration(payload.key)",
        "owner(payload.key)",
        "payload.key.all(x, x)",
        "payload.list.map(x, x.y)",
        "payload in payload",
        "has(payload.key.x)",
        "-payload.key",
        "{payload.key: 1, payload.key: 2}",
    ] {
        let error = super::eval(source, payload).expect_err(source);
        assert!(!error.contains("s3cret"), "{source} gave {error}");
    }
}

#[test]
fn has_looks_without_touching() {
    let payload = r#"{"a":{"b":null}}"#;
    gives("has(payload.a)", payload, "true");
    gives("has(payload.a.b)", payload, "true");
    gives("has(payload.x)", payload, "false");
    gives("has(payload.x) ? payload.x : '----'", payload, "\"----\"");
    fails("has(payload.x.y)", payload, "no such key: payload.x");
    fails("has(payload.a.b.c)", payload, "has() needs payload.a.b to be a map");
}

#[test]
fn a_failing_term_matters_only_if_the_other_does_not_decide() {
    gives("payload.x || true", "{}", "true");
    gives("true || payload.x", "{}", "true");
    gives("payload.x && false", "{}", "false");
    gives("'text' && false", "{}", "false");
    fails("payload.x || false", "{}", "no such key");
    fails("false || payload.x", "{}", "no such key");
    fails("payload.x && true", "{}", "no such key");
    fails("true && 'text'", "{}", "needs a bool, not a string");
    gives("true ? 1 : payload.x", "{}", "1");
    fails("payload.x ? 1 : 1", "{}", "no such key");
}

#[test]
fn equality_is_deep_and_of_any_kinds() {
    let payload = r#"{"a":{"x":[1,{"y":null}]},"b":{"x":[1.0,{"y":null}]},"c":{"x":[1]}}"#;
    gives("payload.a == payload.b", payload, "true");
    gives("payload.a != payload.c", payload, "true");
    gives("payload.a == {'x': [1, {'y': null}]}", payload, "true");
    gives("payload.a == {'x': [1, {'z': null}]}", payload, "false");
    gives("payload.a == 'a' || payload.a == null || payload.a == [payload.a]", payload, "false");
    gives("null == null && 'a' == 'a' && true != false", "{}", "true");
}

#[test]
fn order_exists_within_a_kind() {
    gives("'a' < 'b' && false < true && duration('7d') > duration('12h')", "{}", "true");
    gives("duration('1h30m') == duration('90m') && duration('1w') <= duration('7d')", "{}", "true");
    gives("duration('0s') == 0", "{}", "false");
    fails("'a' < 1", "{}", "string and int have no order");
    fails("null < null", "{}", "null and null have no order");
    fails("[1] < [2]", "{}", "list and list have no order");
}

#[test]
fn membership_is_by_equality_or_key() {
    gives("payload in ['ADD', 'MODIFY']", "\"ADD\"", "true");
    gives("payload in [1, 2.0, 'x']", "2", "true");
    gives("'a' in payload && !('b' in payload)", r#"{"a":1}"#, "true");
    fails("1 in payload", r#"{"a":1}"#, "needs a string, not an int");
    fails("'a' in payload", "\"abc\"", "`in` needs a list or a map, not a string");
}

#[test]
fn comprehensions_read_lists_and_keys() {
    let payload = r#"{"list":[{"n":1},{"n":2},{"n":3}],"map":{"b":1,"a":2}}"#;
    gives("payload.list.all(f, f.n > 0)", payload, "true");
    gives("payload.list.all(f, f.n > 1)", payload, "false");
    gives("payload.list.exists(f, f.n == 3)", payload, "true");
    gives("payload.list.exists_one(f, f.n >= 2)", payload, "false");
    gives("payload.list.exists_one(f, f.n >= 3)", payload, "true");
    gives("payload.list.map(f, f.n * 2)", payload, "[2,4,6]");
    gives("payload.list.map(f, f.n > 1, f.n)", payload, "[2,3]");
    gives("payload.list.filter(f, f.n != 2)", payload, r#"[{"n":1},{"n":3}]"#);
    gives("payload.list.filter(f, f.n > 1).map(g, g.n).size()", payload, "2");
    gives("payload.map.map(k, k + '!')", payload, r#"["a!","b!"]"#);
    gives("[].all(x, false) && ![].exists(x, true)", payload, "true");
    gives("payload.list.exists(f, f.missing || f.n == 2)", payload, "true");
    gives("payload.list.exists(f, f.n == 2 ? true : f.missing)", payload, "true");
    fails("payload.list.exists(f, f.missing)", payload, "no such key: the element.missing");
    fails("payload.list.all(f, f.n)", payload, "needs a bool");
    fails("payload.list.filter(f, f.n)", payload, "needs a bool");
    fails("payload.list[0].n.map(x, x)", payload, "payload.list[0].n is an int, not a list");
}

#[test]
fn texts_and_lists_are_joined_and_maps_made() {
    gives("payload.a + '#' + payload.b", r#"{"a":"é","b":"ü"}"#, "\"é#ü\"");
    gives("[1] + payload", "[2,3]", "[1,2,3]");
    gives("{'k': payload, 'd': duration('90s')}", "1", r#"{"d":"1m30s","k":1}"#);
    fails("{payload: 1}", "1", "a key of a map needs a string, not an int");
    fails("{'a': 1, 'a': 2}", "1", "the same key twice");
    fails("'a' + 1", "1", "`+` does not work on string and int");
    fails("!payload", "1", "needs a bool");
}
