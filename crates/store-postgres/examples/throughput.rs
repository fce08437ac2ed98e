//! Measures how fast the store moves submissions, and whether the rate lasts.
//!
//! `cargo run --release -p milepost-store-postgres --example throughput -- [--url URL] [--moves 1000000]`
//!
//! Submissions go round and round through two states, as with workers: every step finishes what it had claimed and
//! claims the next. In the same run a plain loop makes one transaction a move on tables of its own: look for the next row,
//! lock it, update it, insert an event. Exits with 1 where a bound does not hold.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made has failed")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use engine::core::{Ask, ClaimMany, Core, Input, Output};
use engine::{Holds, Pipelines, SystemClock};
use model::admit::{Application, Door, admit};
use model::command::Finish;
use model::pipeline::{Source, load};
use model::{Caller, Command, Json, LeaseToken, Name, Pipeline, Role};
use store::{Clock, Store};
use store_postgres::{PostgresStore, Settings};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

const RING: &str = r#"
name = "ring"
version = 1
title = "Ring"
start = "EVEN"
[states.EVEN]
task = "ring.turn"
lease = "1h"
on.turned = "ODD"
on.ended = "DONE"
[states.ODD]
task = "ring.turn"
lease = "1h"
on.turned = "EVEN"
[states.DONE]
final = "success"
"#;

/// The least that a run must reach.
const TIMES_NAIVE_MIN: f64 = 8.0;
const HOT_MIN: f64 = 0.95;
const STAYS_MIN: f64 = 0.8;

struct Wanted {
    url: String,
    moves: u64,
    submissions: u64,
    batch: usize,
}

impl Wanted {
    fn read() -> Wanted {
        let mut wanted = Wanted {
            url: std::env::var("MILEPOST_TEST_POSTGRES").unwrap_or_default(),
            moves: 1_000_000,
            submissions: 20_000,
            batch: 500,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().expect("every option has a value");
            match name.as_str() {
                "--url" => wanted.url = value,
                "--moves" => wanted.moves = value.parse().unwrap(),
                "--submissions" => wanted.submissions = value.parse().unwrap(),
                "--batch" => wanted.batch = value.parse().unwrap(),
                other => panic!("no option {other}; there is --url, --moves, --submissions, --batch"),
            }
        }
        assert!(!wanted.url.is_empty(), "say where PostgreSQL is with --url or MILEPOST_TEST_POSTGRES");
        wanted
    }
}

/// A stopwatch in seconds.
struct Watch(SystemClock, i64);

impl Watch {
    fn start() -> Watch {
        let clock = SystemClock::new();
        let now = clock.now().millis();
        Watch(clock, now)
    }

    #[allow(clippy::cast_precision_loss, reason = "a measurement of seconds")]
    fn rate(&self, moves: u64) -> f64 {
        moves as f64 * 1_000.0 / (self.0.now().millis() - self.1).max(1) as f64
    }

    fn millis(&self) -> i64 {
        self.0.now().millis() - self.1
    }
}

struct Ring {
    core: Core,
    pipeline: Arc<Pipeline>,
    tokens: Vec<LeaseToken>,
    drawn: u64,
    batch: usize,
}

