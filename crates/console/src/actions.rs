//! Actions that a person can take on a submission, each with its form.

use serde_json::Value;
use wire::api::{ActionView, ActionsAnswer, FormView, SubmissionView, TargetView};
use wire::{Json, Refusal};

use crate::ask::Visit;
use crate::fields::Fields;

/// The actions that a reader can take on a submission, and those that they cannot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Actions {
    pub(crate) open: Vec<Action>,
    pub(crate) barred: Vec<Barred>,
    pub(crate) redrive: bool,
    pub(crate) acknowledge: bool,
    pub(crate) amend: bool,
    /// Set if the reader may take the review on, hand it over or let it go.
    pub(crate) review: bool,
    pub(crate) note: bool,
    /// The sentence about those who may act at all.
    pub(crate) only: String,
}

/// An action and its form.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    /// The name, as the pipeline has it.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The states that may be chosen, where there is a choice, and the one that is taken otherwise.
    pub(crate) to: Vec<Target>,
    pub(crate) reason: bool,
    pub(crate) data: Vec<Input>,
    /// Set if the data is asked for as a whole, with its schema to look at.
    pub(crate) document: Option<String>,
    /// The sentences about those who must agree.
    pub(crate) agree: Vec<String>,
    /// The conditions under which it goes this way or that.
    pub(crate) when: String,
    /// The letter that opens the form.
    pub(crate) key: String,
    /// Set if this is what most come for.
    pub(crate) first: bool,
    pub(crate) grave: bool,
}

/// A state that an action may lead to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) state: String,
    pub(crate) title: String,
    pub(crate) picked: bool,
}

/// An action of the state that is not for this reader, or not now.
#[derive(Debug, Clone)]
pub(crate) struct Barred {
    pub(crate) name: String,
    pub(crate) why: String,
}

/// A member of an action's data.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) kind: &'static str,
    pub(crate) required: bool,
    pub(crate) choices: Vec<String>,
}

/// Returns the actions of a submission, as the application describes them to this reader.
pub(crate) async fn actions(visit: &Visit, view: &SubmissionView) -> Actions {
    // Of one that is gone, or follows a version that is not loaded, the page still tells the rest.
    visit.app.actions(view.id).await.map(|answer| sorted(&answer, view)).unwrap_or_default()
}

fn sorted(answer: &ActionsAnswer, view: &SubmissionView) -> Actions {
    let may = |name: &str| answer.deeds.iter().any(|deed| &*deed.name == name && deed.legal);
    let mut actions = Actions {
        redrive: may("redrive"),
        acknowledge: may("acknowledge"),
        amend: may("amend"),
        review: may("review"),
        note: may("note"),
        ..Actions::default()
    };
    // Those of other states are not for now, whoever asks.
    for action in answer.actions.iter().filter(|action| view.actions.contains(&action.name)) {
        match (action.legal, action.forms.first()) {
            (true, Some(form)) => {
                let key = letter(&action.name, &actions.open);
                let first = actions.open.is_empty();
                if !form.reviewers.is_empty() {
                    actions.only = format!("Decided by {}", form.reviewers.join(", "));
                }
                actions.open.push(Action { key, first, ..described(action, form) });
            }
            _ => {
                let refusal = action.refusal.as_ref().map(|problem| problem.detail.clone());
                actions.barred.push(Barred { name: action.title.clone(), why: refusal.unwrap_or_default() });
            }
        }
    }
    actions
}

fn described(action: &ActionView, form: &FormView) -> Action {
    let schema = form.data.as_ref().map(Json::as_str);
    let inputs = schema.and_then(inputs);
    let document = schema.filter(|_| inputs.is_none()).map(str::to_owned);
    let legal: Vec<&TargetView> = form.to.iter().filter(|target| target.legal).collect();
    let target = |target: &&TargetView| Target {
        state: target.state.to_string(),
        title: target.title.clone().unwrap_or_default(),
        picked: form.pick.as_ref() == Some(&target.state),
    };
    Action {
        name: action.name.to_string(),
        title: action.title.clone(),
        to: if form.to.len() > 1 { legal.iter().map(target).collect() } else { Vec::new() },
        reason: form.reason,
        data: inputs.unwrap_or_default(),
        document,
        agree: legal.iter().filter_map(|target| form.agreement(target)).collect(),
        when: form.when.clone().unwrap_or_default(),
        key: String::new(),
        first: false,
        grave: GRAVE.iter().any(|word| action.name.contains(word)),
    }
}

/// Says who has agreed to what so far.
pub(crate) fn approvals(view: &SubmissionView) -> Vec<String> {
    let said = |given: &wire::submission::Approval| {
        format!("{} has agreed: {}, to {}", given.by, title(&given.action), given.to)
    };
    view.approvals.iter().map(said).collect()
}

