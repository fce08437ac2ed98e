//! The pipelines of every run, and what their payloads and answers look like.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::pipeline::{Source, load};
use model::{Json, Pipeline, Time};
use serde_json::{Value, json};

use crate::chance::Chance;

/// The first versions: what every run starts with.
pub(crate) fn first() -> [Arc<Pipeline>; 12] {
    [
        // Before those that tell somebody something.
        include_str!("files/delivery.toml"),
        include_str!("files/review.toml"),
        include_str!("files/mill.toml"),
        include_str!("files/patience.toml"),
        DOCK,
        include_str!("files/convoy.toml"),
        include_str!("files/router.toml"),
        include_str!("files/batch.toml"),
        include_str!("files/part.toml"),
        STUDIO,
        BULLETIN,
        PLAIN,
    ]
    .map(|toml| loaded(&source(toml)))
}

const PLAIN: &str = include_str!("files/plain.toml");
const DOCK: &str = include_str!("files/dock.toml");
const STUDIO: &str = include_str!("files/studio.toml");
const BULLETIN: &str = include_str!("files/bulletin.toml");

/// Second versions that submissions are migrated to, and back: other labels, limits, states, tasks and times.
pub(crate) fn second() -> [Arc<Pipeline>; 3] {
    let dock = [
        ("cargo = \"payload.cargo\"", "cargo = \"payload.cargo + '2'\""),
        ("limits = { cargo = 1 }", "limits = { cargo = 2 }"),
        ("ROADS", "HARBOUR"),
        ("dock.customs", "dock.papers"),
        ("lane = \"free\"\nwait = \"20s\"", "wait = \"25s\""),
        ("sla = { target = \"40s\" }", "sla = { target = \"4s\" }"),
    ];
    let studio = [
        ("limits = { client = 1, medium = 2 }", "limits = { client = 2 }"),
        ("medium = \"payload.medium\"", "medium = \"payload.medium + '2'\""),
        ("PAINT", "COLOUR"),
        ("studio.frame", "studio.varnish"),
        (", approvals = 2", ""),
        ("after = \"9d\"", "after = \"3d\""),
    ];
    let bulletin = [("*/4 * * * *", "*/7 * * * *"), ("\"morning\"", "\"late\"")];
    [changed(DOCK, &dock), changed(STUDIO, &studio), changed(BULLETIN, &bulletin)]
}

/// The names that states of the first versions have in the second ones, and the other way round.
pub(crate) const RENAMED: [(&str, &str); 2] = [("ROADS", "HARBOUR"), ("PAINT", "COLOUR")];

fn changed(toml: &str, changes: &[(&str, &str)]) -> Arc<Pipeline> {
    let mut text = toml.replace("version = 1", "version = 2");
    for (from, to) in changes {
        assert!(text.contains(from), "nothing says {from}");
        text = text.replace(from, to);
    }
    loaded(&source(&text))
}

/// A later version of a pipeline, which differs from the first in nothing but its number.
pub(crate) fn plain(version: u32) -> Arc<Pipeline> {
    loaded(&source(&PLAIN.replace("version = 1", &format!("version = {version}"))))
}

/// The first version with other contents.
pub(crate) fn plain_altered() -> Arc<Pipeline> {
    loaded(&source(&format!("{PLAIN}\n# altered\n")))
}

/// Loads what the store kept, as a process that starts reads it.
pub(crate) fn stored(definition: &Json) -> Result<Arc<Pipeline>, String> {
    Ok(loaded(&Source::from_definition(definition)?))
}

fn source(toml: &str) -> Source {
    let mut source = Source::new("simulated.toml", toml);
    let files = [
        ("schemas/review.json", include_str!("files/review.json")),
        ("schemas/checklist.json", include_str!("files/checklist.json")),
        ("schemas/tool.json", include_str!("files/tool.json")),
        ("schemas/sift.json", include_str!("files/sift.json")),
    ];
    source.files = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    source
}

/// Loading costs more than a step of a run, and the same definition gives the same pipeline.
fn loaded(source: &Source) -> Arc<Pipeline> {
    static LOADED: Mutex<BTreeMap<String, Arc<Pipeline>>> = Mutex::new(BTreeMap::new());
    let definition = source.to_definition();
    let mut known = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let pipeline = known.entry(definition.as_str().to_owned()).or_insert_with(|| {
        Arc::new(load(source).unwrap_or_else(|problems| panic!("{}", problems.render(source))))
    });
    pipeline.clone()
}

