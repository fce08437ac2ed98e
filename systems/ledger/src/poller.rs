//! The poller of one ledger: asks about many batches in one request, those first that were asked about longest ago.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use worker::Failure;

use crate::adapter::{Adapter, Standing, Statuses, Trouble, Watched};

/// Questions that wait between tasks and poller; tasks wait where there are more.
const ASKS_MAX: usize = 1_000;
/// Requests at a time, each for another group.
const REQUESTS_MAX: usize = 16;
/// Batches whose last question is remembered.
const REMEMBERED_MAX: usize = 100_000;

/// The near end of a poller: what tasks ask.
#[derive(Debug)]
pub(crate) struct Poller {
    asks: mpsc::Sender<Ask>,
}

/// One question, and where its answer goes.
#[derive(Debug)]
struct Ask {
    batch: Watched,
    answer: oneshot::Sender<Answer>,
}

type Answer = Result<Option<Standing>, Trouble>;

/// The memory of one batch.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The number of the request that last asked about it.
    request: u64,
    /// Times in a row that the ledger did not know it.
    unknown: u32,
}

struct Polling {
    ledger: String,
    adapter: Arc<dyn Adapter>,
    unknown_after: u32,
    /// The questions of each group, in no order.
    waiting: BTreeMap<String, Vec<Ask>>,
    /// By service and header: names of batches are unique within their service.
    seen: HashMap<(String, String), Seen>,
    /// Groups with a request on its way.
    asked: BTreeSet<String>,
    requests: JoinSet<(String, Vec<Ask>, Result<Statuses, Trouble>)>,
    request: u64,
}

impl Poller {
    /// Starts a poller, which ends when nobody can ask it any more.
    pub(crate) fn start(ledger: String, adapter: Arc<dyn Adapter>, unknown_after: u32) -> Poller {
        let (asks, questions) = mpsc::channel(ASKS_MAX);
        let polling = Polling {
            ledger,
            adapter,
            unknown_after,
            waiting: BTreeMap::new(),
            seen: HashMap::new(),
            asked: BTreeSet::new(),
            requests: JoinSet::new(),
            request: 0,
        };
        tokio::spawn(polling.run(questions));
        Poller { asks }
    }

    /// Asks about a batch. `None`: the ledger's answer does not say.
    pub(crate) async fn ask(&self, batch: Watched) -> Result<Option<Standing>, Failure> {
        let (answer, answered) = oneshot::channel();
        let gone = |()| Failure::new("stopping", "the worker is stopping");
        self.asks.send(Ask { batch, answer }).await.map_err(|_| gone(()))?;
        let answer = answered.await.map_err(|_| gone(()))?;
        answer.map_err(|trouble| Failure::new(trouble.code, trouble.message))
    }
}

