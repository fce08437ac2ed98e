//! Figures of the fleet: flow, stays, dead letters by error, limits, tasks that nobody asks for.

use std::collections::BTreeMap;

use engine::Polls;
use engine::flow::{Dwell, Edge};
use model::pipeline::Kind;
use model::submission::Fingerprint;
use model::{Millis, Name, Refusal, Status, Time};
use store::{Count, DeadKey, Oldest, SlotEntry, Store};
use wire::api::{
    DeadView, DwellView, EdgeView, FiguresView, FlowView, LimitView, OldestView, PercentilesView, StoreView,
    UnknownTaskView, UnpolledView,
};

use crate::App;

/// Kinds of dead letters, and label values under limits, that are shown.
const SHOWN_MAX: usize = 1_000;
/// Kinds of dead letters that are read.
const DEAD_READ_MAX: usize = 5_000;
/// Slots that are read at a time, and how often.
const SLOTS_PAGE: usize = 1_000;
const SLOTS_PAGES_MAX: usize = 10;
/// A task that was asked for within this time is asked for: a long poll lasts a minute at most.
const POLLED_WITHIN: Millis = Millis::from_secs(90);

/// The figures that the store keeps.
struct Kept {
    counts: Vec<Count>,
    oldest: Vec<Oldest>,
    dead: Vec<(DeadKey, u64)>,
    dead_more: bool,
    slots: Vec<SlotEntry>,
    slots_more: bool,
    bytes: Option<u64>,
    backed_up_at: Option<Time>,
}

impl App {
    /// Returns the figures of what the visitor sees. A token for labels sees none of those that are of whole pipelines.
    pub async fn figures(&self) -> Result<FiguresView, Refusal> {
        let kept = self.engine.read(read).await?;
        let (flow, polls) = (self.engine.flow().await?, self.engine.polls().await?);
        let sees = |pipeline: &Name| self.visitor.labels.is_empty() && self.visitor.sees(pipeline);
        let mut dead: Vec<_> = kept.dead.into_iter().filter(|(key, _)| sees(&key.pipeline)).collect();
        dead.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let dead_more = kept.dead_more || dead.len() > SHOWN_MAX;
        dead.truncate(SHOWN_MAX);
        let edges = flow.edges().into_iter().filter(|edge| sees(&edge.pipeline)).map(edge);
        let oldest =
            kept.oldest.into_iter().filter(|oldest| sees(&oldest.pipeline)).map(|oldest| OldestView {
                created_at: oldest.id.made_at(),
                pipeline: oldest.pipeline,
                state: oldest.state,
                submission: oldest.id,
            });
        let slots = kept.slots.into_iter().filter(|slot| sees(&slot.limit.pipeline));
        let counts: Vec<_> = kept.counts.into_iter().filter(|count| sees(&count.pipeline)).collect();
        let sees_all = self.visitor.is_unlimited();
        Ok(FiguresView {
            flow: FlowView { since: flow.since(), edges: edges.collect() },
            dwells: flow.dwells().into_iter().filter(|dwell| sees(&dwell.pipeline)).map(dwell).collect(),
            oldest: oldest.collect(),
            dead: dead.into_iter().map(dead_view).collect(),
            dead_more,
            limits: self.limits(slots),
            limits_more: kept.slots_more,
            unpolled: self.unpolled(&counts, &polls),
            unknown_tasks: if sees_all { self.unknown(polls) } else { Vec::new() },
            store: if sees_all { Some(self.store_view(kept.bytes, kept.backed_up_at).await?) } else { None },
        })
    }

    fn limits(&self, slots: impl Iterator<Item = SlotEntry>) -> Vec<LimitView> {
        let mut in_use = BTreeMap::new();
        slots.for_each(|slot| *in_use.entry(slot.limit).or_default() += 1);
        let versions = self.engine.pipelines().current();
        let view = |(limit, in_use): (store::LimitKey, u32)| LimitView {
            most: versions
                .in_force(&limit.pipeline)
                .and_then(|pipeline| pipeline.limits.get(&limit.label).copied()),
            pipeline: limit.pipeline,
            label: limit.label,
            value: limit.value,
            in_use,
        };
        in_use.into_iter().map(view).take(SHOWN_MAX).collect()
    }

