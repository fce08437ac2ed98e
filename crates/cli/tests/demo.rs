//! The first minute of a new user.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use crate::common::{milepost, run};
use client::{Client, Filter, Page};
use wire::api::EventView;

#[test]
fn demo_shows_every_way_through_the_review() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0"]).ends(0);
    for (skill, state, trigger) in [
        ("postgres-basics", "PUBLISHED", "vendor-auto-verify"),
        ("commit-notes", "PUBLISHED", "tier2-pass"),
        ("log-reader", "NEEDS_REVIEW", "tier2-concerns"),
        ("server-admin", "NEEDS_REVIEW", "tier2-high-privilege"),
        ("seo-spam", "REJECTED", "tier2-fail"),
        ("wallet-drainer", "TIER1_FAILED", "tier1-fail"),
    ] {
        let line = said.stdout.lines().find(|line| line.starts_with(skill)).expect(&said.stdout);
        assert!(line.contains(state) && line.contains(trigger), "{line}");
    }
    assert_eq!(said.stderr, "");
}

#[test]
fn demo_shows_where_the_samples_of_all_pipelines_are() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0"]).ends(0);
    let table = said.stdout.lines().skip_while(|line| !line.starts_with("PIPELINE")).skip(1);
    let rows = table.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    // The batch that fits into no block is tried again every two seconds, for a moment.
    let rows: Vec<String> = rows.map(|row| row.replace("1 SUBMITTING", "1 DELAYED")).collect();
    let expected = [
        "delivery 2 2 SENT",
        "ingest-batch 2 1 COMPLETED, 1 FAILED",
        "ingest-job 6 5 COMPLETED, 1 FAILED",
        "ledger-batch 6 1 QUEUED, 1 DELAYED, 3 COMMITTED, 1 INVALID",
        "ledger-finality 0",
        "sign-request 3 1 AWAITING_FINALITY, 2 PUBLISHED",
        "site-list 3 1 PRELIMINARY_VALIDATION_ERROR, 1 SECOND_VALIDATION_ERROR, 1 COMPLETED",
        "site-list-check 0",
        "skill-registry 0",
        "skill-review 6 2 NEEDS_REVIEW, 2 PUBLISHED, 1 REJECTED, 1 TIER1_FAILED",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn demo_speaks_json() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0", "-o", "json"]).ends(0);
    let json = said.json();
    let all = json.as_array().expect("a list");
    let of = |pipeline: &str| -> Vec<&str> {
        let own = all.iter().filter(|one| one["pipeline"] == pipeline);
        own.map(|one| one["status"].as_str().expect("a status")).collect()
    };
    assert_eq!(of("skill-review"), ["succeeded", "succeeded", "open", "open", "failed", "failed"]);
    assert_eq!(of("site-list"), ["succeeded", "failed", "failed"]);
    assert_eq!(of("ingest-batch"), ["succeeded", "failed"]);
    assert_eq!(of("ledger-batch"), ["succeeded", "failed", "succeeded", "succeeded", "open", "open"]);
    assert_eq!(of("sign-request"), ["succeeded", "succeeded", "open"]);
    assert_eq!(of("delivery"), ["succeeded", "succeeded"]);
    assert_eq!(all.len(), 22);
}

#[test]
fn demo_takes_a_free_port_when_its_own_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = run(&["demo", "--once", "--listen", &address]).ends(0);
    assert!(said.stderr.contains(&format!("{address} is taken")), "{}", said.stderr);
    assert!(said.stdout.contains("http://127.0.0.1:") && !said.stdout.contains(&address), "{}", said.stdout);
}

/// A demo that stays until it is given Ctrl-C, and what it said.
#[cfg(unix)]
struct Staying {
    demo: Child,
    told: Vec<String>,
}