impl Polling {
    async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let mut came = Vec::new();
        loop {
            tokio::select! {
                count = asks.recv_many(&mut came, ASKS_MAX) => {
                    if count == 0 {
                        return;
                    }
                    for ask in came.drain(..) {
                        self.waiting.entry(self.adapter.group(&ask.batch.service)).or_default().push(ask);
                    }
                }
                Some(ended) = self.requests.join_next() => match ended {
                    Ok((group, asks, answer)) => {
                        self.asked.remove(&group);
                        self.answer(asks, answer);
                    }
                    // Its asks have failed with it. Another request of a group is better than none ever after.
                    Err(_) => self.asked.clear(),
                },
            }
            self.begin();
        }
    }

    /// Begins requests for groups that have none on its way, those first that were asked about longest ago.
    fn begin(&mut self) {
        while self.requests.len() < REQUESTS_MAX {
            let free = self.waiting.iter().filter(|(group, _)| !self.asked.contains(*group));
            let first = free.min_by_key(|(_, asks)| asks.iter().map(|ask| self.last(ask)).min());
            let Some(group) = first.map(|(group, _)| group.clone()) else { return };
            let mut asks = self.waiting.remove(&group).unwrap_or_default();
            // Nobody waits for the answer where a lease was lost.
            asks.retain(|ask| !ask.answer.is_closed());
            asks.sort_by_cached_key(|ask| self.last(ask));
            let rest = asks.split_off(asks.len().min(self.adapter.statuses_max()));
            if !rest.is_empty() {
                self.waiting.insert(group.clone(), rest);
            }
            if asks.is_empty() {
                continue;
            }
            self.request += 1;
            for ask in &asks {
                self.seen.entry(key(&ask.batch)).or_default().request = self.request;
            }
            self.asked.insert(group.clone());
            let (adapter, batches) =
                (self.adapter.clone(), asks.iter().map(|ask| ask.batch.clone()).collect());
            self.requests.spawn(request(adapter, group, batches, asks));
        }
    }

    fn last(&self, ask: &Ask) -> u64 {
        self.seen.get(&key(&ask.batch)).map_or(0, |seen| seen.request)
    }

    fn answer(&mut self, asks: Vec<Ask>, answer: Result<Statuses, Trouble>) {
        let statuses = match answer {
            Ok(statuses) => statuses,
            Err(trouble) => {
                tracing::warn!(
                    ledger = self.ledger,
                    batches = asks.len(),
                    code = trouble.code,
                    message = trouble.message,
                    "cannot ask about batches"
                );
                asks.into_iter().for_each(|ask| drop(ask.answer.send(Err(trouble.clone()))));
                return;
            }
        };
        self.report(&asks, &statuses);
        for (ask, standing) in asks.into_iter().zip(statuses.of) {
            let standing = self.judged(key(&ask.batch), standing);
            drop(ask.answer.send(Ok(standing)));
        }
        if self.seen.len() > REMEMBERED_MAX {
            self.seen.retain(|_, seen| seen.unknown > 0);
        }
        if self.seen.len() > REMEMBERED_MAX {
            self.seen.clear();
        }
    }

    /// Takes a ledger's word that it does not know a batch only after it has said so several times in a row: some say so
    /// when a decision merely took too long.
    fn judged(&mut self, key: (String, String), standing: Option<Standing>) -> Option<Standing> {
        let seen = self.seen.entry(key.clone()).or_default();
        match standing {
            None => return None,
            Some(Standing::Pending) => seen.unknown = 0,
            Some(Standing::Unknown) => {
                seen.unknown += 1;
                if seen.unknown < self.unknown_after {
                    return Some(Standing::Pending);
                }
                self.seen.remove(&key);
            }
            Some(_) => drop(self.seen.remove(&key)),
        }
        standing
    }

    /// Tells of ids that nobody asked for, and of those that the answer leaves out. Neither changes anything.
    fn report(&self, asks: &[Ask], statuses: &Statuses) {
        let missing = asks.iter().zip(&statuses.of).filter(|(_, standing)| standing.is_none());
        let missing: Vec<&str> = missing.map(|(ask, _)| name(&ask.batch)).collect();
        if let Some(first) = missing.first() {
            let (ledger, count) = (&self.ledger, missing.len());
            tracing::warn!(ledger, count, first, "a ledger's answer leaves out batches that were asked for");
        }
        if let Some(first) = statuses.foreign.first() {
            let (ledger, count) = (&self.ledger, statuses.foreign.len());
            let first: String = first.chars().take(140).collect();
            tracing::warn!(ledger, count, first, "a ledger's answer has batches that nobody asked for");
        }
    }
}

async fn request(
    adapter: Arc<dyn Adapter>,
    group: String,
    batches: Vec<Watched>,
    asks: Vec<Ask>,
) -> (String, Vec<Ask>, Result<Statuses, Trouble>) {
    let answer = adapter.statuses(&group, &batches).await;
    (group, asks, answer)
}

/// Returns the key by which a batch is remembered.
fn key(batch: &Watched) -> (String, String) {
    (batch.service.clone(), name(batch).to_owned())
}

/// Returns the name by which a batch is told of.
fn name(batch: &Watched) -> &str {
    batch.headers.first().map_or("", String::as_str)
}
