//! Reads what a step does, and how.

use std::collections::BTreeMap;

use model::command::ReviewStep;
use model::json::Value;
use model::{Caller, Json, Name, Role};

use super::fields::{Fields, Problems, problem};
use super::file::Samples;
use super::verbs::{Act, Answer, Child, Claim, Fail, Hold, Submit, Verb};

/// Reads the verb `name`, which the step has, and the keys that belong to it.
pub(super) fn read(
    name: &str,
    fields: &mut Fields<'_>,
    samples: &Samples,
    problems: &mut Problems,
) -> Option<Verb> {
    Some(match name {
        "submit" => Verb::Submit(Box::new(submit(fields, samples, problems)?)),
        "claim" => Verb::Claim(Claim {
            task: fields.text("claim", problems)?.into(),
            name: fields.text("as", problems),
            labels: words(fields, "where", problems),
            max: whole(fields, "max", problems).unwrap_or(1),
        }),
        "answer" => Verb::Answer(Box::new(Answer {
            outcome: fields.text("answer", problems)?.into(),
            output: json(fields, "output", problems),
            result: json(fields, "result", problems),
            children: children(fields, "children", samples, problems),
            lease: fields.text("lease", problems),
        })),
        "spawn" => Verb::Spawn {
            children: children(fields, "spawn", samples, problems),
            lease: fields.text("lease", problems),
        },
        "fail" => Verb::Fail(Fail {
            code: fields.text("fail", problems)?.into(),
            message: fields.text("message", problems).unwrap_or_else(|| "it did not work".to_owned()),
            retryable: fields.flag("retryable", problems).unwrap_or(true),
            times: whole(fields, "times", problems).unwrap_or(1),
            lease: fields.text("lease", problems),
        }),
        "snooze" => {
            Verb::Snooze { span: fields.span("snooze", problems)?, lease: fields.text("lease", problems) }
        }
        "give_back" => {
            affirmed(fields, "give_back", problems);
            Verb::GiveBack { lease: fields.text("lease", problems) }
        }
        "renew" => {
            affirmed(fields, "renew", problems);
            Verb::Renew { lease: fields.text("lease", problems) }
        }
        "crash" => {
            affirmed(fields, "crash", problems);
            Verb::Crash { times: whole(fields, "times", problems).unwrap_or(1) }
        }
        "stall" => {
            affirmed(fields, "stall", problems);
            Verb::Stall
        }
        "act" => Verb::Act(Box::new(Act {
            action: fields.text("act", problems)?.into(),
            caller: caller(fields, Role::Admin, problems),
            reason: fields.text("reason", problems),
            data: json(fields, "data", problems),
            to: fields.text("to", problems).map(Name::from),
        })),
        "amend" => Verb::Amend {
            patch: json(fields, "amend", problems)?,
            caller: caller(fields, Role::Submitter, problems),
        },
        "redrive" => {
            affirmed(fields, "redrive", problems);
            Verb::Redrive {
                caller: caller(fields, Role::Admin, problems),
                reason: fields.text("reason", problems),
            }
        }
        "acknowledge" => {
            affirmed(fields, "acknowledge", problems);
            Verb::Acknowledge {
                caller: caller(fields, Role::Admin, problems),
                note: fields.text("note", problems),
            }
        }
        "claim_review" => {
            affirmed(fields, "claim_review", problems);
            let span = fields.span("for", problems);
            Verb::Review {
                caller: caller(fields, Role::Reviewer, problems),
                step: ReviewStep::Claim { span },
            }
        }
        "hand_over" => {
            let to = fields.text("hand_over", problems)?.into();
            let span = fields.span("for", problems);
            let step = ReviewStep::HandOver { to, span };
            Verb::Review { caller: caller(fields, Role::Reviewer, problems), step }
        }
        "release_review" => {
            affirmed(fields, "release_review", problems);
            Verb::Review { caller: caller(fields, Role::Reviewer, problems), step: ReviewStep::Release }
        }
        "write_note" => Verb::Note {
            text: fields.text("write_note", problems)?,
            caller: caller(fields, Role::Reviewer, problems),
        },
        "hold" => Verb::Hold(Box::new(hold(fields, problems)?)),
        "release" => Verb::Release(release(fields, problems)),
        _ => Verb::Pass(fields.span("pass", problems)?),
    })
}

fn submit(fields: &mut Fields<'_>, samples: &Samples, problems: &mut Problems) -> Option<Submit> {
    Some(Submit {
        payload: payload(fields, "submit", samples, problems)?,
        pipeline: fields.text("pipeline", problems),
        name: fields.text("as", problems),
        caller: caller(fields, Role::Submitter, problems),
        reason: fields.text("reason", problems),
        key: fields.text("key", problems),
        priority: fields.whole("set_priority", problems),
        not_before: fields.span("not_before", problems),
        by_form: fields.flag("form", problems).unwrap_or_default(),
    })
}

