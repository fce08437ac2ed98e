//! Actions that a person can take on a submission, each with its form.

use model::pipeline::Edge;
use serde_json::Value;
use wire::api::SubmissionView;
use wire::{Json, Name, Refusal, Role, Status};

use crate::ask::Visit;
use crate::fields::Fields;

/// An action and its form.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    /// The name, as the pipeline has it.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The states that may be chosen, where there is a choice.
    pub(crate) to: Vec<String>,
    pub(crate) reason: bool,
    pub(crate) data: Vec<Input>,
    /// Set if the data is asked for as a whole, with its schema to look at.
    pub(crate) document: Option<String>,
    /// The sentence about those who must agree.
    pub(crate) agree: String,
    /// The letter that opens the form.
    pub(crate) key: String,
    /// Set if this is what most come for.
    pub(crate) first: bool,
    pub(crate) grave: bool,
}

/// An action that is there and not for this reader.
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

/// Sorts the actions of a submission's state into those for this reader, and those that are not.
pub(crate) fn actions(visit: &Visit, view: &SubmissionView) -> (Vec<Action>, Vec<Barred>) {
    let Ok(pipeline) = visit.app.machine(&view.pipeline, Some(view.version)) else { return <_>::default() };
    let Some(state) = pipeline.state(&view.state) else { return <_>::default() };
    let role = visit.app.visitor().caller.role;
    let (mut open, mut barred): (Vec<Action>, Vec<Barred>) = <_>::default();
    for name in &view.actions {
        let Some(edge) = state.action(name).and_then(|action| action.edges.first()) else { continue };
        let wanted = state.role_of(edge);
        if role.covers(wanted) {
            let mut action = describe(name, edge, view);
            action.key = letter(name, &open);
            action.first = open.is_empty();
            open.push(action);
        } else {
            let why = format!("takes the role {wanted}; yours is {role}");
            barred.push(Barred { name: title(name), why });
        }
    }
    (open, barred)
}

fn describe(name: &Name, edge: &Edge, view: &SubmissionView) -> Action {
    let to: Vec<String> =
        edge.to.iter().flat_map(|choice| choice.states()).map(|state| state.to_string()).collect();
    let inputs = edge.data.as_ref().and_then(|schema| inputs(schema.source()));
    let document = edge.data.as_ref().filter(|_| inputs.is_none()).map(|schema| schema.source().to_owned());
    Action {
        name: name.to_string(),
        title: title(name),
        to: if to.len() > 1 { to } else { Vec::new() },
        reason: edge.reason,
        data: inputs.unwrap_or_default(),
        document,
        agree: agree(name, edge.approvals, view),
        key: String::new(),
        first: false,
        grave: ["reject", "cancel", "revoke", "withdraw", "abort", "remove"]
            .iter()
            .any(|word| name.contains(word)),
    }
}

fn agree(name: &Name, wanted: u32, view: &SubmissionView) -> String {
    if wanted < 2 {
        return String::new();
    }
    let by: Vec<&str> =
        view.approvals.iter().filter(|given| given.action == *name).map(|given| &*given.by).collect();
    let who = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    format!("{} of {wanted} have agreed{who}", by.len())
}

/// Writes a name as a person would say it.
pub(crate) fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Returns the first letter of a name that no action before has, and none of the page's own keys.
fn letter(name: &str, before: &[Action]) -> String {
    let taken = |c: &char| "gjkxz".contains(*c) || before.iter().any(|action| action.key == c.to_string());
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
    let mut members = Vec::new();
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
            _ => Value::from(value).to_string(),
        };
        members.push(format!("{}:{value}", Value::from(name)));
    }
    if members.is_empty() {
        return Ok(None);
    }
    let document = Json::parse(&format!("{{{}}}", members.join(",")));
    document.map(Some).map_err(|error| app::invalid(format!("the data is not strict JSON: {error}")))
}

/// Tells whether a reader may say that somebody looked into an end.
pub(crate) fn may_acknowledge(visit: &Visit, view: &SubmissionView) -> bool {
    let open = view.investigation.as_ref().is_some_and(|known| *known == wire::Investigation::Open);
    let machine = visit.app.machine(&view.pipeline, Some(view.version));
    let role =
        machine.ok().and_then(|pipeline| pipeline.state(&view.state)?.investigate()).unwrap_or(Role::Admin);
    open && visit.app.visitor().caller.role.covers(role)
}

/// Tells whether a reader may set a dead letter going again.
pub(crate) fn may_redrive(visit: &Visit, view: &SubmissionView) -> bool {
    view.status == Status::Dead && visit.app.visitor().caller.role == Role::Admin
}

/// Returns the fields of a payload that may be amended, where this reader may.
pub(crate) fn amendable(visit: &Visit, view: &SubmissionView) -> Option<String> {
    let pipeline = visit.app.machine(&view.pipeline, Some(view.version)).ok()?;
    let amend = pipeline.amend.as_ref().filter(|amend| visit.app.visitor().caller.role.covers(amend.role))?;
    let fields: Vec<&str> = amend.fields.iter().map(|field| &**field).collect();
    (view.status == Status::Open).then(|| fields.join(", "))
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
        assert_eq!(read("reason=x").unwrap(), None);
        assert!(read("data=%7B").is_err());
    }
}
