//! Forms that were refused: what was typed is never lost.

use askama::Template;
use wire::refusal::Class;
use wire::{Refusal, api};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;

/// Fields that nobody types, which go along unseen.
const UNSEEN: &[&str] =
    &["action", "revision", "back", "q", "deed", "submission", "selected", "role", "dry_run", "step"];

struct Field {
    name: String,
    label: String,
    value: String,
    is_unseen: bool,
}

#[derive(Template)]
#[template(path = "again.html")]
struct Again<'a> {
    title: &'a str,
    message: &'a str,
    code: &'a str,
    to: String,
    back: &'a str,
    fields: Vec<Field>,
    may_help: bool,
}

impl Visit {
    /// Shows what was refused, and the form as it was sent, to be put right and sent again.
    pub(crate) fn again(&self, refusal: &Refusal, back: &str) -> Result<Answer, Refusal> {
        let form = self.ask.form();
        let field = |(name, value): (&str, &str)| Field {
            label: label(name),
            is_unseen: UNSEEN.contains(&name) || name.starts_with("map."),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let page = Again {
            title: refusal.code.title(),
            message: &refusal.message,
            code: refusal.code.as_str(),
            to: self.ask.uri.path().to_owned(),
            back,
            fields: form.iter().map(field).collect(),
            may_help: refusal.code.class() != Class::Forbidden,
        };
        let status = api::Problem::from(refusal).status;
        self.show(Sheet::new("Not done").status(status), &page)
    }

    /// Goes back where something was done; where it was refused, shows the form again.
    pub(crate) fn told<T>(
        &self,
        done: Result<T, Refusal>,
        back: &str,
        word: &str,
    ) -> Result<Answer, Refusal> {
        match done {
            Ok(_) => Ok(Answer::to(with_word(back, word))),
            Err(refusal) => self.again(&refusal, back),
        }
    }
}

fn with_word(back: &str, word: &str) -> String {
    let sign = if back.contains('?') { '&' } else { '?' };
    format!("{back}{sign}done={word}")
}

fn label(name: &str) -> String {
    let name = name.strip_prefix("data.").unwrap_or(name).replace('_', " ");
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