/// A payload for a pipeline: mostly fitting, and often with a key that somebody else has.
pub(crate) fn payload(pipeline: &str, now: Time, chance: &mut Chance) -> Json {
    let name = format!("n{}", chance.below(40));
    let value = match pipeline {
        "review" => {
            let owner = chance.pick(&["vendor", "acme", "umbrella"]);
            match chance.below(20) {
                0 => json!({ "repository": "https://git.example/acme/tools" }),
                1 => json!({ "repository": "not a repository", "skill": name }),
                2 => {
                    json!({ "repository": format!("https://git.example/acme/{}", "x".repeat(600)), "skill": name })
                }
                _ => json!({ "repository": format!("https://git.example/{owner}/tools"), "skill": name }),
            }
        }
        "mill" => mill(&name, now, chance),
        "patience" => match chance.below(12) {
            0 => json!({}),
            1 => json!({ "door": "nap" }),
            2..4 => json!({ "door": "nap", "deep": true }),
            4..6 => json!({ "door": "ask" }),
            6 => json!({ "door": "gate", "open": true }),
            7 => json!({ "door": "gate" }),
            _ => json!({ "door": "nap", "deep": false }),
        },
        "dock" => dock(chance),
        "convoy" => {
            let plate = format!("p{}", chance.below(6));
            json!({ "road": format!("r{}", chance.below(3)), "plate": plate, "load": 1 })
        }
        "router" => json!({ "zone": format!("z{}", chance.below(2)), "open": chance.percent(70) }),
        "batch" => {
            json!({ "name": format!("b{}", chance.below(6)), "tenant": format!("t{}", chance.below(2)) })
        }
        "part" => part(chance),
        "studio" => json!({
            "title": format!("w{}", chance.below(30)),
            "client": format!("c{}", chance.below(3)),
            "medium": chance.pick(&["oil", "ink"]),
            "ready": chance.percent(15),
        }),
        "bulletin" => json!({ "edition": chance.pick(&["often", "extra"]) }),
        _ => json!({ "key": name }),
    };
    Json::from(value)
}

fn dock(chance: &mut Chance) -> Value {
    json!({
        "ship": format!("s{}", chance.below(8)),
        "quay": format!("q{}", chance.below(3)),
        "cargo": chance.pick(&["coal", "corn"]),
        "tie": format!("{}", chance.below(4) + 8),
        "weight": chance.below(5),
        "early": chance.percent(15),
        "calm": chance.percent(75),
    })
}

/// The payload of a part, whoever makes it. Without a press it has no lane to stand in and is not admitted.
pub(crate) fn part(chance: &mut Chance) -> Value {
    json!({ "press": format!("m{}", chance.below(5)), "later": chance.percent(20) })
}

/// Makes a patch that somebody amends: allowed and not, fitting and not.
pub(crate) fn patch(pipeline: &str, chance: &mut Chance) -> Json {
    let value = match (pipeline, chance.below(8)) {
        (_, 0) => json!({ "ship": "another" }),
        (_, 1) => json!([1]),
        ("dock", 2) => json!({ "tie": "99" }),
        ("dock", 3) => json!({ "weight": "heavy" }),
        ("dock", 4) => json!({ "calm": true }),
        ("dock", 5) => json!({ "cargo": chance.pick(&["coal", "corn"]) }),
        ("dock", _) => json!({ "weight": chance.below(9) }),
        ("router", 2..4) => json!({ "zone": format!("z{}", chance.below(2)) }),
        ("router", _) => json!({ "open": true }),
        ("studio", 2..5) => json!({ "client": format!("c{}", chance.below(3)) }),
        ("studio", _) => json!({ "medium": chance.pick(&["oil", "ink"]) }),
        ("convoy", 2) => json!({ "plate": "other" }),
        (_, _) => json!({ "load": chance.below(9) }),
    };
    Json::from(value)
}

fn mill(name: &str, now: Time, chance: &mut Chance) -> Value {
    let mode = chance.pick(&["plain", "plain", "plain", "timed", "timed", "held", "none"]);
    let until = match chance.below(4) {
        0 => "45s".to_owned(),
        1 => now.plus(model::Millis::from_secs(chance.below(7_200))).to_string(),
        2 => "2026-09-25T12:00:00Z".to_owned(),
        _ => "2d".to_owned(),
    };
    let tenant = format!("t{}", chance.below(3));
    json!({ "name": name, "tenant": tenant, "size": chance.below(20), "urgent": chance.percent(20), "mode": mode, "until": until })
}

/// The answer of a worker of a task.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) outcome: &'static str,
    pub(crate) output: Option<Json>,
}

