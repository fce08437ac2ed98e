//! The changes between two definitions.

use crate::common::{FILES, source};
use model::Pipeline;
use model::pipeline::diff::{Diff, diff};
use model::pipeline::{Source, load};
use wire::api::What;

const OLD: &str = r#"
name = "parcels"
version = 1
title = "Parcels"
key = "payload.id"
labels = { region = "payload.region" }
limits = { region = 5 }
priority = "5"
lane = { key = "labels.region" }
start = "PACKING"
ttl = { after = "30d", to = "LOST" }

[params]
heavy = 20
carriers = ["north"]
desk = { mail = "a@example.org" }

[states.PACKING]
title = "Being packed"
task = "parcels.pack"
with = { paper = "brown" }
lease = "30s"
timeout = "5m"
retry = { times = 3, delay = "30s" }
on.packed = [
  { to = "CHECKING", when = "output.kilos > params.heavy", trigger = "heavy" },
  { to = "SENDING", when = "output.kilos > 5", trigger = "middle" },
  "RESTING",
]

[states.CHECKING]
review = "reviewer"
actions.approve = { to = "SENDING", reason = true }

[states.RESTING]
wait = "1h"
next = "SENDING"

[states.SENDING]
task = "parcels.send"
lease = "30s"
sla = { target = "1h" }
on.sent = "DONE"
on.error = "LOST"

[states.DONE]
final = "success"
retention = "30d"

[states.LOST]
final = "failure"
"#;

