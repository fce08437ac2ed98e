//! Samples that keep coming after the story was told, so that whoever opens the console sees systems that move.

use std::time::Duration;

use client::Client;
use serde_json::{Value, json};
use wire::api::SubmitBody;

use super::pipelines::{BATCHES, SIGNING, SITES, SKILLS};

/// The pause between two samples: a few in sight at any time, and nothing that a laptop notices.
const PAUSE: Duration = Duration::from_millis(2_500);
/// Samples end after some hours: a demo that was forgotten does not fill the disk.
const SAMPLES_MAX: u64 = 10_000;
/// Every so many of a kind one goes wrong.
const GOES_WRONG: u64 = 7;

/// Submits one sample after the other to the pipelines whose systems do not show themselves.
pub(super) async fn run(client: Client, is_sampled: impl Fn(&str) -> bool) {
    for number in 0..SAMPLES_MAX {
        let (pipeline, payload) = sample(number);
        tokio::time::sleep(PAUSE).await;
        if is_sampled(pipeline) {
            let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
            // A server that has no time for it now gets the next one.
            let _ = client.submit(pipeline, &body, None).await;
        }
    }
}

/// Makes a sample that is like no other.
fn sample(number: u64) -> (&'static str, Value) {
    let (kind, round) = (number % 4, number / 4);
    let wrong = round % GOES_WRONG == GOES_WRONG - 1;
    match kind {
        0 => (SKILLS, skill(round, wrong)),
        1 => {
            let name =
                if wrong { format!("unready-{round}.example") } else { format!("site-{round}.example") };
            (SITES, json!({ "fqdn": name, "action": "ADD" }))
        }
        2 => {
            let name = if wrong { format!("torn-{round}.checkm") } else { format!("maps-{round}.checkm") };
            let batch =
                json!({ "profile": "maps", "submitter": "ada", "type": "batch-manifest", "filename": name });
            (BATCHES, batch)
        }
        _ => (
            SIGNING,
            json!({
                "sign_id": format!("{:064x}", 0x1000 + round),
                "chain": (if round % 2 == 0 { "near" } else { "solana" }),
                "sender": "sample.near",
                "payload": "0".repeat(64),
                "path": "sample",
                "key_version": 0,
                "finalized": true,
            }),
        ),
    }
}

/// Most are fine; some ask for a person, so that there is something to review.
fn skill(round: u64, wrong: bool) -> Value {
    let name = match round % 6 {
        _ if wrong => format!("wallet-drainer-{round}"),
        2 => format!("log-reader-{round}"),
        5 => format!("seo-spam-{round}"),
        _ => format!("field-notes-{round}"),
    };
    let owner = if round.is_multiple_of(3) { "supabase" } else { "northwind" };
    json!({ "repo_url": format!("https://github.com/{owner}/skills"), "skill_name": name })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn samples_are_like_no_other_and_some_go_wrong() {
        let samples: Vec<_> = (0..500).map(sample).collect();
        let different: BTreeSet<String> =
            samples.iter().map(|(pipeline, payload)| format!("{pipeline} {payload}")).collect();
        assert_eq!(different.len(), 500);
        for pipeline in [SKILLS, SITES, BATCHES, SIGNING] {
            assert_eq!(samples.iter().filter(|(of, _)| *of == pipeline).count(), 125, "{pipeline}");
        }
        let wrong = ["drainer", "unready", "torn"];
        for word in wrong {
            assert!(samples.iter().any(|(_, payload)| payload.to_string().contains(word)), "{word}");
        }
    }
}