    /// Finds the tasks of states where something is open and that nobody has asked for lately.
    fn unpolled(&self, counts: &[Count], polls: &Polls) -> Vec<UnpolledView> {
        let (versions, now) = (self.engine.pipelines().current(), self.engine.now());
        let mut unpolled = Vec::new();
        for Count { pipeline, state, count, .. } in counts.iter().filter(|count| count.status == Status::Open)
        {
            let declared = versions.in_force(pipeline).and_then(|pipeline| pipeline.state(state));
            let task = match declared.map(|state| &state.kind) {
                Some(Kind::Task { task, .. } | Kind::Join { task: Some(task), .. }) => &task.name,
                _ => continue,
            };
            let polled_ago = polls.known.get(task).map(|at| now.since(*at));
            if polled_ago.is_none_or(|ago| ago > POLLED_WITHIN) {
                let (task, pipeline, state) = (task.clone(), pipeline.clone(), state.clone());
                unpolled.push(UnpolledView { task, pipeline, state, open: *count, polled_ago });
            }
        }
        unpolled
    }

    fn unknown(&self, polls: Polls) -> Vec<UnknownTaskView> {
        let (versions, now) = (self.engine.pipelines().current(), self.engine.now());
        // A pipeline that has the task may have come since.
        let unknown = polls.unknown.into_iter().filter(|(task, _)| !versions.have_task(task, &[]));
        let view = |(task, (worker, at))| UnknownTaskView { task, worker, asked_ago: now.since(at) };
        unknown.map(view).collect()
    }

    async fn store_view(&self, bytes: Option<u64>, backed_up_at: Option<Time>) -> Result<StoreView, Refusal> {
        let (checkpoint_at, now) = (self.engine.checkpoint_at().await?, self.engine.now());
        let ago = |at: Option<Time>| at.map(|at| now.since(at));
        Ok(StoreView { bytes, backup_ago: ago(backed_up_at), checkpoint_ago: ago(checkpoint_at) })
    }
}

fn read(store: &dyn Store) -> Result<Kept, store::Error> {
    let (mut slots, mut slots_more) = (Vec::new(), true);
    for _ in 0..SLOTS_PAGES_MAX {
        let page = store.slots(slots.last(), SLOTS_PAGE)?;
        slots_more = page.len() == SLOTS_PAGE;
        slots.extend(page);
        if !slots_more {
            break;
        }
    }
    // Messages are what workers make up: read further than is shown, so that those with most are among them.
    let dead = store.dead(None, DEAD_READ_MAX)?;
    Ok(Kept {
        counts: Count::by_status(&store.counts()?),
        oldest: store.oldest()?,
        dead_more: dead.len() == DEAD_READ_MAX,
        dead,
        slots,
        slots_more,
        bytes: store.bytes()?,
        backed_up_at: store.backed_up_at()?,
    })
}

pub(crate) fn percentiles([p50, p95, p99]: [Millis; 3]) -> PercentilesView {
    PercentilesView { p50, p95, p99 }
}

fn edge(Edge { pipeline, from, to, minutes }: Edge) -> EdgeView {
    EdgeView { pipeline, from, to, minutes }
}

fn dwell(dwell: Dwell) -> DwellView {
    let Dwell { pipeline, state, measured, .. } = dwell;
    DwellView { pipeline, state, measured, percentiles: percentiles(dwell.percentiles) }
}

fn dead_view((key, count): (DeadKey, u64)) -> DeadView {
    DeadView {
        fingerprint: Fingerprint::of(&key.code, &key.pattern),
        pipeline: key.pipeline,
        state: key.state,
        code: key.code,
        message: key.pattern,
        count,
    }
}