#[cfg(unix)]
impl Staying {
    fn start() -> Staying {
        let mut demo =
            milepost(&["demo", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("it runs");
        let lines =
            BufReader::new(demo.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
        let told = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
        Staying { demo, told }
    }

    fn client(&self) -> Client {
        let line = self.told.iter().find_map(|line| line.trim().strip_prefix("API")).expect("it says where");
        Client::new(line.trim().trim_end_matches("/v1"), None).expect("the address is good")
    }

    fn stop(mut self) {
        let stopped = std::process::Command::new("kill").args(["-INT", &self.demo.id().to_string()]).status();
        assert!(stopped.expect("kill runs").success());
        assert_eq!(self.demo.wait().expect("it ends").code(), Some(0));
    }
}

/// A demo must not outlive a test that failed.
#[cfg(unix)]
impl Drop for Staying {
    fn drop(&mut self) {
        let _ = self.demo.kill();
        let _ = self.demo.wait();
    }
}

#[cfg(unix)]
#[test]
fn commands_that_the_demo_prints_work_when_pasted() {
    let staying = Staying::start();
    let commands: Vec<&str> =
        staying.told.iter().filter_map(|line| line.strip_prefix("  milepost ")).collect();
    let mut codes = Vec::new();
    for command in &commands {
        let pasted = format!("\"$0\" {command}");
        let program = env!("CARGO_BIN_EXE_milepost");
        let said = std::process::Command::new("sh").args(["-c", &pasted, program]).output().expect("sh runs");
        codes.push(said.status.code());
    }
    assert!(codes.iter().all(|code| *code == Some(0)), "{codes:?} of {commands:#?}");
    staying.stop();
}

#[cfg(unix)]
#[tokio::test]
async fn batches_of_one_service_were_under_way_one_after_the_other() {
    let staying = Staying::start();
    let client = staying.client();
    let service = "grain-coast::mill".to_owned();
    let filter = Filter {
        pipeline: Some("ledger-batch".to_owned()),
        labels: [("service".to_owned(), service)].into(),
        ..Filter::default()
    };
    let mut events: Vec<EventView> = Vec::new();
    for batch in client.submissions(&filter, &Page::default()).await.expect("a page").submissions {
        events.extend(client.events(batch.id, 0).await.expect("its events").events);
    }
    events.sort_by_key(|event| event.seq);
    let mut holder = None;
    let mut seen = BTreeSet::new();
    for event in &events {
        seen.insert(&*event.to);
        match &*event.to {
            "QUEUED" => {}
            "VALID" | "COMMITTED" | "INVALID" => holder = holder.filter(|id| *id != event.submission),
            _ => assert_eq!(*holder.get_or_insert(event.submission), event.submission, "{event:?}"),
        }
    }
    for state in ["UNKNOWN", "DELAYED", "VALID", "COMMITTED", "INVALID"] {
        assert!(seen.contains(state), "the ledger does all that ledgers do; {seen:?}");
    }
    staying.stop();
}

#[cfg(unix)]
#[tokio::test]
async fn batches_keep_coming_after_the_story_is_told() {
    let staying = Staying::start();
    let client = staying.client();
    let filter = Filter {
        pipeline: Some("ledger-batch".to_owned()),
        labels: [("dcid".to_owned(), "dcid:load-1".to_owned())].into(),
        ..Filter::default()
    };
    let made = loop {
        let found = client.submissions(&filter, &Page::default()).await.expect("a page").submissions;
        match found.into_iter().next() {
            Some(batch) => break batch.id,
            None => tokio::task::yield_now().await,
        }
    };
    let waited = client.wait(made, None).await.expect("it ends");
    assert!(waited.submission.status.is_final(), "{:?}", waited.submission);
    staying.stop();
}

#[test]
fn demo_puts_sites_over_real_tls_on_a_list_and_catches_one_that_changed() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0"]).ends(0);
    for (site, state, why) in [
        ("shop.example", "COMPLETED", "twice in the log"),
        ("news.example", "SECOND_VALIDATION_ERROR", "mismatch: not as it was before the wait: signers"),
        ("unready.example", "PRELIMINARY_VALIDATION_ERROR", "signers-missing"),
    ] {
        let line = said.stdout.lines().find(|line| line.starts_with(site)).expect(&said.stdout);
        assert!(line.contains(state) && line.contains(why), "{line}");
    }
}