impl Ring {
    fn new(store: Arc<dyn Store>, batch: usize) -> Ring {
        let source = Source::new("ring.toml", RING);
        let pipeline =
            Arc::new(load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source))));
        let pipelines = Pipelines::default();
        pipelines.insert(pipeline.clone());
        let core = Core::new(store, pipelines, Holds::default(), [0; 32]);
        Ring { core, pipeline, tokens: Vec::new(), drawn: 0, batch }
    }

    fn step(&mut self, inputs: &[Input]) -> Vec<Output> {
        let drawn = &mut self.drawn;
        let mut seed = || {
            *drawn += 1;
            model::Digest::of(&drawn.to_be_bytes()).0
        };
        let step = self.core.step(inputs, engine::core::DUE_MAX, &mut seed);
        assert!(step.unreachable.is_none(), "{:?}", step.unreachable);
        step.outcomes.into_iter().map(Result::unwrap).collect()
    }

    fn submit(&mut self, count: u64) {
        for first in (0..count).step_by(self.batch) {
            let some = first..(first + self.batch as u64).min(count);
            let inputs: Vec<Input> = some.map(|no| Ask::Submit(self.admission(no).into()).into()).collect();
            self.step(&inputs);
        }
    }

    fn admission(&self, no: u64) -> model::admit::Admission {
        let payload =
            Json::parse(&format!(r#"{{"no":{no},"text":"about as much as people send"}}"#)).unwrap();
        let caller = Caller::new("bench", Role::Submitter);
        let application = Application {
            caller,
            payload,
            key: None,
            priority: None,
            not_before: None,
            reason: None,
            door: Door::Api,
        };
        admit(&self.pipeline, application, &mut model::schema::Fuel::whole()).unwrap()
    }

    /// Finishes what was claimed and claims the next. Returns how many moves that made.
    fn turn(&mut self) -> u64 {
        let claim = ClaimMany {
            worker: "bench".into(),
            tasks: vec![Name::from("ring.turn")],
            pipelines: Vec::new(),
            labels: BTreeMap::new(),
            max: self.batch,
            arriving: false,
            only: None,
            lease: None,
        };
        let finishes = std::mem::take(&mut self.tokens).into_iter().map(|token| {
            let finish = Finish {
                token,
                outcome: "turned".into(),
                output: None,
                result: None,
                children: Vec::new(),
                entries: Vec::new(),
            };
            Ask::Tell(token.submission, Command::Finish(finish)).into()
        });
        let inputs: Vec<Input> = finishes.chain([Ask::Claim(claim).into()]).collect();
        let mut outputs = self.step(&inputs);
        let Some(Output::Tasks(tasks)) = outputs.pop() else { panic!("a claim is answered by tasks") };
        self.tokens = tasks.iter().map(|task| task.token).collect();
        outputs.len() as u64
    }
}

/// One transaction a move, on one connection, with prepared statements: what a first version does.
struct Naive {
    runtime: Runtime,
    client: Client,
}

impl Naive {
    fn new(url: &str, rows: u64) -> Naive {
        let runtime = Runtime::new().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            drop(tokio::spawn(connection));
            let make = format!(
                "SET client_min_messages = warning;
                 DROP SCHEMA IF EXISTS throughput_naive CASCADE; CREATE SCHEMA throughput_naive;
                 SET search_path = throughput_naive;
                 CREATE TABLE submission (id uuid PRIMARY KEY, state text NOT NULL, updated_at timestamptz NOT NULL,
                   row text NOT NULL);
                 CREATE INDEX ON submission (state, updated_at);
                 CREATE TABLE event (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, submission uuid NOT NULL,
                   body text NOT NULL);
                 CREATE INDEX ON event (submission);
                 INSERT INTO submission SELECT gen_random_uuid(), 'EVEN', clock_timestamp(), repeat('x', 800)
                   FROM generate_series(1, {rows});
                 ANALYZE submission"
            );
            client.batch_execute(&make).await.unwrap();
            client
        });
        Naive { runtime, client }
    }

    fn run(&self, millis: i64) -> f64 {
        let client = &self.client;
        self.runtime.block_on(async {
            let next = "SELECT id, row FROM submission WHERE state = 'EVEN' ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED";
            let next = client.prepare(next).await.unwrap();
            let update = "UPDATE submission SET state = 'EVEN', updated_at = clock_timestamp(), row = $2 WHERE id = $1";
            let update = client.prepare(update).await.unwrap();
            let insert = "INSERT INTO event (submission, body) VALUES ($1, $2)";
            let insert = client.prepare(insert).await.unwrap();
            let body = "y".repeat(700);
            let (watch, mut moves) = (Watch::start(), 0);
            while watch.millis() < millis {
                client.batch_execute("BEGIN").await.unwrap();
                let row = client.query_one(&next, &[]).await.unwrap();
                let (id, text): (uuid::Uuid, String) = (row.get(0), row.get(1));
                client.execute(&update, &[&id, &text]).await.unwrap();
                client.execute(&insert, &[&id, &body]).await.unwrap();
                client.batch_execute("COMMIT").await.unwrap();
                moves += 1;
            }
            watch.rate(moves)
        })
    }

    fn number(&self, query: &str) -> i64 {
        self.runtime.block_on(self.client.query_one(query, &[])).unwrap().get(0)
    }

    fn clear(&self, schema: &str) {
        let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
        self.runtime.block_on(self.client.batch_execute(&drop)).unwrap();
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut rates = rates.to_vec();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn main() -> ExitCode {
    const SCHEMA: &str = "throughput";
    let wanted = Wanted::read();
    let naive = Naive::new(&wanted.url, wanted.submissions);
    naive.clear(SCHEMA);
    let store = Arc::new(PostgresStore::open(&Settings::new(&wanted.url).schema(SCHEMA)).unwrap());
    let mut ring = Ring::new(store.clone(), wanted.batch);
    ring.submit(wanted.submissions);
    ring.turn();
    // Both in turn, so that whatever else the machine does slows both.
    let window = (wanted.moves / 20).max(1);
    let (mut done, mut rates, mut naive_rates) = (0, Vec::new(), Vec::new());
    while done < wanted.moves {
        naive_rates.push(naive.run(2_000));
        let (watch, mut moves) = (Watch::start(), 0);
        while moves < window {
            moves += ring.turn();
        }
        done += moves;
        rates.push(watch.rate(moves));
        println!(
            "{done:>9} moves: {:>8.0} a second; naive {:>6.0}",
            rates[rates.len() - 1],
            naive_rates[naive_rates.len() - 1]
        );
    }
    drop(ring);
    drop(store);
    let counted = |column: &str| {
        naive.number(&format!(
            "SELECT {column} FROM pg_stat_user_tables WHERE relname = 'submission' AND schemaname = '{SCHEMA}'"
        ))
    };
    // Connections tell what they did when they end.
    let updates = i64::try_from(done).unwrap() * 2;
    while counted("n_tup_upd") < updates {
        std::thread::yield_now();
    }
    #[allow(clippy::cast_precision_loss, reason = "a ratio")]
    let hot = counted("n_tup_hot_upd") as f64 / counted("n_tup_upd") as f64;
    let (times, part) = (median(&rates) / median(&naive_rates), rates.len().div_ceil(4));
    let stays = median(&rates[rates.len() - part..]) / median(&rates[..part]);
    naive.clear(SCHEMA);
    naive.clear("throughput_naive");
    println!("{times:.1} times the naive loop (at least {TIMES_NAIVE_MIN})");
    println!("{:.2} % of updates stayed on their page (at least {:.0} %)", hot * 100.0, HOT_MIN * 100.0);
    println!("{stays:.2} of the rate of the first quarter in the last (at least {STAYS_MIN})");
    let holds = times >= TIMES_NAIVE_MIN && hot >= HOT_MIN && stays >= STAYS_MIN;
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
