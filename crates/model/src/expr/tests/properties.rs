use proptest::prelude::*;

use super::super::{Expr, Scope};
use super::{NAMES, compile};
use crate::json::{Number, Value};

/// Every operator and function, on values of whatever kind comes.
const SOURCES: [&str; 24] = [
    "payload.a == output.b || payload.a < output.b",
    "payload.a + output.b",
    "payload - output",
    "payload * output",
    "payload / output",
    "payload % output",
    "-payload",
    "!payload",
    "payload < output || payload > output || payload == output",
    "payload in output",
    "payload.a.b.c",
    "payload['a'][0]",
    "has(payload.a) && has(payload.a.b)",
    "payload.all(x, x == output)",
    "payload.map(x, x + output)",
    "payload.filter(x, x != null).map(y, string(y))",
    "payload.exists_one(x, x < output)",
    "size(payload) + size(output)",
    "[string(payload), int(output), double(payload)]",
    "[owner(payload), lower(payload), sha256(payload), canonical(payload), duration(payload)]",
    "canonical({'a': payload, 'b': [output]})",
    "payload.contains(output) || payload.startsWith(output) || payload.endsWith(output)",
    "payload.matches('^[a-z]{1,3}$')",
    "payload ? output : payload",
];

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-3..3i64).prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        Just(Number::parse("123456789012345678901234567890").unwrap()),
        Just(Number::parse("1e999").unwrap()),
        Just(Number::parse("-0").unwrap()),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number().prop_map(Value::from),
        "[a-c]{0,3}|\\PC{0,4}|7d|https://h/o/r".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map("[abc]", inner, 0..4).prop_map(Value::Object),
        ]
    })
}

proptest! {
    #[test]
    fn evaluation_is_total_and_repeatable(payload in any_value(), output in any_value(), which in 0..SOURCES.len()) {
        let expr = compile(SOURCES[which]);
        let scope = Scope::new().with("payload", &payload).with("output", &output);
        let result = expr.eval_out(&scope);
        prop_assert_eq!(&result, &expr.eval_out(&scope));
        if let Err(error) = result {
            prop_assert!(!error.message.contains("fault of the evaluator"), "{}", error);
            prop_assert!(error.message.chars().count() <= 500);
        }
        let _ = (expr.eval_bool(&scope), expr.eval_string(&scope), expr.eval_i64(&scope));
    }

    #[test]
    fn a_value_equals_itself_and_passes_through_unchanged(payload in any_value()) {
        let scope = Scope::new().with("payload", &payload);
        prop_assert_eq!(compile("payload == payload").eval_bool(&scope), Ok(true));
        prop_assert_eq!(compile("[payload][0]").eval_json(&scope), Ok(payload.clone()));
        prop_assert_eq!(compile("canonical(payload)").eval_string(&scope), Ok(payload.canonical()));
    }

    #[test]
    fn comparison_of_integers_is_that_of_mathematics(a in any::<i64>(), b in any::<u64>()) {
        let scope = Scope::new().with_owned("payload", a).with_owned("output", b);
        prop_assert_eq!(compile("payload < output").eval_bool(&scope), Ok(i128::from(a) < i128::from(b)));
        prop_assert_eq!(compile("payload == output").eval_bool(&scope), Ok(i128::from(a) == i128::from(b)));
    }

    #[test]
    fn any_source_compiles_or_is_explained(source in "[a-z(){}\\[\\].,:?!&|<>=+*/%'\"\\\\ \\-0-9é]{0,40}|(payload|\\.all\\(x,|\\)|\\+|\\[|\\]| in |1|'a'|has\\(|\\.b){1,12}") {
        match Expr::compile(&source, &NAMES) {
            Ok(expr) => drop(expr.eval_out(&Scope::new().with_owned("payload", vec![1, 2]))),
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(source.get(problem.span.clone()).is_some(), "{:?}", problem);
                }
            }
        }
    }
}
