//! Seeds that must hold, on every store.
//!
//! A failure ends with the command that replays it. More seeds: `SIM_SEED=1000 SIM_SEEDS=500 cargo test ... one_seed`.

use std::sync::LazyLock;

use sim::{Failure, Fault, Kind, Options, Report, attempt, run};

const MEMORY_SEEDS: u64 = 160;
const MEMORY_STEPS: usize = 150;
const SQLITE_SEEDS: u64 = 40;
/// Few: a commit here is a dozen round trips and a sync.
const POSTGRES_SEEDS: u64 = 6;
const POSTGRES_STEPS: usize = 50;
/// Every commit of these is synced to the disk.
const SQLITE_STEPS: usize = 60;

/// The server that `cargo xtask test` starts.
fn postgres() -> Kind {
    static URL: LazyLock<String> = LazyLock::new(|| {
        std::env::var("MILEPOST_TEST_POSTGRES").expect(
            "MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`",
        )
    });
    Kind::Postgres(&URL)
}

/// Runs seeds with everything that can go wrong, and adds up what happened in them.
fn runs(kind: Kind, seeds: u64, steps: usize) -> (Report, Vec<Failure>) {
    let (mut total, mut failures) = (Report::default(), Vec::new());
    let share = |first: u64, step: usize| -> Vec<Result<Report, Failure>> {
        let own = (first..seeds).step_by(step);
        own.map(|seed| attempt(Options { seed, kind, steps, faults: true })).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let found: Vec<_> = std::thread::scope(|scope| {
        let share = &share;
        let started: Vec<_> =
            (0..threads).map(|index| scope.spawn(move || share(index as u64, threads))).collect();
        started.into_iter().flat_map(|thread| thread.join().expect("a seed that fails is caught")).collect()
    });
    for run in found {
        match run {
            Ok(report) => total.absorb(&report),
            Err(failure) => failures.push(failure),
        }
    }
    (total, failures)
}

/// Shared by the tests that look at what happened.
static ON_MEMORY: LazyLock<(Report, Vec<Failure>)> =
    LazyLock::new(|| runs(Kind::Memory, MEMORY_SEEDS, MEMORY_STEPS));

fn assert_none(failures: &[Failure]) {
    let shown: Vec<String> = failures.iter().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), shown.join("\n\n"));
}

#[test]
fn one_seed() {
    let env = |name: &str| std::env::var(name).ok();
    let number = |name: &str, usual: u64| env(name).map_or(usual, |text| text.parse().unwrap());
    let (first, seeds) = (number("SIM_SEED", 1), number("SIM_SEEDS", 1));
    let steps = usize::try_from(number("SIM_STEPS", 100)).unwrap();
    let kind = match env("SIM_STORE").as_deref() {
        Some("sqlite") => Kind::Sqlite,
        Some("postgres") => postgres(),
        _ => Kind::Memory,
    };
    let faults = env("SIM_FAULTS").as_deref() != Some("false");
    let mut total = Report::default();
    let mut failures = Vec::new();
    for seed in first..first + seeds {
        match attempt(Options { seed, kind, steps, faults }) {
            Ok(report) => total.absorb(&report),
            Err(failure) => {
                println!("{failure}\n");
                failures.push(failure);
            }
        }
    }
    println!("{:#?}", total.counts);
    assert!(failures.is_empty(), "{} of {seeds} seeds failed", failures.len());
}

#[test]
fn many_seeds_hold_on_memory() {
    assert_none(&ON_MEMORY.1);
}

