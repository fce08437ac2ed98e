//! The labels, the key and the seat that a pipeline derives from a payload.

use std::collections::BTreeMap;

use crate::Name;
use crate::admit::{KEY_BYTES_MAX, guard_refusal};
use crate::expr::{Expr, Scope};
use crate::json::Value;
use crate::pipeline::Pipeline;
use crate::refusal::{Code, Refusal};
use crate::submission::Seat;

/// The properties that a payload gives its submission.
pub(crate) struct Derived {
    pub(crate) labels: BTreeMap<Name, Name>,
    pub(crate) key: Option<Name>,
    pub(crate) seat: Option<Seat>,
}

pub(crate) fn derive(pipeline: &Pipeline, payload: &Value, given: Option<&str>) -> Result<Derived, Refusal> {
    let own = || payload;
    let mut derived = Derivation::new(pipeline, &own);
    let labels = derived.labels()?;
    Ok(Derived { labels, key: derived.key(given)?, seat: derived.seat()? })
}

/// The evaluation of what a pipeline makes of a payload.
pub(crate) struct Derivation<'a> {
    pipeline: &'a Pipeline,
    /// Read where an expression asks for something of it.
    payload: &'a dyn Fn() -> &'a Value,
    labels: Value,
}

impl<'a> Derivation<'a> {
    pub(crate) fn new(pipeline: &'a Pipeline, payload: &'a dyn Fn() -> &'a Value) -> Self {
        Derivation { pipeline, payload, labels: Value::Object(BTreeMap::new()) }
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope::new()
            .with("payload", (self.payload)())
            .with("params", &self.pipeline.params)
            .with("labels", &self.labels)
    }

    fn text(&self, expr: &Expr) -> Result<String, Refusal> {
        expr.eval_string(&self.scope()).map_err(|error| guard_refusal(&error))
    }

    /// Null says that the submission has none.
    fn optional_text(&self, expr: &Expr) -> Result<Option<String>, Refusal> {
        expr.eval_optional_string(&self.scope()).map_err(|error| guard_refusal(&error))
    }

    pub(crate) fn labels(&mut self) -> Result<BTreeMap<Name, Name>, Refusal> {
        let mut labels = BTreeMap::new();
        let mut values = BTreeMap::new();
        for (name, expr) in &self.pipeline.labels {
            let text = self.text(expr)?;
            check_word(&format!("label `{name}`"), &text)?;
            values.insert(name.to_string(), Value::from(text.as_str()));
            labels.insert(name.clone(), text.into());
        }
        self.labels = Value::Object(values);
        Ok(labels)
    }

    pub(crate) fn key(&self, given: Option<&str>) -> Result<Option<Name>, Refusal> {
        let key = match (&self.pipeline.key, given) {
            (None, given) => given.map(str::to_owned),
            (Some(expr), given) => {
                let derived = self.optional_text(expr)?;
                if given.is_some_and(|given| Some(given) != derived.as_deref()) {
                    return Err(Refusal::new(
                        Code::KeyMismatch,
                        format!(
                            "pipeline `{}` derives another key, or none; leave `key` out",
                            self.pipeline.name
                        ),
                    ));
                }
                derived
            }
        };
        if let Some(key) = &key {
            check_word("the key", key)?;
        }
        Ok(key.map(Name::from))
    }

    pub(crate) fn seat(&self) -> Result<Option<Seat>, Refusal> {
        let Some(lane) = &self.pipeline.lane else { return Ok(None) };
        let Some(key) = self.optional_text(&lane.key)? else { return Ok(None) };
        check_word("the lane", &key)?;
        let tie = match &lane.tie {
            Some(tie) => self.text(tie)?,
            None => String::new(),
        };
        if tie.len() > KEY_BYTES_MAX {
            return Err(Refusal::new(
                Code::TooLarge,
                format!("the lane's tie is over {KEY_BYTES_MAX} bytes"),
            ));
        }
        Ok(Some(Seat::new(key, tie)))
    }
}

/// A key or label: short enough to index, long enough to say something.
fn check_word(what: &str, word: &str) -> Result<(), Refusal> {
    if word.len() > KEY_BYTES_MAX {
        return Err(Refusal::new(Code::TooLarge, format!("{what} is over {KEY_BYTES_MAX} bytes")));
    }
    if word.is_empty() || word.contains('\0') {
        return Err(Refusal::new(Code::InvalidRequest, format!("{what} is empty or holds a NUL")));
    }
    Ok(())
}