pub(crate) fn work(task: &str, chance: &mut Chance) -> Work {
    let (outcome, output) = match task {
        "review.scan" if chance.percent(15) => ("fail", json!({ "findings": ["one", "two"] })),
        // Without findings the metadata of the edge cannot be made.
        "review.scan" if chance.percent(10) => ("pass", json!({})),
        "review.scan" => ("pass", json!({ "findings": [] })),
        "review.score" if chance.percent(10) => ("scored", json!({ "score": "high" })),
        "review.score" => {
            ("scored", json!({ "score": chance.between(50, 100), "high_privilege": chance.percent(40) }))
        }
        "review.publish" if chance.percent(15) => ("published", json!({})),
        "review.publish" => ("published", json!({ "version": chance.below(9) })),
        "mill.grind" if chance.percent(25) => ("again", Value::Null),
        "mill.grind" => ("done", json!({ "weight": chance.below(100) })),
        // One fits its schema and no guard, one does not even fit.
        "mill.sift" if chance.percent(15) => ("sifted", json!({ "grade": null })),
        "mill.sift" if chance.percent(5) => ("sifted", json!({})),
        "mill.sift" => ("sifted", json!({ "grade": chance.below(8) })),
        "mill.polish" if chance.percent(30) => ("dull", Value::Null),
        "mill.polish" => ("shiny", Value::Null),
        "patience.fetch" if chance.percent(20) => ("any", json!({})),
        "patience.fetch" => ("any", json!({ "found": true })),
        "patience.walk" if chance.percent(30) => ("lost", Value::Null),
        "patience.walk" => ("arrived", Value::Null),
        "dock.unload" if chance.percent(25) => ("wreck", Value::Null),
        "dock.customs" | "dock.papers" if chance.percent(20) => ("back", Value::Null),
        "dock.customs" | "dock.papers" => ("clear", json!({ "papers": true })),
        "convoy.drive" if chance.percent(20) => ("jam", Value::Null),
        "convoy.drive" if chance.percent(20) => ("lost", Value::Null),
        "convoy.drive" => ("there", Value::Null),
        "router.send" => ("sent", Value::Null),
        "batch.fill" if chance.percent(8) => ("corrupt", Value::Null),
        "batch.fill" => ("sealed", json!({ "read": true })),
        "batch.report" => ("reported", Value::Null),
        "part.make" if chance.percent(50) => ("bad", Value::Null),
        "studio.sketch" => ("drawn", json!({ "lines": chance.below(9) })),
        "studio.paint" if chance.percent(25) => ("spoiled", Value::Null),
        "studio.paint" => ("painted", Value::Null),
        "bulletin.write" => ("written", Value::Null),
        "part.make" => ("made", json!({ "weight": chance.below(9) })),
        _ => ("done", Value::Null),
    };
    Work { outcome, output: Some(output).filter(|output| !output.is_null()).map(Json::from) }
}

/// The answer that leads towards an end.
pub(crate) fn good_work(task: &str) -> Work {
    let (outcome, output) = match task {
        "review.scan" => ("pass", json!({ "findings": [] })),
        "review.score" => ("scored", json!({ "score": 90, "high_privilege": false })),
        "review.publish" => ("published", json!({ "version": 1 })),
        "mill.grind" => ("done", json!({})),
        "mill.sift" => ("sifted", json!({ "grade": 5 })),
        "mill.polish" => ("shiny", json!({})),
        "patience.fetch" => ("any", json!({ "found": true })),
        "patience.walk" => ("arrived", json!({})),
        "dock.customs" | "dock.papers" => ("clear", json!({})),
        "convoy.drive" => ("there", json!({})),
        "router.send" => ("sent", json!({})),
        "batch.fill" => ("sealed", json!({})),
        "batch.report" => ("reported", json!({})),
        "part.make" => ("made", json!({})),
        "studio.sketch" => ("drawn", json!({})),
        "studio.paint" => ("painted", json!({})),
        "bulletin.write" => ("written", json!({})),
        _ => ("done", json!({})),
    };
    Work { outcome, output: Some(Json::from(output)) }
}

/// Error codes workers give: some have a rule of their own somewhere, some do not.
pub(crate) const CODES: [&str; 7] = ["git-clone", "flaky", "broken", "broken", "slow", "network", "timeout"];

/// Makes the data that go with an action that takes some.
pub(crate) fn data(action: &str, chance: &mut Chance) -> Option<Json> {
    let value = match action {
        "approve" if chance.percent(80) => json!({ "read": true }),
        "approve" => json!({ "read": "yes" }),
        "retool" if chance.percent(50) => json!({ "tool": "saw" }),
        "retool" if chance.percent(50) => json!({ "tool": "hammer" }),
        "retool" => json!({}),
        _ if chance.percent(4) => json!({ "unasked": true }),
        _ => return None,
    };
    Some(Json::from(value))
}
