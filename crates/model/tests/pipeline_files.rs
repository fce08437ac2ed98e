//! Whole pipeline files: that they load, and what is in them then.

use std::sync::Arc;

use crate::common::{FILES, source};
use model::json::Value;
use model::pipeline::{
    After, Backoff, Choice, Clock, Every, Kind, LaneRule, Measure, Metric, MetricKind, Pipeline, State,
    Stretch, Times, load, merged,
};
use model::{Digest, Millis, Role};

fn loaded(name: &str) -> Pipeline {
    let source = source(name);
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

fn state<'a>(pipeline: &'a Pipeline, name: &str) -> &'a State {
    pipeline.state(name).expect(name)
}

#[test]
fn every_file_is_without_problems() {
    for name in FILES {
        assert_eq!(&*loaded(name).name, name);
    }
}

#[test]
fn definition_loads_again_to_the_same_digest() {
    for name in FILES {
        let pipeline = loaded(name);
        let again =
            model::pipeline::Source::from_definition(&pipeline.definition).expect("it was just written");
        let again = load(&again).expect("it loaded before");
        assert_eq!(again.digest, pipeline.digest);
        assert_eq!(pipeline.digest, Digest::of(pipeline.definition.as_str().as_bytes()));
    }
}

#[test]
fn states_keep_the_order_of_the_file() {
    let pipeline = loaded("ingest-job");
    let names: Vec<&str> = pipeline.states.iter().map(|state| &*state.name).collect();
    let expected = [
        "PENDING",
        "HELD",
        "ESTIMATING",
        "PROVISIONING",
        "DOWNLOADING",
        "PROCESSING",
        "RECORDING",
        "COMPLETED",
        "FAILED",
        "DELETED",
    ];
    assert_eq!(names, expected);
}

#[test]
fn defaults_fill_what_a_state_leaves_out() {
    let pipeline = loaded("orders");
    let checking = state(&pipeline, "CHECKING");
    let task = checking.task().expect("it runs a task");
    assert_eq!((task.lease, task.timeout), (Millis::from_secs(60), Some(Millis::from_secs(600))));
    assert!(checking.ttl.is_some() && checking.sla.is_some());
    assert_eq!(checking.phase.as_deref(), Some("Before shipping"));
    let Kind::Task { on_error, .. } = &checking.kind else { panic!("a task state") };
    assert_eq!((on_error.len(), on_error[1].to.is_none()), (2, true));

    let shipping = state(&pipeline, "SHIPPING");
    assert_eq!(shipping.task().map(|task| task.lease), Some(Millis::from_secs(300)));
    let Kind::Task { on_error, .. } = &shipping.kind else { panic!("a task state") };
    assert_eq!(on_error.len(), 1);
    assert_eq!(state(&pipeline, "RESTING").phase.as_deref(), Some("At rest"));
    assert_eq!(state(&pipeline, "SHIPPED").retention, Some("1d".parse().unwrap()));
    assert_eq!(state(&pipeline, "CANCELLED").retention, Some("90d".parse().unwrap()));
}

#[test]
fn own_action_wins_over_the_default_and_is_there_once() {
    let pipeline = loaded("orders");
    let cancels =
        |name: &str| state(&pipeline, name).actions.iter().filter(|action| &*action.name == "cancel").count();
    assert_eq!((cancels("APPROVING"), cancels("WAITING")), (1, 1));
    assert_eq!(state(&pipeline, "APPROVING").action("cancel").expect("declared").edges.len(), 2);
}

#[test]
fn default_actions_do_not_open_final_states() {
    let pipeline = loaded("delivery");
    assert!(state(&pipeline, "POSTING").action("cancel").is_some());
    assert!(state(&pipeline, "SENT").actions.is_empty());
}

#[test]
fn task_of_an_action_follows_the_rules_of_its_state() {
    let pipeline = loaded("skill-review");
    let approve = state(&pipeline, "TIER3_REVIEW").action("approve").expect("declared");
    let task = approve.edges[0].task.as_ref().expect("it runs a task");
    assert_eq!((&*task.name, task.lease), ("skills.publish", Millis::from_secs(30)));
    assert_eq!(task.retry.rule.times, Times::AtMost(3));
    assert!(approve.edges[0].data.is_some());
    assert_eq!(state(&pipeline, "TIER3_REVIEW").role_of(&approve.edges[0]), Role::Admin);
}

#[test]
fn retry_rules_inherit_what_they_do_not_say() {
    let pipeline = loaded("orders");
    let retry = &state(&pipeline, "CHECKING").task().expect("a task").retry;
    let (_, busy) = retry.rule_for("busy");
    assert_eq!((busy.times, busy.backoff, busy.jitter), (Times::Forever, Backoff::Linear, 0.1));
    assert_eq!(busy.delay, Every::Same(Millis::from_secs(10)));
    assert_eq!(retry.rule_for("broken").1.times, Times::AtMost(0));
    assert_eq!(retry.rule_for("other"), ("", &retry.rule));
    let each = &state(&pipeline, "SHIPPING").task().expect("a task").retry.rule.delay;
    assert_eq!(
        *each,
        Every::Each(vec![Millis::from_secs(60), Millis::from_secs(300), Millis::from_secs(3600)])
    );
}

