//! Open submissions, looked through row by row as far as a page may: who works on which, and which version each follows.
//!
//! No list is kept by worker or by version: it would be written at every claim. So a look passes over a bounded number of
//! rows, and says what it left out.

use std::collections::BTreeMap;

use model::pipeline::Kind;
use model::{Name, Refusal, Status, Submission, SubmissionId};
use store::{Count, Query, Store};
use wire::api::SubmissionView;

use crate::App;

/// The rows that one look passes over.
const ROWS_MAX: usize = 1_000;
/// The rows read at a time.
const PAGE: usize = 500;
/// The leased submissions that are shown.
const LEASED_MAX: usize = 200;

/// The submissions that workers have in their hands.
#[derive(Debug, Clone, Default)]
pub struct UnderWay {
    pub leased: Vec<SubmissionView>,
    /// The states where more is open than is looked through: pipeline, state, and how much is open there.
    pub left_out: Vec<(Name, Name, u64)>,
}

/// The open submissions of a pipeline by the version they follow.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    pub versions: BTreeMap<u32, u64>,
    /// Set if all that is open was looked at; otherwise there may be more of each.
    pub is_whole: bool,
}

impl App {
    /// Returns what workers have in their hands. A token for labels sees its own alone.
    pub async fn under_way(&self) -> Result<UnderWay, Refusal> {
        let versions = self.engine.pipelines().current();
        let visitor = self.visitor.clone();
        let read = self.engine.read(move |store| {
            let has_task = |count: &Count| {
                let pipelines = versions.versions(&count.pipeline);
                let states = pipelines.filter_map(|pipeline| pipeline.state(&count.state));
                states.into_iter().any(|state| may_be_leased(&state.kind) || !state.actions.is_empty())
            };
            let mut places = Count::by_status(&store.counts()?);
            places.retain(|count| {
                count.status == Status::Open && visitor.sees(&count.pipeline) && has_task(count)
            });
            places.sort_by_key(|count| count.count);
            let (mut left, mut found, mut left_out) = (ROWS_MAX, Vec::new(), Vec::new());
            for place in places {
                if place.count > left as u64 {
                    left_out.push((place.pipeline, place.state, place.count));
                    continue;
                }
                let rows = open(store, &place.pipeline, Some(&place.state), left)?;
                left -= rows.rows.len().min(left);
                found.extend(
                    rows.rows.into_iter().filter(|row| row.lease().is_some() && visitor.sees_row(row)),
                );
            }
            Ok((found, left_out))
        });
        let (mut rows, left_out) = read.await?;
        rows.truncate(LEASED_MAX);
        let left_out = if self.visitor.labels.is_empty() { left_out } else { Vec::new() };
        Ok(UnderWay { leased: rows.iter().map(|row| self.listed(row)).collect(), left_out })
    }

    /// Counts the open submissions of a pipeline by the version they follow.
    pub async fn followed(&self, pipeline: &str) -> Result<Followed, Refusal> {
        self.visitor.check_sees(pipeline)?;
        let (visitor, name) = (self.visitor.clone(), Name::from(pipeline));
        let read = self.engine.read(move |store| {
            let seen = open(store, &name, None, ROWS_MAX)?;
            let mut followed = Followed { is_whole: seen.is_whole, ..Followed::default() };
            for row in seen.rows.iter().filter(|row| visitor.sees_row(row)) {
                *followed.versions.entry(row.version).or_default() += 1;
            }
            Ok(followed)
        });
        read.await
    }
}

fn may_be_leased(kind: &Kind) -> bool {
    matches!(kind, Kind::Task { .. } | Kind::Join { task: Some(_), .. })
}

struct Open {
    rows: Vec<Submission>,
    is_whole: bool,
}

/// Reads what is open in a pipeline, or in one of its states: so many rows at most, the newest first.
fn open(
    store: &dyn Store,
    pipeline: &Name,
    state: Option<&Name>,
    rows_max: usize,
) -> Result<Open, store::Error> {
    let (mut rows, mut after): (Vec<Submission>, Option<SubmissionId>) = (Vec::new(), None);
    while rows.len() < rows_max {
        let query = Query {
            pipeline: Some(pipeline.clone()),
            state: state.cloned(),
            status: Some(Status::Open),
            after,
            limit: PAGE.min(rows_max - rows.len()),
            ..Query::default()
        };
        let page = store.find(&query)?;
        after = page.next();
        rows.extend(page.rows);
        if after.is_none() {
            return Ok(Open { rows, is_whole: true });
        }
    }
    Ok(Open { rows, is_whole: false })
}
