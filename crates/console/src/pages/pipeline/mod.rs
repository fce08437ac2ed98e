//! One pipeline: its machine with what is where, its service levels, its definition and versions, what is in line and held.

mod levels;
mod machine;
mod standing;
mod versions;

use askama::Template;
use wire::api::PipelineView;
use wire::{Refusal, Status};

use super::holds::{Hold, hold};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::{Sheet, Tab};
use crate::parts::{Link, list, number, pipeline_page};
use levels::Level;
use machine::Machine;
use standing::{Lanes, Limit, Schedule};
use versions::{Param, Versions};

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

/// The content of a tab.
enum Shown {
    Machine(Machine),
    Levels(Vec<Level>),
    Definition(String),
    Versions(Versions),
    Lanes(Lanes),
    Limits(Vec<Limit>),
    Holds(Vec<Hold>),
    Schedules(Vec<Schedule>),
    Params(Vec<Param>),
}

/// The tabs: the name in the address, and the text.
const TABS: [(&str, &str); 9] = [
    ("machine", "Machine"),
    ("levels", "Service levels"),
    ("definition", "Definition"),
    ("versions", "Versions"),
    ("lanes", "Lanes"),
    ("limits", "Limits"),
    ("holds", "Holds"),
    ("schedules", "Schedules"),
    ("parameters", "Parameters"),
];

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (name, query, eye) = (visit.ask.part("pipeline").to_owned(), visit.ask.query(), visit.eye());
    let version = query.get("version").and_then(|text| text.parse().ok());
    let view = visit.app.pipeline(&name, version).await?;
    let tab = query.get("tab").filter(|tab| TABS.iter().any(|(key, _)| key == tab)).unwrap_or("machine");
    let shown = match tab {
        "levels" => Shown::Levels(levels::levels(&visit, &name).await?),
        "definition" => Shown::Definition(app::file(&*visit.app.machine(&view.name, Some(view.version))?)?),
        "versions" => Shown::Versions(versions::versions(&visit, &view).await?),
        "lanes" => Shown::Lanes(standing::lanes(&visit, &eye, &name).await?),
        "limits" => Shown::Limits(standing::limits(&visit, &name).await?),
        "holds" => Shown::Holds(holds(&visit, &name).await?),
        "schedules" => Shown::Schedules(standing::schedules(&eye, &view)),
        "parameters" => Shown::Params(versions::params(&visit, &view)?),
        _ => Shown::Machine(machine::machine(&visit, &view).await?),
    };
    let counts = view.states.iter().flat_map(|state| &state.counts);
    let open: u64 = counts.filter(|count| count.status == Status::Open).map(|count| count.count).sum();
    let page = Page {
        title: view.title.clone(),
        version: view.version,
        revision: view.revision,
        in_force: view.in_force,
        digest: view.digest.to_string(),
        tabs: tabs(&visit, &view, tab),
        tab: shown,
        open: Link::new(number(open), list(&name, &[("status", "open")])),
        hold: crate::fields::part(&name),
        name: name.clone(),
    };
    let sheet = Sheet::new(format!("{name} · {}", crate::actions::title(tab)));
    let (cli, route) = typed(&name, tab);
    let sheet = sheet.typed(&visit.ask, &cli, &route);
    let is_live = matches!(tab, "machine" | "levels" | "lanes" | "limits" | "holds");
    visit.show(if is_live { sheet.live() } else { sheet }, &page)
}

/// Returns what shows the same as a tab: a command of the program, and a route.
fn typed(name: &str, tab: &str) -> (String, String) {
    let (quoted, part) = (crate::commands::quoted(name), crate::fields::part(name));
    match tab {
        "lanes" => ("figures".to_owned(), format!("/v1/pipelines/{part}/lanes")),
        "limits" => ("figures".to_owned(), "/v1/figures".to_owned()),
        "levels" => ("status".to_owned(), "/v1/stats".to_owned()),
        "holds" => ("holds".to_owned(), "/v1/holds".to_owned()),
        _ => (format!("pipelines {quoted}"), format!("/v1/pipelines/{part}")),
    }
}

/// Returns the tabs of a pipeline: those that it has something for.
fn tabs(visit: &Visit, view: &PipelineView, here: &str) -> Vec<Tab> {
    let version = if view.version == view.in_force { String::new() } else { view.version.to_string() };
    let machine = visit.app.machine(&view.name, Some(view.version)).ok();
    let has = |key: &str| match (key, &machine) {
        ("schedules", _) => !view.schedules.is_empty(),
        ("lanes", Some(machine)) => machine.lane.is_some(),
        ("limits", Some(machine)) => !machine.limits.is_empty(),
        _ => true,
    };
    let tab = |(key, text): (&str, &str)| {
        let field = if key == "machine" { "" } else { key };
        let to = address(&pipeline_page(&view.name), [("tab", field), ("version", &version)]);
        Tab::new(text, to, key == here)
    };
    TABS.into_iter().filter(|(key, _)| has(key) || *key == here).map(tab).collect()
}

/// Returns the holds that stop something of a pipeline.
async fn holds(visit: &Visit, name: &str) -> Result<Vec<Hold>, Refusal> {
    let (eye, holds) = (visit.eye(), visit.app.holds().await?.holds);
    let mine = holds.iter().filter(|hold| hold.pipeline.as_deref().is_none_or(|of| of == name));
    Ok(mine.map(|view| hold(&eye, view)).collect())
}