#[test]
fn clocks_are_spans_points_or_computed() {
    let pipeline = loaded("orders");
    let clock = |name: &str| match &state(&pipeline, name).kind {
        Kind::Wait { clock, .. } => clock.clone(),
        other => panic!("{name} is {other:?}"),
    };
    assert!(matches!(clock("WAITING"), Clock::Until(at) if at.to_string() == "2026-12-01T07:00:00.000Z"));
    assert!(matches!(clock("COOLING"), Clock::Computed(_)));
    assert!(matches!(clock("SETTLING"), Clock::For(span) if span == Stretch::Time(Millis::from_secs(5400))));
    assert!(
        matches!(&pipeline.ttl, Some(ttl) if matches!(ttl.after, After::Computed(_)) && &*ttl.edge.trigger == "too-old")
    );
}

#[test]
fn triggers_default_to_what_makes_the_move() {
    let pipeline = loaded("orders");
    let triggers: Vec<String> =
        pipeline.moves().iter().map(|made| format!("{:?} {}", made.by, made.trigger)).collect();
    for expected in [
        "Start web-form",
        "Start submit",
        "Outcome(\"good\") good",
        "Error error",
        "Action(\"cancel\") cancel",
        "Clock elapsed",
        "Pass next",
        "Children(\"all_succeeded\") all_succeeded",
        "Children(\"some_failed\") partly",
        "Ttl ttl",
        "Ttl too-old",
    ] {
        assert!(triggers.iter().any(|found| found == expected), "{expected} is missing from {triggers:#?}");
    }
}

#[test]
fn everything_else_is_where_it_belongs() {
    let pipeline = loaded("orders");
    assert_eq!(pipeline.schedules.len(), 2);
    let [daily, monthly] = &pipeline.schedules[..] else { unreachable!("counted") };
    // Friday noon in Paris; the next of its lines is Monday at six, summer time.
    let friday = "2026-07-03T10:00:00Z".parse().expect("a time");
    assert_eq!(daily.cron.after(friday), Some("2026-07-06T04:00:00Z".parse().expect("a time")));
    assert_eq!(monthly.cron.after(friday), Some("2026-08-01T06:00:00Z".parse().expect("a time")));
    assert_ne!(daily.id, monthly.id);
    assert_eq!(daily.id, loaded("orders").schedules[0].id, "known by the same name in every process");
    let holidays: Vec<_> = pipeline.calendars["french"].holidays.iter().map(ToString::to_string).collect();
    assert_eq!(holidays, ["2026-07-14", "2026-12-25"]);
    assert_eq!(pipeline.slas["review"].sla.target, Some(Stretch::BusinessDays(5)));
    assert_eq!(&*pipeline.slas["whole"].not_via[0], "APPROVING");
    let Metric { kind, series } = &pipeline.metrics["queue_depth"];
    let [orders] = &series[..] else { panic!("one series is one table") };
    assert_eq!((*kind, orders.of, orders.states.len()), (MetricKind::Gauge, Measure::Depth, 2));
    assert_eq!(orders.labels["job_type"].as_str(), "order");
    assert_eq!(pipeline.limits["region"], 5);
    assert_eq!(state(&pipeline, "CHECKING").lane, LaneRule::Wait);
    let approve = &state(&pipeline, "APPROVING").action("approve").expect("declared").edges[0];
    assert_eq!((approve.approvals, approve.self_approval), (2, false));
    let back = &state(&pipeline, "APPROVING").action("send-back").expect("declared").edges[0];
    assert_eq!(back.to, Some(Choice::Pick(vec!["CHECKING".into(), "WAITING".into()])));
    let with = state(&pipeline, "CHECKING").task().and_then(|task| task.with.clone()).expect("it has `with`");
    assert_eq!(
        with.as_str(),
        r#"{"at":"06:30:00","depth":2,"ratio":0.5,"rules":["stock","address"],"strict":true}"#
    );
    assert_eq!(
        pipeline.params.get("approve_max").and_then(|max| max.as_number()).map(|max| max.as_str()),
        Some("1000.50")
    );
    assert_eq!(pipeline.params.get("mask").and_then(|mask| mask.as_i64()), Some(255));
}

#[test]
fn deployment_sets_parameters() {
    let mut source = source("skill-review");
    source.params = [("approve_min", 90)].into_iter().collect();
    let pipeline = load(&source).expect("the parameter is there and a number");
    assert_eq!(pipeline.params.get("approve_min").and_then(|min| min.as_i64()), Some(90));
    assert_eq!(pipeline.params.get("review_min").and_then(|min| min.as_i64()), Some(60));
    assert_ne!(pipeline.digest, loaded("skill-review").digest);
}

