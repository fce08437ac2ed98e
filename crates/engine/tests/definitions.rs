//! The order in which definitions come into force: new versions, older ones again, and parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Machine, memory};
use audit::leaf::{Entry, Record};
use engine::core::{Ask, Asker, Input, Output, applied_series};
use engine::pipelines::{Apply, Brought, Intent};
use engine::{Engine, Options};
use model::command::Migrate;
use model::json::Value;
use model::pipeline::Source;
use model::{Caller, Code, Command, Pipeline, Refusal, Role};
use store::Store;

const GATE: &str = r#"
name = "gate"
version = 1
start = [{ to = "HIGH", when = "payload.n > params.bar" }, "LOW"]

[params]
bar = 10
label = "plain"

[states.HIGH]
review = "reviewer"
actions.look = [{ to = "DONE", when = "payload.n > params.bar" }, "LOW"]

[states.LOW]
final = "failure"

[states.DONE]
final = "success"
"#;

fn gate(version: u32) -> Arc<Pipeline> {
    let toml = GATE.replace("version = 1", &format!("version = {version}"));
    Arc::new(model::pipeline::load(&Source::new("gate.toml", toml)).unwrap())
}

fn apply(pipeline: Arc<Pipeline>, intent: Intent, params: &[(&str, Value)]) -> Ask {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Ask::Apply(Box::new(Apply { pipeline, params, intent }))
}

fn brought(machine: &mut Machine, ask: impl Into<Input>) -> Result<Brought, Refusal> {
    machine.one(ask).map(|output| match output {
        Output::Applied(brought) => *brought,
        other => panic!("{other:?}"),
    })
}

fn label(machine: &Machine) -> String {
    machine.pipelines.current().in_force("gate").unwrap().label()
}

/// Between the look at a version and the commit, somebody may have set its parameters.
#[test]
fn a_migration_goes_by_the_newest_revision_of_its_target() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[]);
    brought(&mut machine, apply(gate(1), Intent::Forward, &[])).unwrap();
    let seen = brought(&mut machine, apply(gate(2), Intent::Forward, &[])).unwrap().pipeline;
    brought(&mut machine, apply(gate(1), Intent::Rollback, &[])).unwrap();
    let id = machine.submit_to("gate", r#"{"n":20}"#);
    let set = apply(gate(2), Intent::Forward, &[("bar", Value::from(15))]);
    let revised = brought(&mut machine, set).unwrap().pipeline;
    assert_ne!(seen.digest, revised.digest);
    let caller = Caller { name: "ada".into(), role: Role::Admin };
    let migrate = Migrate { caller, target: seen, map: BTreeMap::new(), reason: None };
    machine.one(Ask::Tell(id, Command::Migrate(migrate))).unwrap();
    let history = store.history(id, 0, 10).unwrap();
    assert_eq!(history.last().unwrap().event.leaf.definition, revised.digest);
}

#[test]
fn an_older_version_comes_back_only_by_a_rollback() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[]);
    let forward = |version| apply(gate(version), Intent::Forward, &[]);
    brought(&mut machine, forward(1)).unwrap();
    brought(&mut machine, forward(2)).unwrap();
    for intent in [Intent::Forward, Intent::Start] {
        let refusal = brought(&mut machine, apply(gate(1), intent, &[])).unwrap_err();
        assert_eq!((refusal.code, label(&machine).as_str()), (Code::VersionOutdated, "gate@2"));
        assert!(refusal.message.contains("version 2 of `gate` is in force"), "{}", refusal.message);
    }
    let unknown = brought(&mut machine, apply(gate(7), Intent::Rollback, &[])).unwrap_err();
    assert_eq!(unknown.code, Code::UnknownVersion);

    let ada = Asker::owner(Caller::new("ada", Role::Admin));
    let back = Input::from(apply(gate(1), Intent::Rollback, &[])).by(ada);
    let back = brought(&mut machine, back).unwrap();
    assert!(back.changed && back.is_rollback());
    assert_eq!(label(&machine), "gate@1");
    assert!(machine.pipelines.current().version("gate", 2).is_some(), "the newer one is kept");
    assert_eq!(store.act(applied_series("gate"), 3).unwrap().map(|(_, leaf)| act(&leaf)), Some((1, 1)));
    assert!(deeds(&*store).contains(&("pipeline-rolled-back".to_owned(), "gate@1".to_owned())));

    let again = engine::Pipelines::default();
    again.catch_up(&*store).unwrap();
    assert_eq!(again.current().in_force("gate").unwrap().version, 1, "a restart stays with it");
    let start = brought(&mut machine, apply(gate(2), Intent::Start, &[])).unwrap_err();
    assert_eq!((start.code, label(&machine).as_str()), (Code::VersionOutdated, "gate@1"));
    assert!(start.message.contains("went back to it"), "{}", start.message);
    assert!(brought(&mut machine, forward(2)).unwrap().changed);
    assert_eq!(label(&machine), "gate@2");
}

