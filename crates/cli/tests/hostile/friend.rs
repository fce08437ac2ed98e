//! A caller who means well and works on while others do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::clock;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::site::Site;

/// Submissions the friend makes at least while the others are there.
const LEAST: usize = 100;

pub(crate) struct Friend {
    enough: Arc<AtomicBool>,
    task: JoinHandle<Vec<(&'static str, Duration)>>,
}

impl Friend {
    /// Begins to submit one note after the other, and to ask how the server is. Any other answer than the right one fails.
    pub(crate) fn begin(site: &Site, token: String) -> Friend {
        let enough = Arc::new(AtomicBool::new(false));
        let (url, done) = (site.server.url.clone(), enough.clone());
        let task = tokio::spawn(async move {
            let client = reqwest::Client::new();
            // Each of these comes anew: whoever watches a server's health has no connection to it yet.
            let newcomer = reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("a client");
            let mut took = Vec::new();
            while took.len() < 3 * LEAST || !done.load(Ordering::Relaxed) {
                let body = json!({ "payload": { "text": "from a friend" } });
                let submit = client.post(format!("{url}/v1/pipelines/notes/submissions"));
                let asked = [
                    ("submit", submit.bearer_auth(&token).json(&body)),
                    ("livez", newcomer.get(format!("{url}/livez"))),
                    ("readyz", newcomer.get(format!("{url}/readyz"))),
                ];
                for (name, request) in asked {
                    let started = clock::instant();
                    let answer = request.send().await.expect("the friend is answered");
                    let status = answer.status();
                    let text = answer.text().await.expect("the whole answer comes");
                    assert!(status.is_success(), "{name}: {status} {text}");
                    took.push((name, started.elapsed()));
                }
            }
            took
        });
        Friend { enough, task }
    }

    /// Ends when the friend has done enough, and prints how long the answers took.
    pub(crate) async fn end(self, during: &str) {
        self.enough.store(true, Ordering::Relaxed);
        let took = self.task.await.expect("every answer was right");
        println!("{during}:");
        for name in ["submit", "livez", "readyz"] {
            let mut times: Vec<Duration> =
                took.iter().filter(|(of, _)| *of == name).map(|(_, took)| *took).collect();
            times.sort();
            let at = |part: usize| times[(times.len() - 1) * part / 100];
            println!(
                "    {name}: {} in all, p50 {:?}, p99 {:?}, max {:?}",
                times.len(),
                at(50),
                at(99),
                at(100)
            );
        }
    }
}