/// Seeds that failed once, on the memory store, and what happens in them that no other test had met. The worlds change
/// as the simulation does: what a seed shows has a test of its own as well, or a sentence beside the check.
const KEPT: [(u64, &str); 21] = [
    (777_071, "people agree to another action while the task of a granted one runs"),
    (2_001_532, "a worker snoozes in the step in which a service level is missed"),
    (2_001_565, "a hold takes one out of the line whose granted action has a worker"),
    (2_002_541, "the time of a kept answer is over, and then the clock is set back"),
    (2_007_855, "a hold ends and is placed again in one step"),
    (40_000_061, "a parent is cancelled while its child waits for a delay to be over"),
    (40_000_704, "an older one joins a line while its lane changes hands"),
    (40_000_943, "a rollback is asked for before the version is applied, in one step"),
    (40_000_980, "the parameters of a migration's target are set between the look and the commit"),
    (40_001_318, "a task that crashed is handed from worker to worker for too long"),
    (40_004_361, "a submission that kept a slot as another version migrates"),
    (40_012_500, "the task of an action on an ended submission runs when its time to live is over"),
    (40_012_857, "two operations end and reopen what a third one looks for"),
    (40_013_701, "a lease is given back in the step in which its submission migrates"),
    (70_010_488, "a submission migrates to where it has more time, and its lease is renewed, in one step"),
    (70_013_917, "a hold ends, is placed again and ends again while its first end is not paid for"),
    (110_015_826, "a version is applied behind another in one step, and the server does not hear of it"),
    (120_009_649, "a hold is asked for once more when its time is over"),
    (130_001_234, "a hold is released, a task is leased and the hold placed again, in one step"),
    (140_001_994, "the clock is set back between the missing of a service level and the move that follows"),
    (310_001_703, "an answer is repeated with another time for one of its children"),
];

#[test]
fn seeds_that_failed_once_hold() {
    let attempts = KEPT
        .map(|(seed, _)| attempt(Options { seed, kind: Kind::Memory, steps: MEMORY_STEPS, faults: true }));
    let failures: Vec<Failure> = attempts.into_iter().filter_map(Result::err).collect();
    assert_none(&failures);
}

#[test]
fn many_seeds_hold_on_sqlite() {
    let (total, failures) = runs(Kind::Sqlite, SQLITE_SEEDS, SQLITE_STEPS);
    assert_none(&failures);
    for happened in
        ["crash/Clean", "crash/Killed", "fault/UnknownDone", "fault/CrashAfter", "fault/SyncFailed"]
    {
        assert!(total.of(happened) > 0, "{happened} never happened: {:#?}", total.counts);
    }
}

#[test]
fn seeds_hold_on_postgres() {
    let (total, failures) = runs(postgres(), POSTGRES_SEEDS, POSTGRES_STEPS);
    assert_none(&failures);
    // Few seeds: what happens in most of them.
    for happened in ["crash/Killed", "crash/one-server", "fault/Unreachable", "fault/answer-lost"] {
        assert!(total.of(happened) > 0, "{happened} never happened: {:#?}", total.counts);
    }
}

#[test]
fn the_same_seed_gives_the_same_history_on_every_store() {
    for (seed, faults) in [(100, false), (101, false), (102, false), (103, true), (104, true), (105, true)] {
        let history = |kind| {
            attempt(Options { seed, kind, steps: 100, faults }).unwrap_or_else(|failure| panic!("{failure}"))
        };
        let memory = history(Kind::Memory);
        assert!(memory.leaves.len() > 60, "seed {seed} has hardly any history: {}", memory.leaves.len());
        // In these worlds no store tells more than one that others write to.
        let kinds = if seed % 3 == 1 { vec![Kind::Sqlite, postgres()] } else { vec![Kind::Sqlite] };
        for kind in kinds {
            let (other, store) = (history(kind), kind.as_str());
            let differs = memory.leaves.iter().zip(&other.leaves).position(|(one, other)| one != other);
            assert_eq!(differs, None, "seed {seed} (faults: {faults}) on {store}: the histories part here");
            assert_eq!(memory.counts, other.counts, "seed {seed} (faults: {faults}) on {store}");
            assert_eq!(memory.leaves.len(), other.leaves.len());
        }
    }
}

