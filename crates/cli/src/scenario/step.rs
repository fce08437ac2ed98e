//! A step: at most one thing that is done, and what is expected then.

use model::Code;
use model::json::Value;

use super::expect::Expectation;
use super::fields::{Field, Fields, Problems, problem};
use super::file::Samples;
use super::read_verb;
use super::step_keys::{EXPECTATIONS, Shape, VERBS, owner, shape};
use super::verbs::Verb;

#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    /// The submission it is about, by name; else the one the step before was about.
    pub(super) of: Option<String>,
    pub(super) verb: Option<Verb>,
    pub(super) refused: Option<String>,
    pub(super) expectations: Vec<Expectation>,
}

pub(super) fn read(
    mut fields: Fields<'_>,
    line: usize,
    samples: &Samples,
    problems: &mut Problems,
) -> Option<Step> {
    let at = fields.at.clone();
    let found: Vec<&str> = VERBS.iter().map(|(verb, _)| *verb).filter(|verb| fields.has(verb)).collect();
    if let [one, other, ..] = found[..] {
        let message = format!("a step does one thing, not `{one}` and `{other}`; make it two steps");
        problems.push(problem("mixed-kinds", at, message));
        return None;
    }
    let verb = found.first().copied();
    let of = fields.text("of", problems);
    let refused = refused(&mut fields, problems);
    if refused.is_some() && verb.is_none() {
        problems.push(problem("missing-key", at.clone(), "what is refused? this step does nothing"));
    }
    let expectations = expectations(&mut fields, problems);
    let verb = match verb {
        None => None,
        Some(name) => Some(read_verb::read(name, &mut fields, samples, problems)?),
    };
    if verb.is_none() && expectations.is_empty() && refused.is_none() && fields.keys().next().is_none() {
        problems.push(problem("missing-key", at, "this step does nothing and expects nothing"));
    }
    unknown(fields, verb.as_ref().map(|_| found[0]), problems);
    Some(Step { line, of, verb, refused, expectations })
}

/// The code of a refusal.
fn refused(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<String> {
    let field = fields.take("refused")?;
    let code = field.text(problems)?;
    if !Code::ALL.iter().any(|known| known.as_str() == code) {
        let message = format!("nothing is refused with the code `{code}`; docs/errors.md lists the codes");
        problems.push(problem("bad-value", field.at(), message));
    }
    Some(code)
}

fn expectations(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<Expectation> {
    let keys: Vec<&str> = fields.keys().map(|field| field.key).collect();
    let wanted = keys.into_iter().filter_map(|key| {
        let (key, shape) = shape(key)?;
        let value = expected(&fields.take(key)?, shape, problems)?;
        Some(Expectation { key, value })
    });
    wanted.collect()
}

fn expected(field: &Field<'_>, shape: Shape, problems: &mut Problems) -> Option<Value> {
    if field.key == "status" {
        let text = field.text(problems)?;
        if let Err(error) = text.parse::<model::Status>() {
            problems.push(problem("bad-value", field.at(), error));
        }
    }
    match shape {
        Shape::Text => field.text(problems).map(Value::from),
        Shape::Texts => Some(field.texts(problems)?.into_iter().map(Value::from).collect()),
        // Written in the one way spans are printed, so that `60s` is `1m`.
        Shape::Span if field.text(problems)?.is_empty() => Some(Value::from("")),
        Shape::Span => field.span(problems).map(|span| Value::from(span.to_string())),
        Shape::Whole => {
            let value = field.json(problems)?;
            if value.as_i64().is_some() { Some(value) } else { field.wrong("a whole number", problems) }
        }
        Shape::Flag => {
            let value = field.json(problems)?;
            if value.as_bool().is_some() { Some(value) } else { field.wrong("true or false", problems) }
        }
        Shape::Table => {
            let value = field.json(problems)?;
            if value.as_object().is_some() { Some(value) } else { field.wrong("a table", problems) }
        }
    }
}

/// Reports the keys that are left over: of another verb, or of none.
fn unknown(fields: Fields<'_>, verb: Option<&str>, problems: &mut Problems) {
    for field in fields.keys() {
        let mut found = match (owner(field.key), verb) {
            (Some(_), Some(verb)) => {
                problem("key-not-here", field.key_at.clone(), format!("`{verb}` has no `{}`", field.key))
            }
            (Some(owner), None) => {
                let message = format!("`{}` goes with a verb such as `{owner}`", field.key);
                problem("key-not-here", field.key_at.clone(), message)
            }
            (None, _) => {
                problem("unknown-key", field.key_at.clone(), format!("a step has no key `{}`", field.key))
            }
        };
        let verbs: Vec<&str> = VERBS.iter().map(|(verb, _)| *verb).collect();
        let expected: Vec<&str> = EXPECTATIONS.iter().map(|(key, _)| *key).collect();
        found.help = Some(match verb.and_then(|verb| VERBS.iter().find(|(known, _)| *known == verb)) {
            Some((verb, keys)) => format!(
                "beside `of`, `refused` and what is expected, `{verb}` takes {}",
                if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
            ),
            None => format!("a step does one of {}; it expects {}", verbs.join(", "), expected.join(", ")),
        });
        problems.push(found);
    }
}
