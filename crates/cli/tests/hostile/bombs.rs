//! Small requests that are much work, and large ones that are nothing.

use std::sync::Arc;

use serde_json::json;

use crate::friend::Friend;
use crate::site::Site;

const TRIES_OF_EACH: usize = 3;

/// Levels of alternatives that all look at the next level: each doubles the work of a naive check.
fn doubling_schema(levels: usize) -> String {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/level{}", level + 1) });
        defs.insert(format!("level{level}"), json!({ "anyOf": [next, next] }));
    }
    defs.insert(format!("level{levels}"), json!({ "const": "nobody sends this" }));
    json!({ "$ref": "#/$defs/level0", "$defs": defs }).to_string()
}

fn pipeline(name: &str) -> String {
    format!(
        "name = \"{name}\"\nversion = 1\npayload = \"schemas/{name}.json\"\nstart = \"OPEN\"\n\
         [states.OPEN]\nactions.close = \"CLOSED\"\n[states.CLOSED]\nfinal = \"success\"\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_are_refused_and_delay_nobody() {
    let (doubling, unique) = (pipeline("doubling"), pipeline("unique"));
    let (levels, items) = (doubling_schema(22), json!({ "type": "array", "uniqueItems": true }).to_string());
    let site = Site::open(&[
        ("doubling.toml", &doubling),
        ("unique.toml", &unique),
        ("schemas/doubling.json", &levels),
        ("schemas/unique.json", &items),
    ]);
    let (rude, friend) = (site.token("rudi", "submitter").await, site.token("frida", "submitter").await);
    let deep = |open: &str, close: &str, levels: usize| {
        format!("{{\"payload\":{}{}}}", open.repeat(levels), close.repeat(levels))
    };
    let numbers: Vec<String> = (0..150_000).map(|number| number.to_string()).collect();
    let bombs = [
        ("doubling", json!({ "payload": "anything" }).to_string()),
        ("notes", deep("[", "]", 1 << 19)),
        ("notes", deep("{\"a\":", "}", 1 << 17)),
        ("unique", format!("{{\"payload\":[{},1]}}", numbers.join(","))),
        ("notes", format!("{{\"submissions\":[{}]}}", vec!["{\"payload\":1}"; 200_000].join(","))),
        ("notes", format!("{{\"payload\":{}}}", "9".repeat(1_000_000))),
    ];
    let bombs = Arc::new(bombs);
    let friend = Friend::begin(&site, friend);
    let throwers = (0..16).map(|number: usize| {
        let (bombs, url, rude) = (bombs.clone(), site.server.url.clone(), rude.clone());
        tokio::spawn(async move {
            let client = reqwest::Client::new();
            for (name, body) in bombs.iter().cycle().skip(number).take(TRIES_OF_EACH * bombs.len()) {
                let request =
                    client.post(format!("{url}/v1/pipelines/{name}/submissions")).bearer_auth(&rude);
                let request = request.header("content-type", "application/json").body(body.clone());
                let status = request.send().await.unwrap().status();
                assert!(status.is_client_error() || status == 503, "{name}: {status}");
            }
        })
    });
    let throwers: Vec<_> = throwers.collect();
    for thrower in throwers {
        thrower.await.unwrap();
    }
    friend.end("bombs from sixteen hands").await;
    site.check().await;
}
