//! The demo's own ledger. It speaks Sawtooth's REST API, and is as good as ledgers are: slow, for a batch waits for a block and
//! then for another one; busy, for it has no room at times; and forgetful, for some of what it took is gone a moment later.
//!
//! Nothing is left to chance: the fate of a batch follows from how many its sender has sent before.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::batches::{self, Payment, Signed};

/// The time between two blocks.
const BLOCK: Duration = Duration::from_millis(400);
/// The transactions for which a block has room.
pub(super) const TRANSACTIONS_MAX: usize = 10;
/// The funds of an account at first, and the most that it keeps.
const FUNDS: u64 = 100;
/// The earnings of every account by a block.
const INCOME: u64 = 2;
/// Decided batches that are remembered.
const DECIDED_MAX: usize = 2_000;
/// The number of batches of a sender of which the ledger forgets one.
const FORGETS: u64 = 3;
/// For one of so many it has no room for a while.
const BUSY: u64 = 4;
/// The times that it then says so: more than the quick attempts of one submission.
const BUSY_TIMES: u32 = 4;

/// A ledger on a free port of this machine. It ends when this is dropped.
pub(super) struct Ledger {
    pub(super) port: u16,
    _running: JoinSet<()>,
}

/// The fate of a batch, as far as the ledger has come with it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Looked at in so many blocks.
    Waits(u64),
    /// Taken, and gone with the next block: the ledger knows nothing of it any more.
    Slips,
    Valid,
    Committed,
    Invalid(Payment, String),
}

#[derive(Debug, Default)]
struct Account {
    spent: u64,
    /// Blocks since it was opened.
    blocks: u64,
    /// Different batches that came.
    came: u64,
}

/// The memory of a ledger.
#[derive(Debug, Default)]
struct Book {
    accounts: BTreeMap<String, Account>,
    stages: BTreeMap<String, (Stage, Vec<Payment>)>,
    /// The number of each batch among those of its sender, and the times that the ledger had no room for it.
    seen: BTreeMap<String, (u64, u32)>,
    /// Headers in the order in which they were decided or first seen, to be forgotten for good some time.
    decided: VecDeque<String>,
}

type Shared = Arc<Mutex<Book>>;

impl Ledger {
    pub(super) async fn start() -> std::io::Result<Ledger> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let book = Shared::default();
        let router = Router::new()
            .route("/batches", post(submit))
            .route("/batch_statuses", get(statuses_asked).post(statuses_listed))
            .with_state(book.clone());
        let mut running = JoinSet::new();
        running.spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the demo's ledger has ended");
            }
        });
        running.spawn(async move {
            loop {
                tokio::time::sleep(BLOCK).await;
                locked(&book).block();
            }
        });
        Ok(Ledger { port, _running: running })
    }
}