#[test]
fn a_seed_gives_the_same_run_twice() {
    let (first, second) = (run(7, Kind::Memory, 100), run(7, Kind::Memory, 100));
    assert_eq!(first, second);
    assert_ne!(first.leaves, run(8, Kind::Memory, 100).leaves, "another seed is another run");
}

#[test]
fn everything_that_can_happen_happens() {
    let events = [
        "submitted",
        "moved",
        "retried",
        "crashed",
        "died",
        "requested",
        "abandoned",
        "amended",
        "redriven",
        "sealed",
        "erased",
        "forgotten",
        "late",
        "approved",
        "acknowledged",
        "assigned",
        "released",
        "noted",
        "migrated",
    ];
    let answers = [
        "submitted",
        "duplicate",
        "granted",
        "renewed",
        "settled",
        "settlement-repeated",
        "acted",
        "request-repeated",
        "spawned",
        "hold-placed",
        "hold-released",
        "cursor-moved",
        "version-retired",
    ];
    let refused = [
        "invalid-request",
        "schema-violation",
        "not-admitted",
        "guard-error",
        "key-mismatch",
        "unknown-outcome",
        "reason-required",
        "pick-required",
        "idempotency-mismatch",
        "too-large",
        "role-required",
        "unknown-submission",
        "duplicate-key",
        "key-conflict",
        "stale-lease",
        "action-not-allowed",
        "guard-not-met",
        "expired",
        "version-exists",
        "version-outdated",
        "revision-mismatch",
        "lane-taken",
        "not-dead",
        "nothing-to-acknowledge",
        "not-amendable",
        "unknown-hold",
        "erased",
        "self-approval",
        "not-submitter",
        "not-in-review",
        "review-taken",
        "not-migratable",
        "unknown-operation",
        "unknown-version",
        "operation-over",
        "cursor-ahead",
        "unavailable",
        "outcome-unknown",
    ];
    let moments = [
        "timeout",
        "quarantine",
        "retries-used-up",
        "ttl-edge-failed",
        "ended-again",
        "not-retryable",
        "guard-error",
        "wait-over",
        "expired",
        "delay-over",
        "not-before-over",
        "snoozed",
        "given-back",
        "parked",
        "limited",
        "unparked",
        "seated",
        "key-passed",
        "forgotten",
        "retired",
    ];
    let faults = Fault::ALL.map(|fault| format!("fault/{fault:?}"));
    let others = [
        "fault/outage",
        "fault/long-outage",
        "fault/clock-set-back",
        "fault/answer-lost",
        "crash/Clean",
        "crash/Killed",
        "crash/one-server",
        "rest/reached",
        "crowded",
    ];
    let named = |kind: &'static str, names: &[&'static str]| -> Vec<String> {
        names.iter().map(|name| format!("{kind}/{name}")).collect()
    };
    let mut expected = named("event", &events);
    expected.extend(named("lane", &["free", "granted"]));
    expected.extend(named("owed", &["child", "key", "lane", "parked", "limit"]));
    expected.extend(named("children", &["all_succeeded", "some_failed", "reopened"]));
    expected.extend(named("notified", &["somebody", "nobody"]));
    expected.extend(named("late", &["leg", "state"]));
    expected.extend(named("schedule", &["began", "served", "made-up"]));
    expected.extend(named("operation", &["started", "chunk", "rows", "tried", "stopped", "done", "removed"]));
    expected.extend(named("answer", &answers));
    expected.extend(named("refused", &refused));
    expected.extend(named("moment", &moments));
    expected.extend(faults);
    expected.extend(others.map(str::to_owned));
    let total = &ON_MEMORY.0;
    let missing: Vec<_> = expected.iter().filter(|name| total.of(name) == 0).collect();
    assert!(missing.is_empty(), "never happened: {missing:?} in {:#?}", total.counts);
    let most: Vec<_> = expected.iter().filter(|name| total.of(name) < 3).collect();
    assert!(most.len() < 4, "hardly ever happened: {most:?}");
}
