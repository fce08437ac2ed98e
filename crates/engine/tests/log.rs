//! The audit log follows the store: over restarts, set-backs, witnesses and retention.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use audit::follow::TileStore as _;
use audit::leaf::Record;
use audit::note::{Algorithm, SigningKey, Trust};
use audit::verify::{EvidenceOptions, LogOptions as Verify, LogReport, verify_evidence, verify_log};
use audit::witness::{MemoryState, Policy, Post, Witness};
use engine::log::{KeyFile, StoreTiles, Witnesses};
use engine::{Engine, LogOptions, Options, Standing, SystemClock};
use model::admit::{Application, Door};
use model::pipeline::Source;
use model::{Caller, Code, Json, Millis, Role, SubmissionId};
use store::Store;
use store_sqlite::SqliteStore;

const PLAIN: &str = "name = \"plain\"\nversion = 1\nstart = \"OPEN\"\n[states.OPEN]\nactions.close = \"DONE\"\n\
                     [states.DONE]\nfinal = \"success\"\n";
const SOON: Duration = Duration::from_secs(20);

struct Place {
    folder: tempfile::TempDir,
    options: Options,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let log = LogOptions {
            guard: folder.path().join("elsewhere.guard"),
            every: Duration::from_millis(20),
            ..LogOptions::in_folder(folder.path())
        };
        Place { folder, options: Options { log: Some(log), ..Options::default() } }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    async fn start(&self) -> (Engine, Arc<SqliteStore>) {
        let store = Arc::new(SqliteStore::open(&self.data(), Arc::new(SystemClock::new())).unwrap());
        let engine = Engine::start(store.clone(), &self.options).unwrap();
        engine.apply(&Source::new("plain.toml", PLAIN)).await.unwrap();
        (engine, store)
    }

    /// Runs until its log has `submissions` more, and stops in good order.
    async fn live(&self, submissions: u32) {
        let (engine, store) = self.start().await;
        let mut last = None;
        for _ in 0..submissions {
            last = Some(submit(&engine).await);
        }
        if let Some(id) = last {
            engine.proven(id, SOON).await.unwrap();
        }
        stop(engine, store).await;
    }

    fn verified(&self, store: &dyn Store) -> LogReport {
        let (keys, _) = KeyFile::open(&self.folder.path().join("log.key"), None).unwrap();
        let trust = Trust { keys: keys.verifiers().unwrap(), policy: None };
        let tiles = StoreTiles(store);
        let checkpoint = tiles.checkpoint().unwrap().unwrap();
        verify_log(&tiles, &checkpoint, &trust, &Verify::default())
            .unwrap_or_else(|finding| panic!("{finding}"))
    }
}

