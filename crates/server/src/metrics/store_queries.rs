//! The questions to the store for a scrape: bounded, and not with every scrape.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::core::{CURSORS, Cursor};
use engine::levels::LevelReport;
use engine::{Engine, LogReport, clock};
use model::Time;
use store::{Count, Oldest};
use tokio::sync::Mutex;

/// However often somebody asks, the store is asked once in this time.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// A store that does not answer must not keep the counters from being read.
const WITHIN: Duration = Duration::from_secs(5);
/// Cursors looked at: in the order of their names, the rest is not seen.
const CURSORS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Stock {
    known: Mutex<Option<(Instant, Option<Arc<Stand>>)>>,
}

/// The numbers of what is where.
#[derive(Debug)]
pub(super) struct Stand {
    pub(super) counts: Vec<Count>,
    pub(super) oldest: Vec<Oldest>,
    /// The position of the newest event.
    pub(super) newest: u64,
    pub(super) cursors: Vec<(String, u64)>,
    /// The reports on how service levels are kept to.
    pub(super) levels: Vec<LevelReport>,
    /// The size of the store, where it is known.
    pub(super) bytes: Option<u64>,
    /// The time of the last backup, as far as somebody said so.
    pub(super) backed_up_at: Option<Time>,
    /// The log and how many leaves wait for the next checkpoint, where one is published.
    pub(super) log: Option<(LogReport, u64)>,
}

impl Stock {
    /// `None`: the store cannot be read now.
    pub(super) async fn stand(&self, engine: &Engine) -> Option<Arc<Stand>> {
        let mut known = self.known.lock().await;
        if let Some((at, stand)) = &*known
            && clock::instant().saturating_duration_since(*at) < FRESH_FOR
        {
            return stand.clone();
        }
        let stand = tokio::time::timeout(WITHIN, read(engine)).await.ok().flatten().map(Arc::new);
        *known = Some((clock::instant(), stand.clone()));
        stand
    }
}

async fn read(engine: &Engine) -> Option<Stand> {
    let reader = engine.clone();
    let read = engine.read(move |store| {
        let cursors = store.registry(CURSORS, "", CURSORS_MAX)?.into_iter().filter_map(|(name, body)| {
            let cursor: Cursor = serde_json::from_str(body.as_str()).ok()?;
            // Those of several subjects that have one name are told as one.
            let name = name.rsplit_once('/').map(|(_, name)| name.to_owned()).unwrap_or(name);
            Some((name, cursor.position))
        });
        Ok(Stand {
            counts: store.counts()?,
            oldest: store.oldest()?,
            newest: store::newest(store)?,
            cursors: cursors.collect(),
            levels: reader.level_reports(&reader.metrics().levels.read(store)?),
            bytes: store.bytes()?,
            backed_up_at: store.backed_up_at()?,
            log: None,
        })
    });
    let mut stand = read.await.ok()?;
    // Refused where there is no log.
    stand.log = engine.log_report().await.ok();
    Some(stand)
}