fn locked(book: &Shared) -> std::sync::MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// Takes a batch, or says why not. One that it has already is accepted and stays as it is.
    fn take(&mut self, batch: Signed) -> Result<(), (StatusCode, String)> {
        let Signed { header, payments } = batch;
        if payments.len() > TRANSACTIONS_MAX {
            let message = format!(
                "the batch has {} transactions, and a block has room for {TRANSACTIONS_MAX}",
                payments.len()
            );
            return Err((StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        if self.stages.contains_key(&header) {
            return Ok(());
        }
        let (number, refused) = match self.seen.get(&header) {
            Some(seen) => *seen,
            None => {
                let account = self.accounts.entry(payments[0].from.clone()).or_default();
                account.came += 1;
                self.decided.push_back(header.clone());
                (account.came, 0)
            }
        };
        let is_new = !self.seen.contains_key(&header);
        if number % BUSY == 0 && refused < BUSY_TIMES {
            self.seen.insert(header, (number, refused + 1));
            return Err((StatusCode::SERVICE_UNAVAILABLE, "the queue of batches is full".to_owned()));
        }
        self.seen.insert(header.clone(), (number, refused));
        let slips = is_new && number % FORGETS == 0;
        let stage = if slips { Stage::Slips } else { Stage::Waits(number % 3) };
        self.stages.insert(header, (stage, payments));
        Ok(())
    }

    /// Makes a block: everything that waits comes one step further.
    fn block(&mut self) {
        for account in self.accounts.values_mut() {
            account.blocks += 1;
        }
        self.stages.retain(|_, (stage, _)| *stage != Stage::Slips);
        for (stage, payments) in self.stages.values_mut() {
            match stage {
                Stage::Waits(0) => *stage = judged(&mut self.accounts, payments),
                Stage::Waits(blocks) => *blocks -= 1,
                Stage::Valid => *stage = Stage::Committed,
                Stage::Slips | Stage::Committed | Stage::Invalid(..) => {}
            }
        }
        while self.decided.len() > DECIDED_MAX {
            if let Some(header) = self.decided.pop_front() {
                self.stages.remove(&header);
                self.seen.remove(&header);
            }
        }
    }

    fn status(&self, id: &str) -> Value {
        let (name, invalid) = match self.stages.get(id) {
            None => ("UNKNOWN", json!([])),
            Some((Stage::Waits(_) | Stage::Slips, _)) => ("PENDING", json!([])),
            Some((Stage::Valid, _)) => ("VALID", json!([])),
            Some((Stage::Committed, _)) => ("COMMITTED", json!([])),
            Some((Stage::Invalid(payment, why), _)) => {
                ("INVALID", json!([{ "id": payment.id, "message": why, "extended_data": "" }]))
            }
        };
        json!({ "id": id, "status": name, "invalid_transactions": invalid })
    }
}

/// Executes the payments of a batch: all of them, or none.
fn judged(accounts: &mut BTreeMap<String, Account>, payments: &[Payment]) -> Stage {
    let mut spent: BTreeMap<&str, u64> = BTreeMap::new();
    for payment in payments {
        let account = accounts.get(&payment.from);
        let has = account
            .map_or(0, |account| (FUNDS + account.blocks * INCOME).saturating_sub(account.spent).min(FUNDS));
        let total = spent.entry(&payment.from).or_default();
        *total = total.saturating_add(payment.pays);
        if *total > has {
            let why = format!("{} has {has} and cannot pay {total}", payment.from);
            return Stage::Invalid(payment.clone(), why);
        }
    }
    for (from, total) in spent {
        if let Some(account) = accounts.get_mut(from) {
            // What was earned beyond the most is gone.
            let earned = FUNDS + account.blocks * INCOME;
            account.spent = account.spent.max(earned.saturating_sub(FUNDS)) + total;
        }
    }
    Stage::Valid
}

async fn submit(State(book): State<Shared>, body: Bytes) -> Response {
    let Some(read) = batches::read(&body) else {
        return (StatusCode::BAD_REQUEST, "this is no list of batches with good signatures").into_response();
    };
    let ids: Vec<String> = read.iter().map(|batch| batch.header.clone()).collect();
    for batch in read {
        if let Err(refused) = locked(&book).take(batch) {
            return refused.into_response();
        }
    }
    let link = json!({ "link": format!("/batch_statuses?id={}", ids.join(",")) });
    (StatusCode::ACCEPTED, link.to_string()).into_response()
}

async fn statuses_asked(State(book): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let ids = query.split('&').find_map(|pair| pair.strip_prefix("id=")).unwrap_or_default();
    statuses(&book, ids.split(',').filter(|id| !id.is_empty()))
}

async fn statuses_listed(State(book): State<Shared>, body: Bytes) -> Response {
    match serde_json::from_slice::<Vec<String>>(&body) {
        Ok(ids) => statuses(&book, ids.iter().map(String::as_str)),
        Err(_) => (StatusCode::BAD_REQUEST, "this is no list of ids").into_response(),
    }
}

fn statuses<'a>(book: &Shared, ids: impl Iterator<Item = &'a str>) -> Response {
    let book = locked(book);
    let found: Vec<Value> = ids.map(|id| book.status(id)).collect();
    json!({ "data": found }).to_string().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(header: &str, pays: &[u64]) -> Signed {
        let payment = |pays: &u64| Payment { id: format!("{header}-t"), from: "s".to_owned(), pays: *pays };
        Signed { header: header.to_owned(), payments: pays.iter().map(payment).collect() }
    }

    fn status(book: &Book, id: &str) -> String {
        book.status(id)["status"].as_str().unwrap().to_owned()
    }

    fn after_blocks(book: &mut Book, id: &str) -> Vec<String> {
        let mut path = vec![status(book, id)];
        for _ in 0..6 {
            book.block();
            path.push(status(book, id));
            path.dedup();
        }
        path
    }

    #[test]
    fn a_batch_waits_for_a_block_and_for_another() {
        let mut book = Book::default();
        assert_eq!(book.take(batch("a", &[30])), Ok(()));
        assert_eq!(after_blocks(&mut book, "a"), ["PENDING", "VALID", "COMMITTED"]);
        assert_eq!(book.take(batch("a", &[30])), Ok(()), "it has it already");
        assert_eq!(after_blocks(&mut book, "a"), ["COMMITTED"]);
    }

    #[test]
    fn who_pays_more_than_there_is_pays_nothing() {
        let mut book = Book::default();
        book.take(batch("a", &[30, 80])).unwrap();
        assert_eq!(after_blocks(&mut book, "a"), ["PENDING", "INVALID"]);
        let said = book.status("a")["invalid_transactions"][0]["message"].to_string();
        assert!(said.contains("cannot pay 110"), "{said}");
        book.take(batch("b", &[100])).unwrap();
        assert_eq!(after_blocks(&mut book, "b"), ["PENDING", "VALID", "COMMITTED"]);
    }

    #[test]
    fn every_third_is_forgotten_once_and_for_every_fourth_there_is_no_room_for_a_while() {
        let mut book = Book::default();
        for id in ["a", "b", "c"] {
            book.take(batch(id, &[1])).unwrap();
        }
        assert_eq!(after_blocks(&mut book, "c"), ["PENDING", "UNKNOWN"]);
        book.take(batch("c", &[1])).unwrap();
        assert_eq!(after_blocks(&mut book, "c"), ["PENDING", "VALID", "COMMITTED"]);
        for _ in 0..BUSY_TIMES {
            let (status, _) = book.take(batch("d", &[1])).unwrap_err();
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        }
        assert_eq!(book.take(batch("d", &[1])), Ok(()));
    }

    #[test]
    fn a_batch_that_fits_into_no_block_is_never_taken() {
        let mut book = Book::default();
        let (status, message) = book.take(batch("a", &[1; TRANSACTIONS_MAX + 1])).unwrap_err();
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
        assert!(message.contains("11 transactions"), "{message}");
    }

    #[test]
    fn what_was_decided_long_ago_is_let_go() {
        let mut book = Book::default();
        for no in 0..2 * DECIDED_MAX {
            drop(book.take(batch(&no.to_string(), &[0])));
        }
        book.block();
        assert!(book.seen.len() <= DECIDED_MAX && book.stages.len() <= DECIDED_MAX);
    }
}
