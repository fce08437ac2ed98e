use proptest::prelude::*;

use super::parse::Parser;
use super::{Json, MAX_DEPTH, MAX_NUMBER_LEN, Number, Value};

fn refusal(text: &str) -> String {
    Json::parse(text).expect_err(text).to_string()
}

fn canonical(text: &str) -> String {
    Json::parse(text).expect(text).canonical()
}

#[test]
fn text_is_kept_as_received_but_for_outer_whitespace() {
    let json = Json::parse(" \t\r\n{ \"b\" : 1.0,\n \"a\": \"\\u0041\" }\n").unwrap();
    assert_eq!(json.as_str(), "{ \"b\" : 1.0,\n \"a\": \"\\u0041\" }");
}

#[test]
fn duplicate_keys_are_refused_with_key_and_place() {
    assert_eq!(refusal(r#"{"a":1, "a":2}"#), r#"duplicate key "a" at line 1 column 9"#);
    assert_eq!(refusal(r#"{"a":1,"\u0061":2}"#), r#"duplicate key "a" at line 1 column 8"#);
    assert_eq!(
        refusal("{\"x\":[0,\n {\"y\":{\"k\\n\":1,\"k\\n\":2}}]}"),
        r#"duplicate key "k\n" in x[1].y at line 2 column 16"#
    );
}

#[test]
fn errors_count_characters_and_bytes_apart() {
    let error = Json::parse("[\"é\",\n\"é\" x]").unwrap_err();
    assert_eq!((error.offset, error.line, error.column), (12, 2, 5));
}

#[test]
fn what_json_lacks_is_refused() {
    for (text, message) in [
        ("", "expected a value, but the text ends"),
        ("  ", "expected a value, but the text ends"),
        ("NaN", "expected a value"),
        ("nul", "expected a value"),
        ("-Infinity", "expected a digit"),
        ("+1", "expected a value"),
        ("01", "a number may not start with a zero"),
        ("-01", "a number may not start with a zero"),
        ("1.", "expected a digit"),
        (".5", "expected a value"),
        ("1e", "expected a digit"),
        ("1e+", "expected a digit"),
        ("-", "expected a digit"),
        ("1 2", "unexpected text after the end of the document"),
        ("{} {}", "unexpected text after the end of the document"),
        ("[1,]", "expected a value"),
        ("[1", "expected `,` or `]`"),
        ("{\"a\":1,}", "expected a key in double quotes"),
        ("{a:1}", "expected a key in double quotes"),
        ("{\"a\" 1}", "expected `:` after a key"),
        ("{\"a\":1", "expected `,` or `}`"),
        ("\"\n\"", "a control character in a string must be escaped"),
        ("\"\u{1f}\"", "a control character in a string must be escaped"),
        ("\"", "a string is not closed"),
        ("\"\\", "unknown escape in a string"),
        ("\"\\x\"", "unknown escape in a string"),
        ("\"\\u12\"", "expected four hexadecimal digits"),
        ("\"\\u+123\"", "expected four hexadecimal digits"),
        ("\"\\u00é\"", "expected four hexadecimal digits"),
        ("\"\\ud800\"", "a lone surrogate is not a character"),
        ("\"\\udc00\\ud800\"", "a lone surrogate is not a character"),
        ("\"\\ud800\\ud800\"", "a lone surrogate is not a character"),
        ("\"\\ud800\\u0041\"", "a lone surrogate is not a character"),
        ("\u{feff}1", "expected a value"),
        ("\u{a0}1", "expected a value"),
        ("// c\n1", "expected a value"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(message), "{text:?} gave {refusal}");
    }
}

#[test]
fn invalid_utf8_is_refused_where_it_begins() {
    let error = Json::parse_bytes(b"[\n\"a\xff\"]").unwrap_err();
    assert_eq!((error.offset, error.line, error.column), (4, 2, 3));
    assert_eq!(Json::parse_bytes(b"[1]").unwrap().as_str(), "[1]");
}

#[test]
fn depth_is_bounded_at_the_limit_and_no_sooner() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(refusal(&nested(MAX_DEPTH + 1)), "nested more than 64 deep at line 1 column 65");
    assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
    assert!(Json::parse(&"{\"a\":".repeat(200_000)).is_err());
    let siblings = format!("[{}]", vec!["[[]]"; 100].join(","));
    assert!(Json::parse(&siblings).is_ok());
}

#[test]
fn values_made_in_code_may_be_deeper_than_received_ones() {
    let deep = (0..MAX_DEPTH * 2).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    assert_eq!(Json::from_value(&deep).value(), deep);
}

#[test]
fn number_literals_are_bounded() {
    let digits = "1".repeat(MAX_NUMBER_LEN);
    assert_eq!(canonical(&digits), digits);
    assert!(refusal(&(digits + "1")).starts_with("a number may have at most 1000 characters"));
}

#[test]
fn numbers_keep_their_literals() {
    for text in ["9007199254740992", "9007199254740993", "1", "1.0", "1e0", "1E+5", "-0", "0.10"] {
        assert_eq!(canonical(text), text);
        assert_eq!(Json::parse(text).unwrap().value(), Value::Number(Number::parse(text).unwrap()));
    }
    assert_ne!(Number::parse("9007199254740992").unwrap(), Number::parse("9007199254740993").unwrap());
    assert_ne!(Number::parse("1").unwrap(), Number::parse("1.0").unwrap());
    assert!(Number::parse("1 ").is_err());
}

#[test]
fn numbers_convert_only_where_nothing_is_lost() {
    let number = |text| Number::parse(text).unwrap();
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551615").as_i64(), None);
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert_eq!(number("-1").as_u64(), None);
    assert_eq!(number("1.0").as_i64(), None);
    assert_eq!(number("1.5e1").as_f64(), Some(15.0));
    assert_eq!(number("1e400").as_f64(), None);
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(Number::from_f64(1e300).unwrap().as_str(), "1e300");
}

#[test]
fn canonical_form_sorts_keys_by_code_point_and_escapes_the_least() {
    // In UTF-16 order the astral key would come before the last one of the basic plane.
    let text =
        "{\"\u{10000}\":1, \"\u{ffff}\":2, \"b\":3, \"a\":[ 1 , \"\\/\\u00e9\\u0001\\n\\\"\\\\\u{7f}\" ]}";
    assert_eq!(
        canonical(text),
        "{\"a\":[1,\"/é\\u0001\\n\\\"\\\\\u{7f}\"],\"b\":3,\"\u{ffff}\":2,\"\u{10000}\":1}"
    );
    assert_eq!(canonical(r#""\u001f\u0020\u0008\t\f\r""#), r#""\u001f \b\t\f\r""#);
    assert_eq!(canonical("\"\\ud83d\\ude00\""), "\"😀\"");
}

#[test]
fn serde_carries_the_bytes_through() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Envelope {
        payload: Json,
    }
    let text = r#"{"payload":{ "big": 123456789012345678901234567890, "x":1.0 }}"#;
    let envelope: Envelope = serde_json::from_str(text).unwrap();
    assert_eq!(envelope.payload.as_str(), r#"{ "big": 123456789012345678901234567890, "x":1.0 }"#);
    assert_eq!(serde_json::to_string(&envelope).unwrap(), text);
    let error = serde_json::from_str::<Envelope>(r#"{"payload":{"a":1,"a":2}}"#).err().unwrap();
    assert!(error.to_string().contains("duplicate key \"a\""), "{error}");
}

#[test]
fn an_object_cannot_impersonate_a_number() {
    let json = Json::parse(r#"{"$serde_json::private::Number":"1"}"#).unwrap();
    assert!(json.value().as_object().is_some());
    assert!(json.to_serde().is_object());
}

#[test]
fn schema_view_keeps_64_bit_integers_and_survives_any_size() {
    assert_eq!(Json::parse("18446744073709551615").unwrap().to_serde(), serde_json::json!(u64::MAX));
    assert_eq!(Json::parse("-9223372036854775808").unwrap().to_serde(), serde_json::json!(i64::MIN));
    assert_eq!(
        Json::parse("18446744073709551616").unwrap().to_serde(),
        serde_json::json!(1.8446744073709552e19)
    );
    assert_eq!(Json::parse("-1e999").unwrap().to_serde(), serde_json::json!(f64::MIN));
}

#[test]
fn values_are_made_from_rust_types() {
    let value: Value =
        [("n", Value::from(3u32)), ("none", Option::<bool>::None.into())].into_iter().collect();
    assert_eq!(value.get("n").and_then(Value::as_i64), Some(3));
    assert_eq!(Json::from(value).as_str(), r#"{"n":3,"none":null}"#);
    assert_eq!(Json::from(Value::from(vec!["a", "b"])).as_str(), r#"["a","b"]"#);
    assert_eq!(
        Json::from(serde_json::json!({"b": [1.5, true], "a": null})).as_str(),
        r#"{"a":null,"b":[1.5,true]}"#
    );
    assert!(Json::default().is_null());
}

fn any_serde() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            proptest::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Enough of them side by side are an object now and then, or nearly one.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    r#""a":"#,
    r#""\u0061":"#,
    r#""b":1"#,
    r#"{"a":[]}"#,
    r#""a""#,
    "null",
    " ",
    "01",
];

proptest! {
    #[test]
    fn everything_serde_prints_is_read_alike_and_canonicalises_stably(value in any_serde()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let json = Json::parse(&text).unwrap();
            prop_assert_eq!(json.as_str(), text.as_str());
            prop_assert_eq!(json.to_serde(), value.clone());
            prop_assert_eq!(json.value(), Value::from(value.clone()));
            let canonical = json.canonical();
            prop_assert_eq!(&Json::parse(&canonical).unwrap().canonical(), &canonical);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic_and_serde_agrees_on_what_it_accepts(text in "[\\[\\]{}:,\"\\\\u0-9eE.+\\-a-f \\ntrue]{0,24}") {
        if Json::parse(&text).is_ok() {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok());
        }
    }

    #[test]
    fn what_is_only_checked_is_refused_like_what_is_read(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
    ) {
        let text = pieces.concat();
        let read = Parser::new(&text, MAX_DEPTH).document::<Value>();
        match (Json::check(&text), read) {
            (Ok(outline), Ok(value)) => prop_assert_eq!(outline.has("a"), value.get("a").is_some()),
            (Err(checked), Err(read)) => prop_assert_eq!(checked.to_string(), read.to_string()),
            (checked, read) => prop_assert!(false, "{checked:?} {read:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..32)) {
        let _ = Json::parse_bytes(&bytes);
    }
}
