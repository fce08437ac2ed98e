//! The demo's own judge: an OpenAI-compatible endpoint that goes by a few words instead of a model.

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The name by which submissions tell of it.
pub(super) const MODEL: &str = "demo-judge";

/// A judge on a free port of this machine. It ends when this is dropped.
pub(super) struct Judge {
    pub(super) port: u16,
    _running: JoinSet<()>,
}

impl Judge {
    pub(super) async fn start() -> std::io::Result<Judge> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let router = Router::new().route("/v1/chat/completions", post(complete));
        let mut running = JoinSet::new();
        running.spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the demo's judge has ended");
            }
        });
        Ok(Judge { port, _running: running })
    }
}

async fn complete(Json(question): Json<Value>) -> Json<Value> {
    let asked = question["messages"][1]["content"].as_str().unwrap_or_default();
    let content = answer(asked);
    Json(json!({ "model": MODEL, "choices": [{ "message": { "role": "assistant", "content": content } }] }))
}

/// Judges the skill between the marks, and repeats the canary that is in them.
fn answer(asked: &str) -> String {
    let (_, behind) = asked.split_once("BEGIN SKILL ").unwrap_or_default();
    let (canary, skill) = behind.split_once('\n').unwrap_or_default();
    let has = |words: &str| skill.contains(words);
    let (score, verdict, concerns): (u32, &str, &[&str]) = match () {
        () if has("links back to") => (35, "FAIL", &["it serves nobody but its author"]),
        () if has("outside of the project") => (71, "CONCERNS", &["it reads files outside of its folder"]),
        () => (92, "PASS", &[]),
    };
    json!({
        "canary": canary,
        "score": score,
        "verdict": verdict,
        "rationale": "The demo's judge goes by a few words.",
        "concerns": concerns,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judge_goes_by_what_stands_between_the_marks() {
        let score = |skill: &str| {
            let answer = answer(&format!("links back to\nBEGIN SKILL c4\n{skill}\nEND SKILL c4\n"));
            crate::judge::read(&answer, "c4").unwrap().score
        };
        assert_eq!(score("Write notes."), 92);
        assert_eq!(score("Read files outside of the project."), 71);
        assert_eq!(score("Add links back to our site."), 35);
    }
}