#[test]
fn parameters_set_later_make_the_same_pipeline_as_a_file_loaded_with_them() {
    let mut source = source("skill-review");
    let plain = load(&source).expect("it has no problems");
    source.params = [("approve_min", 90)].into_iter().collect();
    let set = load(&source).expect("it has no problems");
    let later = plain.with_params(&set.set_params);
    assert_eq!((later.digest, &later.params), (set.digest, &set.params));
    assert!(later.is_revision_of(&plain) && later.digest != plain.digest);
    assert_eq!(later.with_params(&Default::default()).digest, plain.digest);
}

#[test]
fn null_sets_a_parameter_back_and_what_another_version_had_is_left_out() {
    let mut source = source("skill-review");
    source.params = [("approve_min", 90)].into_iter().collect();
    let set = load(&source).expect("it has no problems");
    source.params = [("approve_min", Value::Null)].into_iter().collect();
    let back = load(&source).expect("null is the default");
    assert!(back.set_params.is_empty());
    let now = [("approve_min".to_owned(), Value::Null), ("review_min".to_owned(), Value::from(50))];
    let merged = merged(&set.set_params, &now.into_iter().collect());
    assert_eq!(merged.keys().collect::<Vec<_>>(), ["review_min"]);
    let foreign = [("gone".to_owned(), Value::from(1)), ("approve_min".to_owned(), Value::from("high"))];
    assert_eq!(set.with_params(&foreign.into_iter().collect()).digest, back.digest);
}

#[test]
fn another_file_is_another_machine() {
    let plain = source("skill-review");
    let mut other = plain.clone();
    other.toml.push_str("# a comment\n");
    let load = |source| load(source).expect("it has no problems");
    assert!(!load(&plain).is_revision_of(&load(&other)));
}

#[test]
fn only_what_moves_read_is_marked_as_read() {
    let reads = |name: &str| {
        let reads = loaded(name).reads;
        (reads.payload, reads.outputs)
    };
    assert_eq!(
        reads("ledger-batch"),
        (false, false),
        "key, labels, lane and start are evaluated at the door"
    );
    assert_eq!(reads("ingest-job"), (true, false), "its priority reads the payload");
    assert_eq!(reads("site-list"), (true, true));
}

#[test]
fn only_declared_moves_are_allowed() {
    let pipeline = loaded("skill-review");
    assert!(pipeline.allows(None, "RECEIVED"));
    assert!(!pipeline.allows(None, "PUBLISHED"));
    assert!(pipeline.allows(Some("TIER3_REVIEW"), "PUBLISHED"));
    assert!(!pipeline.allows(Some("NEEDS_REVIEW"), "PUBLISHED"));
    assert!(!pipeline.allows(Some("PUBLISHED"), "RECEIVED"));
    assert!(!pipeline.allows(Some("NOWHERE"), "RECEIVED"));
    for made in pipeline.moves() {
        assert!(pipeline.allows(made.from.as_deref(), &made.to), "{made:?}");
    }
    let expired = loaded("sign-request");
    assert!(expired.allows(Some("SIGNING"), "EXPIRED"));
    assert!(!expired.allows(Some("PUBLISHED"), "EXPIRED"));
}

#[test]
fn moves_name_their_actors() {
    let mut lines = String::new();
    for made in loaded("skill-review").moves() {
        let from = made.from.as_deref().unwrap_or("-");
        lines.push_str(&format!("{from} -> {} {} {}\n", made.to, made.trigger, made.actor.as_str()));
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn versions_share_the_expressions_they_have_in_common() {
    let first = source("skill-review");
    let mut second = first.clone();
    second.toml = first.toml.replacen("version = ", "version = 9", 1);
    let load = |source| load(source).expect("it has no problems");
    let (first, second) = (load(&first), load(&second));
    assert_ne!(first.version, second.version);
    let key = |pipeline: &Pipeline| pipeline.key.clone().expect("it has a key");
    assert!(key(&first).is_same(&key(&second)), "it is compiled once");
}

#[test]
fn versions_share_the_states_they_have_in_common() {
    let mut first = source("skill-review");
    // Nobody else loads a pipeline of this name meanwhile.
    first.toml = first.toml.replacen("name = \"skill-review\"", "name = \"skill-sharing\"", 1);
    let mut second = first.clone();
    second.toml =
        format!("# A line that moves all others.\n{}", first.toml.replacen("version = ", "version = 9", 1));
    second.toml = second.toml.replacen("timeout = \"60s\"", "timeout = \"61s\"", 1);
    let load = |source| load(source).expect("it has no problems");
    let (first, second) = (load(&first), load(&second));
    let states = first.states.iter().zip(&second.states);
    let apart: Vec<&str> =
        states.filter(|(one, other)| !Arc::ptr_eq(one, other)).map(|(one, _)| &*one.name).collect();
    assert_eq!(apart, ["TIER2_SCANNING"], "only what differs is kept twice");
}