/// The words in the names of actions that end something.
const GRAVE: [&str; 7] = ["reject", "cancel", "revoke", "withdraw", "abort", "remove", "refuse"];

/// Writes a name as a person would say it.
pub(crate) fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Returns the first letter of a name that no action before has, and none of the page's own keys.
fn letter(name: &str, before: &[Action]) -> String {
    let taken = |c: &char| "gjkxyznt".contains(*c) || before.iter().any(|action| action.key == c.to_string());
    name.chars().filter(char::is_ascii_lowercase).find(|c| !taken(c)).map(String::from).unwrap_or_default()
}

/// Returns the members of a document that a plain form can ask for; none where it takes more than that.
fn inputs(schema: &str) -> Option<Vec<Input>> {
    let schema: Value = serde_json::from_str(schema).ok()?;
    let members = schema.get("properties")?.as_object()?;
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let input = |(name, about): (&String, &Value)| {
        let choices = about.get("enum").and_then(Value::as_array);
        let choices: Option<Vec<String>> = choices
            .map(|list| list.iter().map(|value| value.as_str().map(str::to_owned)).collect())
            .unwrap_or(Some(Vec::new()));
        let choices = choices?;
        let kind = match about.get("type").and_then(Value::as_str) {
            Some("string") | None if !choices.is_empty() => "choice",
            Some("string")
                if about.get("maxLength").and_then(Value::as_u64).is_some_and(|max| max <= 120) =>
            {
                "line"
            }
            Some("string") => "text",
            Some("integer" | "number") => "number",
            Some("boolean") => "yes",
            _ => return None,
        };
        let said = about.get("title").and_then(Value::as_str);
        let title = said.map_or_else(|| title(name), str::to_owned);
        Some(Input { required: required.contains(&name.as_str()), name: name.clone(), title, kind, choices })
    };
    members.iter().map(input).collect()
}

/// Reads an action's data from its form: the document as it was typed, or the members one by one.
pub(crate) fn data(form: &Fields) -> Result<Option<Json>, Refusal> {
    if let Some(document) = form.get("data") {
        let read = Json::parse(document);
        return read.map(Some).map_err(|error| app::invalid(format!("the data is not strict JSON: {error}")));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    for (name, value) in form.iter() {
        let Some((kind, name)) = name.strip_prefix("data.").and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        if value.is_empty() {
            continue;
        }
        // Numbers go on as they were typed: one that is none is refused by the schema, with the value that was seen.
        let value = match kind {
            "number" if Json::parse(value).is_ok() => value.to_owned(),
            "yes" => "true".to_owned(),
            "no" => "false".to_owned(),
            _ => Value::from(value).to_string(),
        };
        // A box that is ticked comes after the "no" that stands for it: the last word counts.
        members.retain(|(other, _)| *other != name);
        members.push((name, value));
    }
    if members.is_empty() {
        return Ok(None);
    }
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name))).collect();
    let document = Json::parse(&format!("{{{}}}", members.join(",")));
    document.map(Some).map_err(|error| app::invalid(format!("the data is not strict JSON: {error}")))
}

/// Returns the fields of a payload that may be amended.
pub(crate) fn amendable(visit: &Visit, view: &SubmissionView) -> String {
    let machine = visit.app.machine(&view.pipeline, Some(view.version));
    let amend = machine.ok().and_then(|pipeline| pipeline.amend.clone());
    let fields = amend.map(|amend| amend.fields.iter().map(|field| field.to_string()).collect::<Vec<_>>());
    fields.unwrap_or_default().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_schema_is_a_form_and_any_other_a_document() {
        let plain = r#"{"type":"object","required":["note"],"properties":{"note":{"type":"string"},"risk":{"enum":["low","high"]},"score":{"type":"integer"},"urgent":{"type":"boolean"}}}"#;
        let kinds: Vec<_> = inputs(plain).unwrap().iter().map(|input| (input.kind, input.required)).collect();
        assert_eq!(kinds, [("text", true), ("choice", false), ("number", false), ("yes", false)]);
        assert!(inputs(r#"{"properties":{"list":{"type":"array"}}}"#).is_none());
        assert!(inputs("true").is_none());
    }

    #[test]
    fn data_is_read_as_it_was_typed() {
        let read = |text: &str| data(&Fields::read(text.as_bytes()));
        let form = "data.text.note=a+%22b%22&data.number.score=12345678901234567890.10&data.yes.urgent=1&data.line.empty=";
        let document = read(form).unwrap().unwrap();
        assert_eq!(document.as_str(), r#"{"note":"a \"b\"","score":12345678901234567890.10,"urgent":true}"#);
        let boxes = read("data.no.a=1&data.yes.a=1&data.no.b=1").unwrap().unwrap();
        assert_eq!(boxes.as_str(), r#"{"a":true,"b":false}"#);
        assert_eq!(read("reason=x").unwrap(), None);
        assert!(read("data=%7B").is_err());
    }
}