/// A payload as it is written, or a sample by its name; then what `with` changes about it.
fn payload(fields: &mut Fields<'_>, key: &str, samples: &Samples, problems: &mut Problems) -> Option<Json> {
    let field = fields.take(key)?;
    let mut payload = field.json(problems)?;
    if let Some(name) = payload.as_str() {
        let Some(sample) = samples.get(name) else {
            let known: Vec<&str> = samples.keys().map(String::as_str).collect();
            let mut found = problem("bad-value", field.at(), format!("there is no sample `{name}`"));
            found.help = Some(match known.is_empty() {
                true => format!("there are no samples: write `[samples.{name}]`, or the payload itself"),
                false => format!("`[samples]` has {}", known.join(", ")),
            });
            problems.push(found);
            return None;
        };
        payload = sample.clone();
    }
    if let Some(changes) = fields.take("with") {
        match (&mut payload, changes.json(problems)?) {
            (Value::Object(members), Value::Object(changes)) => members.extend(changes),
            _ => return changes.wrong("a table of the payload's members to set", problems),
        }
    }
    Some(Json::from_value(&payload))
}

fn children(fields: &mut Fields<'_>, key: &str, samples: &Samples, problems: &mut Problems) -> Vec<Child> {
    let Some(list) = fields.take(key).and_then(|field| field.list(problems)) else { return Vec::new() };
    let children = list.into_iter().filter_map(|value| {
        let mut fields = Fields::inside(value, "a child", problems)?;
        let name = fields.text("as", problems);
        let payload = payload(&mut fields, "submit", samples, problems);
        fields.end("a child", &["as", "submit", "with"], problems);
        match (name, payload) {
            (Some(name), Some(payload)) => Some(Child { name, payload }),
            _ => {
                problems.push(problem(
                    "missing-key",
                    value.span(),
                    "a child has a name `as` and a payload `submit`",
                ));
                None
            }
        }
    });
    children.collect()
}

fn caller(fields: &mut Fields<'_>, usual: Role, problems: &mut Problems) -> Caller {
    let role = fields.parsed("role", problems).unwrap_or(usual);
    Caller::new(fields.text("by", problems).unwrap_or_else(|| role.to_string()), role)
}

fn hold(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Hold> {
    let name = fields.text("as", problems);
    let field = fields.take("hold")?;
    let mut inner = Fields::inside(field.value, "a hold", problems)?;
    let hold = Hold {
        name,
        pipeline: inner.text("pipeline", problems).map(Name::from),
        labels: words(&mut inner, "labels", problems),
        lane: inner.text("lane", problems).map(Name::from),
        submission: inner.text("submission", problems),
        reason: inner.text("reason", problems).unwrap_or_else(|| "a scenario".to_owned()),
        lasts: inner.span("lasts", problems),
    };
    inner.end("a hold", &["pipeline", "labels", "lane", "submission", "reason", "lasts"], problems);
    Some(hold)
}

/// The name of a hold, or `true` for the last one.
fn release(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<String> {
    let field = fields.take("release")?;
    match field.json(problems)? {
        Value::Bool(true) => None,
        Value::String(name) => Some(name.to_string()),
        _ => field.wrong("true or the name of a hold", problems),
    }
}

fn words(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> BTreeMap<Name, Name> {
    let Some(field) = fields.take(key) else { return BTreeMap::new() };
    let Some(Value::Object(members)) = field.json(problems) else {
        return field.wrong("a table of texts", problems).unwrap_or_default();
    };
    let words: Option<BTreeMap<_, _>> = members
        .iter()
        .map(|(name, value)| Some((Name::from(name.as_str()), value.as_str()?.into())))
        .collect();
    words.unwrap_or_else(|| field.wrong("a table of texts", problems).unwrap_or_default())
}

fn json(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<Json> {
    fields.json(key, problems).map(|value| Json::from_value(&value))
}

fn whole<T: TryFrom<i64>>(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<T> {
    let at = fields.keys().find(|field| field.key == key).map(|field| field.at())?;
    let number = fields.whole(key, problems)?;
    match T::try_from(number) {
        Ok(number) => Some(number),
        Err(_) => {
            problems.push(problem("bad-value", at, format!("`{key}` is a number of times")));
            None
        }
    }
}

/// A verb that needs no more than to be there.
fn affirmed(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) {
    let at = fields.keys().find(|field| field.key == key).map(|field| field.at()).unwrap_or(0..0);
    if fields.flag(key, problems) == Some(false) {
        problems.push(problem("bad-value", at, format!("write `{key} = true`, or leave the step out")));
    }
}
