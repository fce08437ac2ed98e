//! Many changes at a time: what waits costs nothing, and a site that hangs delays nobody.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use client::{Client, FeedFilter, Position};
use engine::SystemClock;
use serde_json::{Value, json};
use store::{Changes, Committed, Error, Layer, MemoryStore, Store, Take, Taken};
use tokio::time::Instant;
use wire::api::{ClaimBody, FinishBody, SubmitBody, SubmitMany};

use crate::machine::ada;
use crate::support::World;
use crate::support::running::{Running, Setup};
use crate::support::web::{Answers, Shows};

/// The changes that wait.
const WAITING: usize = 10_000;
const AT_ONCE: usize = 1_000;
/// The changes that are validated, the sites that hang among them, and the tasks that are done at a time.
const SITES: usize = 1_000;
const HANGING: usize = 4;
const AT_A_TIME: usize = 16;

/// A store that counts the rows that are looked at.
#[derive(Debug)]
struct Counted {
    inner: MemoryStore,
    rows: AtomicUsize,
}

impl Layer for Counted {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.inner.transact(take, &mut |taken| {
            self.rows.fetch_add(taken.rows.len(), Ordering::Relaxed);
            decide(taken)
        })
    }
}

fn change(number: usize) -> SubmitBody {
    let payload = json!({ "fqdn": format!("site-{number}.example"), "action": "ADD" });
    SubmitBody { payload: payload.into(), ..SubmitBody::default() }
}

/// Answers a task for all changes that wait for it.
async fn answer(client: &Client, task: &str, (outcome, output): (&str, &Value)) {
    let claim = ClaimBody {
        worker: "many".to_owned(),
        tasks: vec![task.to_owned()],
        pipelines: None,
        labels: None,
        max: Some(AT_ONCE),
        wait: None,
        lease: None,
    };
    for _ in 0..WAITING / AT_ONCE {
        let lent = client.claim(&claim).await.expect("the server answers").tasks;
        assert_eq!(lent.len(), AT_ONCE);
        let finish = lent.into_iter().map(|task| FinishBody {
            token: task.token,
            outcome: outcome.to_owned(),
            output: Some(output.clone().into()),
            ..FinishBody::default()
        });
        let settled = client.finish(finish.collect()).await.expect("the server answers").results;
        assert!(settled.iter().all(|result| result.status == 200), "{settled:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_changes_that_wait_cost_no_work() {
    let world = World::start().await;
    let inner = MemoryStore::new(Arc::new(SystemClock::new()));
    let counted = Arc::new(Counted { inner, rows: AtomicUsize::new(0) });
    let setup = Setup { waiting_delay: "7d", store: Some(counted.clone()), ..Setup::default() };
    let mut running = Running::with(&world, setup, tempfile::tempdir().expect("there is room")).await;
    running.stop_working().await;
    let client = &running.admin;
    for part in 0..WAITING / AT_ONCE {
        let submissions = (part * AT_ONCE..(part + 1) * AT_ONCE).map(change).collect();
        let made =
            client.submit_many("site-list", &SubmitMany { submissions }, None).await.expect("an answer");
        assert!(made.results.iter().all(|result| result.status == 201));
    }
    let signer = json!({ "identity": "ada@example.com", "issuer": "https://accounts.google.com" });
    let found = json!({ "signers": [signer], "threshold": 1, "csp": {}, "action": "ADD", "entry": null, "contact": null });
    answer(client, "site-list.validate", ("ok", &found)).await;
    answer(client, "site-list.log-submit", ("accepted", &json!({ "leaf": "l", "index": 0 }))).await;
    let proof = json!({ "proof": { "index": 0, "size": 1, "hashes": [] }, "tree_head": "h" });
    answer(client, "site-list.log-inclusion", ("included", &proof)).await;
    let waiting = client.pipeline("site-list").await.expect("it is there");
    let waiting = waiting.states.iter().find(|state| &*state.name == "WAITING_DELAY").expect("it is there");
    assert_eq!(waiting.counts.iter().map(|counted| counted.count).sum::<u64>(), WAITING as u64);

    // Nothing happens for a while: duties look for timers that are due, and find none.
    let before = counted.rows.load(Ordering::Relaxed);
    let nothing = running.owner.feed(&FeedFilter::default(), Position::End, Duration::from_secs(3)).await;
    assert!(nothing.expect("the server answers").events.is_empty());
    let looked_at = counted.rows.load(Ordering::Relaxed) - before;
    assert!(looked_at < 10, "{looked_at} rows were looked at while {WAITING} changes waited");
    let mine = client.submit("site-list", &change(WAITING), None).await.expect("it is taken");
    let looked_at = counted.rows.load(Ordering::Relaxed) - before;
    assert!(looked_at < 20, "{looked_at} rows were looked at for one more change, {}", mine.id);
}

/// Has all sites validated, some of which hang, and returns how long the good ones took.
async fn validated(hanging: usize) -> (Duration, usize) {
    let world = World::start().await;
    let settings = format!("at-a-time = {AT_A_TIME}\nsite-within = '3s'\n");
    let setup = Setup { settings, waiting_delay: "7d", ..Setup::default() };
    let mut running = Running::with(&world, setup, tempfile::tempdir().expect("there is room")).await;
    running.stop_working().await;
    let name = |number: usize| format!("site-{number}.example");
    for number in 0..SITES {
        // The first are the first to be asked.
        let answers = if number < hanging { Answers::Nothing } else { ada("ADD") };
        world.site(&name(number), Shows::Good, answers);
    }
    let submissions = (0..SITES).map(change).collect();
    let made = running.admin.submit_many("site-list", &SubmitMany { submissions }, None).await;
    let made = made.expect("the server answers").results;
    let mut left: HashSet<_> =
        made.iter().skip(hanging).map(|result| result.submission.as_ref().expect("it is taken").id).collect();
    let began = Instant::now();
    running.join(running.admin.clone());
    let filter = FeedFilter {
        pipeline: Some("site-list".to_owned()),
        state: Some("PRELIMINARY_VALIDATION_OK".to_owned()),
        ..FeedFilter::default()
    };
    let mut follow = running.admin.follow(filter);
    while !left.is_empty() {
        left.remove(&follow.next().await.expect("the server answers").submission);
    }
    (began.elapsed(), world.web.busy.most.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_validations_are_bounded_and_sites_that_hang_delay_nobody() {
    let (without, most) = validated(0).await;
    assert!(most <= AT_A_TIME, "{most} visits at a time");
    let (with, most) = validated(HANGING).await;
    assert!(most <= AT_A_TIME, "{most} visits at a time");
    println!("{SITES} validations took {without:?}, and {with:?} with {HANGING} sites that hang");
    // Four of sixteen places are taken for a while: no other site waits for one that hangs.
    assert!(with < without * 2 + Duration::from_secs(2), "{with:?} instead of {without:?}");
}
