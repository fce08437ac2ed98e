//! One pipeline: its machine with what is where, its service levels, its definition and versions.

use std::collections::BTreeMap;

use app::Overlay;
use askama::Template;
use wire::api::{Difference, PipelineView, ScheduleView, ServiceLevelView, WindowView};
use wire::{Name, Refusal, Status};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::{Sheet, Tab};
use crate::look::{Eye, span};
use crate::parts::{Id, Link, When, list, number, of_status, pipeline_page};

#[derive(Template)]
#[template(path = "pipeline.html")]
struct Page {
    name: String,
    hold: String,
    title: String,
    version: u32,
    revision: u32,
    in_force: u32,
    digest: String,
    tabs: Vec<Tab>,
    tab: Shown,
    open: Link,
}

/// What a tab shows.
enum Shown {
    Machine { drawing: String, states: Vec<State> },
    Levels(Vec<Level>),
    Definition { toml: String, params: Vec<(String, String)> },
    Versions { versions: Vec<Version>, compared: Option<Compared>, may_migrate: bool },
    Schedules(Vec<Schedule>),
}

struct State {
    name: Link,
    title: String,
    kind: String,
    phase: String,
    counts: Vec<Count>,
    actions: String,
}

struct Count {
    text: String,
    to: String,
    tone: &'static str,
}

struct Level {
    name: String,
    of: String,
    target: String,
    p95: String,
    windows: Vec<Window>,
}

struct Window {
    span: String,
    measured: String,
    median: Option<Verdict>,
    p95: Option<Verdict>,
}

struct Verdict {
    figure: String,
    within: String,
    met: bool,
}

struct Version {
    number: u32,
    revision: u32,
    digest: Id,
    in_force: bool,
    here: bool,
    page: String,
    /// The page that compares it to the one before.
    diff: String,
    params: usize,
}

struct Compared {
    old: u32,
    new: u32,
    lines: Vec<Difference>,
}

struct Schedule {
    id: String,
    next: Option<When>,
    last: Option<When>,
    made: Option<Id>,
    refused: String,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (name, query, eye) = (visit.ask.part("pipeline").to_owned(), visit.ask.query(), visit.eye());
    let version = query.get("version").and_then(|text| text.parse().ok());
    let view = visit.app.pipeline(&name, version).await?;
    let tab = query.get("tab").unwrap_or("machine");
    let shown = match tab {
        "levels" => Shown::Levels(levels(&visit, &name).await?),
        "definition" => definition(&visit, &view)?,
        "versions" => versions(&visit, &view, query.get("compare").and_then(|text| text.parse().ok()))?,
        "schedules" => Shown::Schedules(view.schedules.iter().map(|known| schedule(&eye, known)).collect()),
        _ => machine(&visit, &view).await?,
    };
    let open: u64 =
        counts(&view).filter(|(_, status, _)| *status == Status::Open).map(|(.., count)| count).sum();
    let page = Page {
        title: view.title.clone(),
        version: view.version,
        revision: view.revision,
        in_force: view.in_force,
        digest: view.digest.to_string(),
        tabs: tabs(&view, tab),
        tab: shown,
        open: Link::new(number(open), list(&name, &[("status", "open")])),
        hold: crate::fields::part(&name),
        name: name.clone(),
    };
    let sheet = Sheet::new(format!("{name} · {}", crate::actions::title(tab)));
    let route = format!("/v1/pipelines/{}", crate::fields::part(&name));
    let sheet = sheet.typed(&visit.ask, &format!("pipelines {}", crate::commands::quoted(&name)), &route);
    visit.show(if tab == "machine" { sheet.live() } else { sheet }, &page)
}

fn tabs(view: &PipelineView, here: &str) -> Vec<Tab> {
    let version = if view.version == view.in_force { String::new() } else { view.version.to_string() };
    let all = [
        ("machine", "Machine"),
        ("levels", "Service levels"),
        ("definition", "Definition"),
        ("versions", "Versions"),
        ("schedules", "Schedules"),
    ];
    let known = all.iter().any(|(key, _)| *key == here);
    let shown = all.into_iter().filter(|(key, _)| *key != "schedules" || !view.schedules.is_empty());
    let tab = |(key, text)| {
        let field = if key == "machine" { "" } else { key };
        let to = address(&pipeline_page(&view.name), [("tab", field), ("version", &version)]);
        Tab::new(text, to, key == here || (!known && key == "machine"))
    };
    shown.map(tab).collect()
}