#[test]
fn parameters_make_revisions_that_decide_for_everybody_who_follows_the_version() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[]);
    let set = |params: &[(&str, Value)]| apply(gate(1), Intent::Forward, params);
    let first = brought(&mut machine, set(&[])).unwrap().pipeline;
    let second = brought(&mut machine, set(&[("bar", Value::from(20))])).unwrap();
    assert_eq!((second.changed, second.pipeline.label().as_str()), (true, "gate@1.2"));
    let third = brought(&mut machine, set(&[("label", Value::from("other"))])).unwrap().pipeline;
    assert_eq!(third.set_params.len(), 2, "what is not named stays as it was set");
    assert!(!brought(&mut machine, set(&[("bar", Value::from(20))])).unwrap().changed);
    let back = [("bar", Value::Null), ("label", Value::Null)];
    let fourth = brought(&mut machine, set(&back)).unwrap().pipeline;
    assert_eq!((fourth.label().as_str(), fourth.digest), ("gate@1.4", first.digest));
    assert_eq!(store.act(applied_series("gate"), 2).unwrap().map(|(_, leaf)| act(&leaf)), Some((1, 2)));

    brought(&mut machine, set(&[("bar", Value::from(30))])).unwrap();
    let next = brought(&mut machine, apply(gate(2), Intent::Forward, &[])).unwrap().pipeline;
    assert_eq!(next.params.get("bar"), Some(&Value::from(30)), "a new version begins with what was set");
    let altered = GATE.replace("bar = 10", "bar = 11");
    let altered = Arc::new(model::pipeline::load(&Source::new("gate.toml", altered)).unwrap());
    let refusal = brought(&mut machine, apply(altered, Intent::Rollback, &[])).unwrap_err();
    assert_eq!(refusal.code, Code::VersionExists);
    let again = engine::Pipelines::default();
    again.catch_up(&*store).unwrap();
    assert_eq!(again.current().version("gate", 1).unwrap().label(), "gate@1.5");
}

#[tokio::test]
async fn a_submission_is_decided_by_the_parameters_of_the_day() {
    let (store, _) = memory();
    let engine = Engine::start(store, &Options::default()).unwrap();
    let mut source = Source::new("gate.toml", GATE);
    engine.apply(&source).await.unwrap();
    let caller = Caller::new("ada", Role::Admin);
    let application = model::admit::Application {
        caller: caller.clone(),
        payload: model::Json::parse(r#"{"n":15}"#).unwrap(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: model::admit::Door::Api,
    };
    let made = engine.submit("gate", application.clone(), None).await.unwrap().row;
    assert_eq!(&*made.state, "HIGH");
    source.params = [("bar", 20)].into_iter().collect();
    engine.apply(&source).await.unwrap();
    assert_eq!(&*engine.submit("gate", application, None).await.unwrap().row.state, "LOW");
    let look = model::command::Act {
        caller,
        action: "look".into(),
        reason: None,
        data: None,
        to: None,
        if_match: None,
    };
    let seen = engine.act(made.id, look, None).await.unwrap().row;
    assert_eq!((&*seen.state, seen.version), ("LOW", 1));
}

fn act(leaf: &[u8]) -> (u32, u32) {
    match Entry::read(leaf) {
        Ok(Entry::Record(Record::Applied(applied))) => (applied.version, applied.revision),
        other => panic!("{other:?}"),
    }
}

/// Lists the administered deeds, each with what it was done to.
fn deeds(store: &dyn Store) -> Vec<(String, String)> {
    let page = store.leaves(0, 1_000).unwrap();
    let deed = |leaf: &Vec<u8>| match Entry::read(leaf) {
        Ok(Entry::Record(Record::Administered(act))) => Some((act.deed.to_string(), act.of.to_string())),
        _ => None,
    };
    page.leaves.iter().filter_map(deed).collect()
}
