//! Dead letters that nobody hears of.

use client::Client;
use toml::Table;
use wire::api::PipelineView;

use super::Check;

/// Warns of pipelines that would tell somebody, if a parameter of theirs said whom.
pub(crate) async fn operators(client: &Client) -> Option<Check> {
    let list = client.pipelines().await.ok()?;
    let mut silent = Vec::new();
    for pipeline in &list.pipelines {
        let file: Table = client.pipeline_toml(&pipeline.name).await.ok()?.parse().ok()?;
        silent.extend(unset(&file, pipeline).map(|parameter| (pipeline.name.to_string(), parameter)));
    }
    let (pipeline, parameter) = silent.first()?;
    let names: Vec<&str> = silent.iter().map(|(name, _)| name.as_str()).collect();
    Some(Check::warning(
        "operators",
        format!("nobody is told of the dead letters of {}", names.join(", ")),
        format!("set `{parameter}` in `[params.{pipeline}]` to a mail address"),
    ))
}

/// Returns the parameter by which a pipeline would tell somebody by mail, where it names nobody.
fn unset(file: &Table, view: &PipelineView) -> Option<String> {
    let targets = file.get("notify")?.as_table()?;
    let addresses = targets.values().filter_map(|target| target.get("mail")?.as_str());
    let mut parameters = addresses.filter_map(|address| address.strip_prefix("params."));
    let in_force = view.definitions.iter().find(|definition| definition.version == view.in_force);
    let set = in_force.map(|definition| &definition.params);
    let is_empty = |name: &&str| {
        let set = set.and_then(|params| params.get(*name)).map(|value| value.as_str() == "\"\"");
        let default = || file.get("params")?.get(name)?.as_str().map(str::is_empty);
        set.or_else(default).unwrap_or(false)
    };
    parameters.find(is_empty).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn view(params: serde_json::Value) -> PipelineView {
        let definition = json!({ "version": 1, "digest": "A".repeat(43), "params": params });
        let view = json!({ "name": "a", "title": "A", "version": 1, "in_force": 1, "versions": [1],
            "definitions": [definition], "digest": "A".repeat(43), "states": [] });
        serde_json::from_value(view).expect("this is a pipeline")
    }

    #[test]
    fn a_parameter_that_names_nobody_is_found() {
        let file: Table = "[params]\noperator = ''\n[notify.author]\nmail = 'payload.email'\n[notify.operator]\nmail = 'params.operator'\n"
            .parse()
            .expect("this is TOML");
        assert_eq!(unset(&file, &view(json!({}))).as_deref(), Some("operator"));
        assert_eq!(unset(&file, &view(json!({ "operator": "ops@example.com" }))), None);
        let named: Table = file
            .to_string()
            .replace("operator = \"\"", "operator = \"ops@example.com\"")
            .parse()
            .expect("TOML");
        assert_eq!(unset(&named, &view(json!({}))), None);
        assert_eq!(unset(&Table::new(), &view(json!({}))), None);
    }
}