fn counts(view: &PipelineView) -> impl Iterator<Item = (&Name, Status, u64)> {
    view.states
        .iter()
        .flat_map(|state| state.counts.iter().map(|count| (&state.name, count.status, count.count)))
}

async fn machine(visit: &Visit, view: &PipelineView) -> Result<Shown, Refusal> {
    let mut open: BTreeMap<Name, u64> = BTreeMap::new();
    let mut dead = open.clone();
    for (state, status, count) in counts(view).filter(|(.., count)| *count > 0) {
        let kept = if status == Status::Dead { &mut dead } else { &mut open };
        *kept.entry(state.clone()).or_default() += count;
    }
    let links =
        view.states.iter().map(|state| (state.name.clone(), list(&view.name, &[("state", &state.name)])));
    let overlay = Overlay { counts: open, dead, links: links.collect() };
    let drawing = visit.app.machine_picture(&view.name, view.version, overlay).await?;
    let state = |known: &wire::api::StateView| State {
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
        actions: known.actions.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", "),
    };
    Ok(Shown::Machine { drawing, states: view.states.iter().map(state).collect() })
}

async fn levels(visit: &Visit, name: &str) -> Result<Vec<Level>, Refusal> {
    let stats = visit.app.stats().await?;
    let level = |known: &ServiceLevelView| Level {
        name: known.name.to_string(),
        of: known.of.clone(),
        target: known.target.clone().unwrap_or_default(),
        p95: known.p95.clone().unwrap_or_default(),
        windows: known.windows.iter().map(window).collect(),
    };
    Ok(stats.service_levels.iter().filter(|known| *known.pipeline == *name).map(level).collect())
}

fn window(known: &WindowView) -> Window {
    let verdict = |verdict: wire::api::VerdictView| Verdict {
        figure: span(verdict.figure),
        within: format!("{:.1} %", verdict.within * 100.0),
        met: verdict.met,
    };
    Window {
        span: known.window.clone(),
        measured: number(known.measured),
        median: known.target.map(verdict),
        p95: known.p95.map(verdict),
    }
}

fn definition(visit: &Visit, view: &PipelineView) -> Result<Shown, Refusal> {
    let machine = visit.app.machine(&view.name, Some(view.version))?;
    let set = view.definitions.iter().find(|known| known.version == view.version);
    let params = set.into_iter().flat_map(|known| &known.params);
    Ok(Shown::Definition {
        toml: app::file(&machine)?,
        params: params.map(|(name, value)| (name.clone(), value.as_str().to_owned())).collect(),
    })
}

fn versions(visit: &Visit, view: &PipelineView, compare: Option<u32>) -> Result<Shown, Refusal> {
    let mut known: Vec<_> = view.definitions.iter().collect();
    known.sort_by_key(|definition| std::cmp::Reverse(definition.version));
    let page = pipeline_page(&view.name);
    let at = |version: u32| address(&page, [("version", version.to_string().as_str())]);
    let pairs = known.iter().zip(known.iter().skip(1).map(Some).chain([None]));
    let line =
        |(definition, before): (&&wire::api::DefinitionView, Option<&&wire::api::DefinitionView>)| Version {
            number: definition.version,
            revision: definition.revision,
            digest: Id::named(&definition.digest.to_string(), String::new()),
            in_force: definition.version == view.in_force,
            here: definition.version == view.version,
            page: at(definition.version),
            diff: before.map_or_else(String::new, |before| {
                let (version, compare) = (definition.version.to_string(), before.version.to_string());
                address(&page, [("tab", "versions"), ("version", &version), ("compare", &compare)])
            }),
            params: definition.params.len(),
        };
    let lines = pairs.map(line).collect();
    let compared = compare.map(|old| {
        let lines = visit.app.differences(&view.name, old, view.version)?;
        Ok::<_, Refusal>(Compared { old, new: view.version, lines })
    });
    let may_migrate = visit.app.visitor().caller.role == wire::Role::Admin;
    Ok(Shown::Versions { versions: lines, compared: compared.transpose()?, may_migrate })
}

fn schedule(eye: &Eye, known: &ScheduleView) -> Schedule {
    Schedule {
        id: known.id.to_string(),
        next: eye.when_if(known.next_at),
        last: eye.when_if(known.last_at),
        made: known.submission.map(Id::of),
        refused: known.refused.clone().unwrap_or_default(),
    }
}