async fn submit(engine: &Engine) -> SubmissionId {
    let application = Application {
        caller: Caller::new("ada", Role::Admin),
        payload: Json::null(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: Door::Api,
    };
    engine.submit("plain", application, None).await.unwrap().row.id
}

async fn stop(engine: Engine, mut store: Arc<SqliteStore>) {
    engine.drain().await;
    drop(engine);
    // The duties' thread ends by itself; the folder is free once it has.
    while Arc::get_mut(&mut store).is_none() {
        tokio::task::yield_now().await;
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

async fn until(engine: &Engine, reached: impl Fn(&Standing) -> bool) -> Standing {
    loop {
        let standing = engine.log_standing().unwrap();
        if reached(&standing) {
            return standing;
        }
        tokio::task::yield_now().await;
    }
}

fn is_refused(standing: &Standing) -> bool {
    matches!(standing, Standing::Refused { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_goes_on_over_restarts() {
    let place = Place::new();
    for _ in 0..3 {
        place.live(150).await;
    }
    let (engine, store) = place.start().await;
    let report = place.verified(&*store);
    assert_eq!((report.events, report.definitions, report.acts.len()), (450, 1, 0));
    stop(engine, store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_set_back_is_not_signed_until_it_is_forked() {
    let place = Place::new();
    place.live(30).await;
    let backup = place.folder.path().join("backup");
    copy(&place.data(), &backup);
    place.live(40).await;
    std::fs::remove_dir_all(place.data()).unwrap();
    copy(&backup, &place.data());

    let (engine, store) = place.start().await;
    let standing = until(&engine, is_refused).await;
    assert!(format!("{standing:?}").contains("set back"), "{standing:?}");
    // Whether there is less than was signed, or more of something else.
    for count in [1, 60] {
        let mut last = submit(&engine).await;
        for _ in 1..count {
            last = submit(&engine).await;
        }
        let refusal = engine.proven(last, SOON).await.unwrap_err();
        assert_eq!(refusal.code, Code::NotProven, "committing goes on, the log does not");
    }
    let before = place.verified(&*store);
    assert_eq!(before.events, 30, "what was published stays as it was");

    engine.fork("restored last night's backup".to_owned()).await.unwrap();
    let id = submit(&engine).await;
    until(&engine, |standing| *standing == Standing::Running).await;
    engine.proven(id, SOON).await.unwrap();
    let report = place.verified(&*store);
    assert_eq!(report.events, 30 + 1 + 60 + 1);
    let [(_, Record::Forked(fork))] = &report.acts[..] else { panic!("{:?}", report.acts) };
    assert_eq!((fork.size, fork.reason.as_str()), (71, "restored last night's backup"));
    let refusal = engine.fork("again".to_owned()).await.unwrap_err();
    assert_eq!(refusal.code, Code::LogRunning);
    stop(engine, store).await;
    place.live(5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_that_got_out_before_its_checkpoint_is_caught_up_with() {
    let place = Place::new();
    place.live(10).await;
    let (engine, store) = place.start().await;
    let old = StoreTiles(&*store).checkpoint().unwrap().unwrap();
    stop(engine, store).await;
    place.live(300).await;
    // As after a crash between the signature and the checkpoint: the guard knows more than the store says.
    let store = SqliteStore::open(&place.data(), Arc::new(SystemClock::new())).unwrap();
    let tiles = StoreTiles(&store);
    let newest = tiles.checkpoint().unwrap();
    assert_eq!(tiles.swap_checkpoint(newest.as_deref(), &old).unwrap(), audit::follow::Swap::Done);
    drop(store);
    let (engine, store) = place.start().await;
    let id = submit(&engine).await;
    engine.proven(id, SOON).await.unwrap();
    assert_eq!(place.verified(&*store).events, 311);
    stop(engine, store).await;
}

/// Witnesses of this process, by their address.
struct Bench(Mutex<Vec<(String, Option<Witness>)>>);

impl Post for Bench {
    fn post(&self, url: &str, body: &str) -> Result<(u16, Vec<u8>), String> {
        let bench = self.0.lock().unwrap();
        let (_, witness) = bench.iter().find(|(known, _)| known == url).ok_or("nobody is there")?;
        let witness = witness.as_ref().ok_or("it does not answer")?;
        let answer =
            witness.add_checkpoint(body.as_bytes(), 1_800_000_000).map_err(|error| error.to_string())?;
        Ok((answer.status, answer.body.into_bytes()))
    }
}

/// Adds a witness that answers and one that does not; the policy that names them.
fn witnessed(place: &mut Place) -> Policy {
    let (keys, _) = KeyFile::open(&place.folder.path().join("log.key"), None).unwrap();
    let key = |name: &str, seed| SigningKey::from_seed(name, Algorithm::CosignatureV1, &[seed; 32]).unwrap();
    let witness = Witness {
        logs: keys.verifiers().unwrap(),
        signer: Box::new(key("good.example", 1)),
        state: Box::new(MemoryState::default()),
    };
    let text = format!(
        "witness good {} http://good.example\nwitness gone {} http://gone.example\nquorum good\n",
        key("good.example", 1).verifier(),
        key("gone.example", 2).verifier()
    );
    let policy = Policy::parse(text.as_bytes()).unwrap();
    let bench =
        vec![("http://good.example".to_owned(), Some(witness)), ("http://gone.example".to_owned(), None)];
    let witnesses = Witnesses::new(policy.clone(), Arc::new(Bench(Mutex::new(bench))));
    place.options.log.as_mut().unwrap().witnesses = Some(witnesses);
    policy
}

#[tokio::test(flavor = "multi_thread")]
async fn witnesses_cosign_and_one_that_is_gone_holds_nobody_up() {
    let mut place = Place::new();
    let policy = witnessed(&mut place);
    let (engine, store) = place.start().await;
    for _ in 0..5 {
        let id = submit(&engine).await;
        engine.proven(id, SOON).await.unwrap();
    }
    let (keys, _) = KeyFile::open(&place.folder.path().join("log.key"), None).unwrap();
    let trust = Trust { keys: keys.verifiers().unwrap(), policy: Some(policy) };
    // A proof does not wait for witnesses: they come a moment later.
    while trust.open(StoreTiles(&*store).checkpoint().unwrap().unwrap().as_bytes()).is_err() {
        tokio::task::yield_now().await;
    }
    let (report, _) = engine.log_report().await.unwrap();
    let said: Vec<_> =
        report.witnesses.iter().map(|one| (one.name.as_str(), one.cosigned.is_some())).collect();
    assert_eq!(said, [("gone", false), ("good", true)], "{report:?}");
    stop(engine, store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_witness_remembers_what_store_and_guard_have_forgotten() {
    let mut place = Place::new();
    place.live(10).await;
    let guard = place.options.log.as_ref().unwrap().guard.clone();
    let (backup, old_guard) = (place.folder.path().join("backup"), std::fs::read(&guard).unwrap());
    copy(&place.data(), &backup);
    witnessed(&mut place);
    place.live(10).await;
    std::fs::remove_dir_all(place.data()).unwrap();
    copy(&backup, &place.data());
    std::fs::write(&guard, old_guard).unwrap();

    let (engine, store) = place.start().await;
    let standing = until(&engine, is_refused).await;
    assert!(format!("{standing:?}").contains("witness good"), "{standing:?}");
    submit(&engine).await;
    engine.fork("restored a backup".to_owned()).await.unwrap();
    let id = submit(&engine).await;
    until(&engine, |standing| *standing == Standing::Running).await;
    engine.proven(id, SOON).await.unwrap();
    let report = place.verified(&*store);
    assert_eq!((report.events, report.acts.len()), (12, 1));
    stop(engine, store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_events_go_once_the_log_allows_it_and_what_is_left_verifies() {
    let place = Place::new();
    place.live(600).await;
    let (engine, store) = place.start().await;
    let (versions, now) = (engine.pipelines().current(), model::Time::from_millis(4_000_000_000_000));
    let look = engine::duty::Look { store: &*store, versions: &versions, now, doubtful: false };
    let mut housekeeping =
        engine::duty::Housekeeping { keep_events: Some(Millis::from_secs(60)), logged: true };
    let mut core =
        engine::core::Core::new(store.clone(), engine.pipelines().clone(), engine::Holds::default(), [0; 32]);
    let mut pass = || {
        let found = engine::duty::Duty::pass(&mut housekeeping, look).unwrap();
        let inputs = found.inputs.len();
        core.step(&found.inputs, 0, &mut || [7; 32])
            .outcomes
            .into_iter()
            .for_each(|outcome| drop(outcome.unwrap()));
        inputs
    };
    assert_eq!(pass(), 1, "first the act");
    assert_eq!(store.leaves(0, 0).unwrap().first, 1, "nothing goes before the act is signed");
    let id = submit(&engine).await;
    engine.proven(id, SOON).await.unwrap();
    while store.leaves(0, 0).unwrap().first == 1 {
        pass();
    }
    assert_eq!(store.leaves(0, 0).unwrap().first, 513, "whole bundles");
    let report = place.verified(&*store);
    assert_eq!((report.pruned_below, report.definitions), (512, 1));
    // The definition's act went with them; evidence has it all the same.
    let evidence = engine.evidence(id, true, None).await.unwrap().to_text();
    let (keys, _) = KeyFile::open(&place.folder.path().join("log.key"), None).unwrap();
    let trust = Trust { keys: keys.verifiers().unwrap(), policy: None };
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    verify_evidence(evidence.as_bytes(), &options).unwrap_or_else(|finding| panic!("{finding}"));
    drop(core);
    stop(engine, store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leaf_the_log_cannot_hold_refuses_the_move() {
    let place = Place::new();
    let options = Options {
        decide: Some(|pipeline, current, command, context| {
            let mut decision = model::decide(pipeline, current, command, context)?;
            decision.events.iter_mut().for_each(|event| event.leaf.trigger = "x".repeat(70_000).into());
            Ok(decision)
        }),
        ..place.options.clone()
    };
    let store = Arc::new(SqliteStore::open(&place.data(), Arc::new(SystemClock::new())).unwrap());
    let engine = Engine::start(store.clone(), &options).unwrap();
    engine.apply(&Source::new("plain.toml", PLAIN)).await.unwrap();
    let application = Application {
        caller: Caller::new("ada", Role::Admin),
        payload: Json::null(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: Door::Api,
    };
    let refusal = engine.submit("plain", application, None).await.unwrap_err();
    assert_eq!(refusal.code, Code::TooLarge);
    assert_eq!(store.leaves(0, 10).unwrap().leaves.len(), 1, "nothing but the definition");
    stop(engine, store).await;
}
