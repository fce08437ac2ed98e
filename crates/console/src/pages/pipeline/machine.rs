//! The machine of a pipeline, with what is where, how long it stays and how much passes.

use std::collections::BTreeMap;

use app::{Flow, Heat, Overlay, Stay};
use model::pipeline::{Sla, Stretch};
use wire::api::{DwellView, FiguresView, PipelineView, StateView};
use wire::{Name, Refusal, Status};

use crate::ask::Visit;
use crate::flow;
use crate::look::span;
use crate::parts::{Link, list, number, of_status};

pub(super) struct Machine {
    pub(super) drawing: String,
    pub(super) states: Vec<State>,
    /// Set if something moved or stayed lately, which the drawing shows.
    pub(super) is_measured: bool,
}

pub(super) struct State {
    pub(super) name: Link,
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) phase: String,
    pub(super) counts: Vec<Count>,
    /// Half of what left stayed for less; then 95 of a hundred.
    pub(super) median: String,
    pub(super) p95: String,
    pub(super) heat: &'static str,
    pub(super) actions: String,
}

pub(super) struct Count {
    pub(super) text: String,
    pub(super) to: String,
    pub(super) tone: &'static str,
}

/// A state takes this part of the time of a whole way, or more, to be warm or hot.
const WARM: f64 = 0.15;
const HOT: f64 = 0.5;
/// A stay that is shorter is not long, whatever the others are.
const LONG: wire::Millis = wire::Millis::from_secs(1);
/// An edge that has this part of what moves along the busiest is busy.
const BUSY: f64 = 0.5;

pub(super) async fn machine(visit: &Visit, view: &PipelineView) -> Result<Machine, Refusal> {
    let figures = visit.app.figures().await?;
    let (mut open, mut dead) = (BTreeMap::<Name, u64>::new(), BTreeMap::<Name, u64>::new());
    for state in &view.states {
        for count in state.counts.iter().filter(|count| count.count > 0) {
            let kept = if count.status == Status::Dead { &mut dead } else { &mut open };
            *kept.entry(state.name.clone()).or_default() += count.count;
        }
    }
    let links =
        view.states.iter().map(|state| (state.name.clone(), list(&view.name, &[("state", &state.name)])));
    let stays = stays(visit, view, &figures);
    let under_way = flow::under_way(&figures, visit.eye().now);
    let overlay = Overlay {
        counts: open,
        dead,
        links: links.collect(),
        stays: stays.clone(),
        rates: rates(&figures, &view.name, under_way),
    };
    let is_measured = !overlay.stays.is_empty() || !overlay.rates.is_empty();
    let drawing = visit.app.machine_picture(&view.name, view.version, overlay).await?;
    let dwell = |name: &Name| dwells(&figures, &view.name).find(|dwell| dwell.state == *name);
    let states =
        view.states.iter().map(|known| state(view, known, dwell(&known.name), stays.get(&known.name)));
    Ok(Machine { drawing, states: states.collect(), is_measured })
}

fn dwells<'f>(figures: &'f FiguresView, pipeline: &'f str) -> impl Iterator<Item = &'f DwellView> {
    figures.dwells.iter().filter(move |dwell| *dwell.pipeline == *pipeline)
}

/// Tells how long submissions stay in each state, and which of the stays are long: beside the state's service level where it
/// has one, else as a part of all the stays together.
fn stays(visit: &Visit, view: &PipelineView, figures: &FiguresView) -> BTreeMap<Name, Stay> {
    let machine = visit.app.machine(&view.name, Some(view.version)).ok();
    let spent = |dwell: &DwellView| dwell.percentiles.p50.millis() as f64 * dwell.measured as f64;
    let all: f64 = dwells(figures, &view.name).map(spent).sum::<f64>().max(1.0);
    let heat = |dwell: &DwellView| {
        let state = machine.as_ref().and_then(|machine| machine.state(&dwell.state));
        let allowed = state.and_then(|state| state.sla.as_ref()).and_then(target);
        match allowed {
            Some(allowed) if dwell.percentiles.p95.millis() > allowed => Heat::Hot,
            Some(allowed) if dwell.percentiles.p50.millis() * 2 > allowed => Heat::Warm,
            Some(_) => Heat::Cool,
            None if dwell.percentiles.p50 < LONG => Heat::Cool,
            None if spent(dwell) / all >= HOT => Heat::Hot,
            None if spent(dwell) / all >= WARM => Heat::Warm,
            None => Heat::Cool,
        }
    };
    let stay = |dwell: &DwellView| {
        let [p50, p95, p99] = [dwell.percentiles.p50, dwell.percentiles.p95, dwell.percentiles.p99].map(span);
        let measured = number(dwell.measured);
        let about =
            format!("Of {measured} that left lately half stayed {p50}, 95 % {p95}, 99 % {p99} or less");
        (dwell.state.clone(), Stay { text: p50, about, heat: heat(dwell) })
    };
    // What is passed through stays for no time at all.
    let stayed = dwells(figures, &view.name).filter(|dwell| dwell.percentiles.p99 > wire::Millis::ZERO);
    stayed.map(stay).collect()
}

/// Returns what a service level allows, where that is a span of time and no number of business days.
fn target(level: &Sla) -> Option<u64> {
    match level.target.or(level.p95)? {
        Stretch::Time(span) => Some(span.millis()),
        Stretch::BusinessDays(_) => None,
    }
}

fn rates(figures: &FiguresView, pipeline: &str, under_way: f64) -> BTreeMap<(Option<Name>, Name), Flow> {
    let most = flow::rates(figures, pipeline, under_way).map(|(_, rate)| rate).fold(0.0, f64::max);
    let rate = |(edge, rate): (&wire::api::EdgeView, f64)| {
        let flow = Flow { text: format!("{}/min", flow::shown(rate)), is_busy: rate >= most * BUSY };
        ((edge.from.clone(), edge.to.clone()), flow)
    };
    flow::rates(figures, pipeline, under_way).map(rate).collect()
}

fn state(view: &PipelineView, known: &StateView, dwell: Option<&DwellView>, stay: Option<&Stay>) -> State {
    let told = |span_of: fn(&DwellView) -> wire::Millis| dwell.map(|dwell| span(span_of(dwell)));
    State {
        name: Link::new(&*known.name, list(&view.name, &[("state", &known.name)])),
        title: known.title.clone().unwrap_or_default(),
        kind: known.kind.clone(),
        phase: known.phase.as_deref().unwrap_or_default().to_owned(),
        counts: known
            .counts
            .iter()
            .filter(|count| count.count > 0)
            .map(|count| Count {
                text: match count.status {
                    Status::Open => number(count.count),
                    other => format!("{} {}", number(count.count), other.as_str()),
                },
                to: list(&view.name, &[("state", &known.name), ("status", count.status.as_str())]),
                tone: of_status(count.status),
            })
            .collect(),
        median: told(|dwell| dwell.percentiles.p50).unwrap_or_default(),
        p95: told(|dwell| dwell.percentiles.p95).unwrap_or_default(),
        heat: match stay.map(|stay| stay.heat) {
            Some(Heat::Hot) => "bad",
            Some(Heat::Warm) => "held",
            _ => "",
        },
        actions: known.actions.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", "),
    }
}