fn loaded(toml: &str) -> Pipeline {
    let source = Source::new("parcels.toml", toml);
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

/// The lines of a diff after some text was replaced by another.
fn changed(replacements: &[(&str, &str)]) -> Vec<String> {
    after(replacements).to_string().lines().map(ToOwned::to_owned).collect()
}

fn after(replacements: &[(&str, &str)]) -> Diff {
    let mut toml = OLD.to_owned();
    for (old, new) in replacements {
        assert_eq!(toml.matches(old).count(), 1, "{old}");
        toml = toml.replace(old, new);
    }
    diff(&loaded(OLD), &loaded(&toml))
}

#[test]
fn equal_definitions_have_no_difference() {
    for name in FILES {
        let source = source(name);
        let load = || load(&source).unwrap();
        assert_eq!(diff(&load(), &load()), Diff::default(), "{name}");
    }
    let comments = format!("# only a comment\n{OLD}");
    assert!(diff(&loaded(OLD), &loaded(&comments)).is_empty());
    assert!(after(&[("version = 1", "version = 2")]).is_empty(), "the version only says which is meant");
}

#[test]
fn numbers_and_spans_are_told_with_what_they_were() {
    assert_eq!(
        changed(&[("lease = \"30s\"\ntimeout", "lease = \"60s\"\ntimeout")]),
        ["~ PACKING.lease 30s -> 1m"]
    );
    assert_eq!(changed(&[("timeout = \"5m\"\n", "")]), ["- PACKING.timeout 5m"]);
    assert_eq!(changed(&[("wait = \"1h\"", "wait = \"2h\"")]), ["~ RESTING.wait 1h -> 2h"]);
    assert_eq!(changed(&[("retention = \"30d\"", "retention = \"1d\"")]), ["~ DONE.retention 30d -> 1d"]);
    assert_eq!(changed(&[("after = \"30d\"", "after = \"7d\"")]), ["~ ttl.after 30d -> 7d"]);
    assert_eq!(
        changed(&[("limits = { region = 5 }", "limits = { region = 6 }")]),
        ["~ limits.region 5 -> 6"]
    );
    assert_eq!(
        changed(&[("sla = { target = \"1h\" }", "sla = { target = \"2bd\" }")]),
        ["~ SENDING.sla `target 1h` -> `target 2bd`"]
    );
    assert_eq!(
        changed(&[("times = 3, delay = \"30s\"", "times = 4, delay = \"30s\", backoff = \"linear\"")]),
        ["~ PACKING.retry `3 times after 30s` -> `4 times after 30s, linear`"]
    );
}

#[test]
fn an_error_that_an_edge_states_is_told() {
    assert_eq!(
        changed(&[("on.sent = \"DONE\"", "on.sent = { to = \"DONE\", error = { code = \"'late'\" } }")]),
        ["+ SENDING -> DONE by sent: error.code 'late'"]
    );
}

#[test]
fn documents_are_compared_value_by_value() {
    assert_eq!(
        changed(&[("heavy = 20", "heavy = 25"), ("mail = \"a@example.org\"", "post = \"b\"")]),
        ["- params.desk.mail \"a@example.org\"", "+ params.desk.post \"b\"", "~ params.heavy 20 -> 25"]
    );
    assert_eq!(
        changed(&[("paper = \"brown\"", "paper = \"white\"")]),
        ["~ PACKING.with.paper \"brown\" -> \"white\""]
    );
    let schema = |most: u32| {
        let mut source = Source::new("parcels.toml", OLD.replace("\nkey =", "\npayload = \"p.json\"\nkey ="));
        let text = format!(r#"{{ "properties": {{ "a.b": {{ "maxLength": {most} }} }} }}"#);
        source.files.insert("p.json".to_owned(), text);
        load(&source).unwrap()
    };
    let told = diff(&schema(3), &schema(4)).to_string();
    assert_eq!(told, "~ payload.properties.\"a.b\".maxLength 3 -> 4\n");
}

#[test]
fn pipeline_keys_are_told() {
    let lines = changed(&[
        ("key = \"payload.id\"", "key = \"payload.id + 'x'\"\non_duplicate = \"queue\""),
        ("priority = \"5\"\n", ""),
        ("lane = { key = \"labels.region\" }", "lane = { key = \"labels.region\", on_dead = \"block\" }"),
        ("region = \"payload.region\"", "region = \"payload.region\", size = \"payload.size\""),
    ]);
    assert_eq!(
        lines,
        [
            "~ key payload.id -> `payload.id + 'x'`",
            "~ on_duplicate return -> queue",
            "- priority 5",
            "+ labels.size payload.size",
            "~ lane.on_dead free -> block"
        ]
    );
}

#[test]
fn a_key_whose_payloads_are_compared_no_more_is_told() {
    let any = "key = \"payload.id\"\non_duplicate = { same = \"return\", differs = \"return\" }";
    assert_eq!(
        changed(&[("key = \"payload.id\"", any)]),
        ["~ on_duplicate return -> { same = \"return\", differs = \"return\" }"]
    );
    let usual = "key = \"payload.id\"\non_duplicate = { same = \"return\", differs = \"reject\" }";
    assert!(changed(&[("key = \"payload.id\"", usual)]).is_empty());
}

#[test]
fn schedules_and_calendars_are_told_as_they_are_written() {
    let with = |cron: &str, day: &str| {
        let more = format!(
            "[[schedule]]\ncron = '{cron}'\npayload = {{ region = 'north' }}\n[calendars.house]\nholidays = [{day}]\n[params]"
        );
        loaded(&OLD.replace("[params]", &more))
    };
    let told = diff(&with("0 6 * * *", "2026-12-25"), &with("0 7 * * *", "2026-12-26")).to_string();
    assert_eq!(
        told,
        "~ schedule[0].cron \"0 6 * * *\" -> \"0 7 * * *\"\n\
         ~ calendars.house.holidays [\"2026-12-25\"] -> [\"2026-12-26\"]\n"
    );
    let told = diff(&loaded(OLD), &with("0 6 * * *", "2026-12-25")).to_string();
    assert!(told.contains("+ schedule[0].payload.region \"north\"\n"), "{told}");
}

#[test]
fn a_new_state_comes_with_its_moves_but_not_with_every_detail() {
    let state = "[states.LABELLING]\ntask = \"parcels.label\"\nlease = \"10s\"\non.labelled = \"SENDING\"\n\n[states.SENDING]";
    let lines = changed(&[
        ("wait = \"1h\"\nnext = \"SENDING\"", "wait = \"1h\"\nnext = \"LABELLING\""),
        ("[states.SENDING]", state),
    ]);
    assert_eq!(
        lines,
        [
            "- move RESTING -> SENDING by elapsed (the wait is over)",
            "+ move RESTING -> LABELLING by elapsed (the wait is over)",
            "+ state LABELLING task",
            "+ move LABELLING -> SENDING by labelled (outcome labelled)"
        ]
    );
}

#[test]
fn a_lost_state_is_named_for_whoever_moves_submissions() {
    let gone = "[states.RESTING]\nwait = \"1h\"\nnext = \"SENDING\"\n";
    let found = after(&[(gone, ""), ("  \"RESTING\",\n", "  \"SENDING\",\n")]);
    assert_eq!(found.lost_states(), ["RESTING"]);
    let lines = found.to_string();
    assert!(lines.contains("- state RESTING wait\n"), "{lines}");
    assert!(lines.contains("- move PACKING -> RESTING by packed (outcome packed)\n"), "{lines}");
    assert!(lines.contains("+ move PACKING -> SENDING by packed (outcome packed)\n"), "{lines}");
    assert!(!lines.contains("RESTING.wait"), "{lines}");
    assert!(after(&[("\"Being packed\"", "\"In packing\"")]).lost_states().is_empty());
}

#[test]
fn a_state_may_change_its_kind() {
    let lines = changed(&[("wait = \"1h\"\nnext = \"SENDING\"", "next = \"SENDING\"")]);
    assert_eq!(
        lines,
        [
            "~ state RESTING wait -> pass",
            "- RESTING.wait 1h",
            "- move RESTING -> SENDING by elapsed (the wait is over)",
            "+ move RESTING -> SENDING by next (passed through)"
        ]
    );
}

#[test]
fn guards_roles_and_reasons_of_a_move_are_told_under_its_name() {
    let lines = changed(&[("when = \"output.kilos > 5\"", "when = \"output.kilos > 6\"")]);
    assert_eq!(lines, ["~ PACKING -> SENDING by middle: when `output.kilos > 5` -> `output.kilos > 6`"]);
    let lines = changed(&[("to = \"SENDING\", reason = true", "to = \"SENDING\", role = \"admin\"")]);
    assert_eq!(
        lines,
        [
            "~ CHECKING -> SENDING by approve: role reviewer -> admin",
            "- CHECKING -> SENDING by approve: reason needed"
        ]
    );
}

#[test]
fn an_order_of_guards_is_a_difference() {
    let (heavy, middle) = (
        "  { to = \"CHECKING\", when = \"output.kilos > params.heavy\", trigger = \"heavy\" },\n",
        "  { to = \"SENDING\", when = \"output.kilos > 5\", trigger = \"middle\" },\n",
    );
    let lines = changed(&[(&format!("{heavy}{middle}"), &format!("{middle}{heavy}"))]);
    assert_eq!(
        lines,
        [
            "~ order of PACKING (outcome packed) `CHECKING by heavy, SENDING by middle, RESTING by packed` -> `SENDING by middle, CHECKING by heavy, RESTING by packed`"
        ]
    );
}

#[test]
fn the_ttl_of_a_pipeline_is_one_move() {
    let lines = changed(&[("after = \"30d\", to = \"LOST\"", "after = \"30d\", to = \"DONE\"")]);
    assert_eq!(
        lines,
        [
            "- move any open state -> LOST by ttl (time to live over)",
            "+ move any open state -> DONE by ttl (time to live over)"
        ]
    );
}

#[test]
fn a_diff_is_data_and_comes_back_from_json() {
    let found = after(&[("heavy = 20", "heavy = 25"), ("timeout = \"5m\"\n", "")]);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["differences"][0]["place"], "params.heavy");
    assert_eq!(json["differences"][0]["what"], "changed");
    assert_eq!(json["differences"][1]["new"], serde_json::Value::Null);
    assert_eq!(json["lost_states"], serde_json::json!([]));
    assert_eq!(serde_json::from_value::<Diff>(json).unwrap(), found);
    assert_eq!(found.differences[1].what, What::Removed);
}

#[test]
fn a_terminal_is_told_nothing_it_would_obey() {
    let lines = changed(&[("title = \"Being packed\"", "title = \"a\\u001b[2J\\nb\\u202e\"")]);
    assert_eq!(lines, ["~ PACKING.title `Being packed` -> a\\u{1b}[2J\\nb\\u{202e}"]);
    let long = "x".repeat(190);
    let lines = changed(&[("title = \"Being packed\"", &format!("title = \"{long}\""))]);
    assert!(lines[0].ends_with('…') && lines[0].chars().count() < 220, "{lines:?}");
}

#[test]
fn a_state_and_a_parameter_may_share_a_name() {
    let toml = "name = 'x'\nversion = 1\nstart = 'params'\n[params]\nwait = '1h'\n[states.params]\nwait = '2h'\nnext = 'DONE'\n[states.DONE]\nfinal = 'success'\n";
    let (old, new) = (loaded(toml), loaded(&toml.replace("'2h'", "'3h'")));
    assert_eq!(diff(&old, &new).to_string(), "~ params.wait 2h -> 3h\n");
}
