//! The list of submissions: the filter is the address.

use app::Query;
use askama::Template;
use wire::api::{AcknowledgeBody, ActBody, RedriveBody, SubmissionPage};
use wire::{Refusal, SubmissionId};

use super::PAGE;
use super::rows::Rows;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::filter::Filter;
use crate::layout::Sheet;
use crate::parts::{Id, Link};

/// The submissions that are picked one by one and acted on at a time.
const PICKS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "submissions.html")]
struct Page {
    text: String,
    problems: Vec<String>,
    pipelines: Vec<Choice>,
    states: Vec<Choice>,
    statuses: Vec<Choice>,
    views: Vec<Choice>,
    words: Vec<String>,
    rows: Rows,
    next: String,
    first: String,
    export: String,
    /// The deeds that can be done to many, for whoever may.
    deeds: Vec<Link>,
    all_of: String,
    is_narrowed: bool,
}

/// A choice of a filter: another address.
struct Choice {
    text: String,
    to: String,
    here: bool,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (fields, eye) = (visit.ask.query(), visit.eye());
    let mut filter = Filter::read(fields.get("q").unwrap_or_default(), eye.now);
    let found = match &filter.word {
        Some(word) => Some(visit.app.find(word).await?),
        None => None,
    };
    if let Some(id) = found.as_ref().and_then(|found| found.meant) {
        return Ok(Answer::to(format!("/console/submissions/{id}")));
    }
    if let Some(only) = default_pipeline(&visit, &filter) {
        filter = Filter::read(&filter.with("pipeline", &only), eye.now);
    }
    let query = Query { after: visit.after()?, limit: PAGE, ..filter.query.clone() };
    let listed = match found {
        Some(found) => Ok(SubmissionPage { submissions: found.submissions, next: None }),
        None => visit.app.list(query).await,
    };
    // A name that does not exist is no reason to lose what was typed.
    let (views, next) = match listed {
        Ok(page) => (page.submissions, page.next),
        Err(refusal) => {
            filter.problems.push(refusal.message);
            (Vec::new(), None)
        }
    };
    let deeds = deeds(&visit, &filter);
    let mut rows = Rows::of(&eye, &views);
    rows.picks = !deeds.is_empty() && !rows.rows.is_empty();
    let text = filter.text();
    let next = next.map_or_else(String::new, |next| at(&text, &next.to_string()));
    let api = filter.fields();
    let api = api.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let route = address("/v1/submissions", api.clone());
    let flags: Vec<String> = api.map(|(name, value)| flag(name, value)).collect();
    let page = Page {
        pipelines: pipelines(&visit, &filter).await?,
        states: states(&visit, &filter),
        statuses: statuses(&filter),
        views: offered(&filter),
        words: words(&visit),
        problems: filter.problems.clone(),
        first: if fields.get("after").is_some() { at(&text, "") } else { String::new() },
        export: address("/console/submissions/export", [("q", text.as_str())]),
        all_of: filter.get("pipeline").unwrap_or_default().to_owned(),
        is_narrowed: !filter.terms.is_empty(),
        deeds,
        text,
        rows,
        next,
    };
    visit.show(
        Sheet::new("Submissions").live().typed(&visit.ask, &format!("list {}", flags.join(" ")), &route),
        &page,
    )
}

/// Gives everything that a filter finds as lines.
pub(crate) async fn export(visit: Visit) -> Result<Answer, Refusal> {
    let (fields, now) = (visit.ask.query(), visit.app.clock().now);
    let mut filter = Filter::read(fields.get("q").unwrap_or_default(), now);
    if let Some(only) = default_pipeline(&visit, &filter) {
        filter = Filter::read(&filter.with("pipeline", &only), now);
    }
    if let Some(problem) = filter.problems.first() {
        return Err(app::invalid(problem.clone()));
    }
    let format =
        fields.get("format").unwrap_or("jsonl").parse().map_err(|error: String| app::invalid(error))?;
    Ok(Answer::Export { query: Box::new(filter.query), format })
}

/// Returns the pipeline of a reader who has some and did not say which: lists are of one then.
fn default_pipeline(visit: &Visit, filter: &Filter) -> Option<String> {
    let scope = visit.app.visitor().pipelines.as_ref()?;
    let first = scope.first()?;
    filter.get("pipeline").is_none().then(|| first.to_string())
}

fn at(text: &str, after: &str) -> String {
    address("/console/submissions", [("q", text), ("after", after)])
}

fn flag(name: &str, value: &str) -> String {
    let value = crate::commands::quoted(value);
    match name.strip_prefix("label.") {
        Some(label) => format!("--label {label}={value}"),
        None => format!("--{} {value}", name.replace('_', "-")),
    }
}

async fn pipelines(visit: &Visit, filter: &Filter) -> Result<Vec<Choice>, Refusal> {
    let here = filter.get("pipeline").unwrap_or_default();
    let without = |name: &str| {
        // States are of a pipeline.
        let text = Filter::read(&filter.with("state", ""), wire::Time::from_millis(0)).with("pipeline", name);
        at(&text, "")
    };
    let all = Choice { text: "all pipelines".to_owned(), to: without(""), here: here.is_empty() };
    let names = visit.app.names();
    let each =
        names.iter().map(|name| Choice { text: name.to_string(), to: without(name), here: **name == *here });
    Ok(Some(all).filter(|_| visit.app.visitor().pipelines.is_none()).into_iter().chain(each).collect())
}

fn states(visit: &Visit, filter: &Filter) -> Vec<Choice> {
    let machine = filter.get("pipeline").and_then(|name| visit.app.machine(name, None).ok());
    let here = filter.get("state").unwrap_or_default();
    let all = Choice {
        text: "all states".to_owned(),
        to: at(&filter.with("state", ""), ""),
        here: here.is_empty(),
    };
    let each = machine.iter().flat_map(|machine| &machine.states).map(|state| Choice {
        text: state.name.to_string(),
        to: at(&filter.with("state", &state.name), ""),
        here: *state.name == *here,
    });
    let each: Vec<_> = each.collect();
    if each.is_empty() { Vec::new() } else { Some(all).into_iter().chain(each).collect() }
}

fn statuses(filter: &Filter) -> Vec<Choice> {
    let here = filter.get("status").unwrap_or_default();
    let each = ["", "open", "dead", "succeeded", "failed", "cancelled"].into_iter();
    let choice = |status: &str| Choice {
        text: if status.is_empty() { "all".to_owned() } else { status.to_owned() },
        to: at(&filter.with("status", status), ""),
        here: here == status,
    };
    each.map(choice).collect()
}

/// Views that most ask for. Any other is kept as a bookmark: the filter is the address.
const VIEWS: [(&str, &str); 6] = [
    ("stuck for an hour", "status:open stuck>1h"),
    ("older than a day", "status:open age>1d"),
    ("made in the last hour", "age<1h"),
    ("failed within a day", "status:failed age<1d"),
    ("dead letters", "status:dead"),
    ("to investigate", "investigation:open"),
];

/// Returns the views, within the pipeline that is looked at.
fn offered(filter: &Filter) -> Vec<Choice> {
    let within = filter.get("pipeline").map(|name| crate::filter::term("pipeline", name));
    let view = |(text, terms): (&str, &str)| {
        let all = within.iter().map(String::as_str).chain([terms]).collect::<Vec<_>>().join(" ");
        Choice { text: text.to_owned(), here: filter.text() == all, to: at(&all, "") }
    };
    VIEWS.into_iter().map(view).collect()
}

/// Returns the words that the filter bar offers.
fn words(visit: &Visit) -> Vec<String> {
    let names = visit.app.names();
    let machines = names.iter().filter_map(|name| visit.app.machine(name, None).ok());
    let mut words: Vec<String> = names.iter().map(|name| crate::filter::term("pipeline", name)).collect();
    for machine in machines {
        words.extend(machine.states.iter().map(|state| crate::filter::term("state", &state.name)));
        words.extend(machine.labels.iter().map(|(label, _)| format!("label.{label}:")));
    }
    words.extend(
        [
            "status:open",
            "status:dead",
            "investigation:open",
            "age>1d",
            "stuck>1h",
            "error:",
            "worker:",
            "id:",
            "lane:",
            "key:",
            "parent:",
        ]
        .map(str::to_owned),
    );
    words.sort();
    words.dedup();
    words
}

/// Returns the deeds that can be done to many, and the names they go by.
fn deeds(visit: &Visit, filter: &Filter) -> Vec<Link> {
    let role = visit.app.visitor().caller.role;
    if !role.covers(wire::Role::Reviewer) {
        return Vec::new();
    }
    let machine = filter.get("pipeline").and_then(|name| visit.app.machine(name, None).ok());
    let state = machine.as_ref().zip(filter.get("state")).and_then(|(machine, name)| machine.state(name));
    let of_state =
        state.into_iter().flat_map(|state| state.actions.iter().map(move |action| (state, action)));
    let mine =
        of_state.filter(|(state, action)| action.edges.iter().any(|edge| role.covers(state.role_of(edge))));
    let general = ["redrive", "resume", "acknowledge"].map(str::to_owned);
    let general = general.into_iter().filter(|_| role == wire::Role::Admin);
    let mut deeds: Vec<String> = mine.map(|(_, action)| action.name.to_string()).chain(general).collect();
    let mut known = std::collections::BTreeSet::new();
    deeds.retain(|deed| known.insert(deed.clone()));
    deeds.into_iter().map(|deed| Link::new(crate::actions::title(&deed), deed)).collect()
}

/// One submission of those that were picked, and what became of it.
struct Picked {
    id: Id,
    state: String,
    problem: String,
}

#[derive(Template)]
#[template(path = "picked.html")]
struct PickedPage {
    deed: String,
    done: usize,
    results: Vec<Picked>,
    back: String,
}

/// Does one thing to each submission that was picked, and tells of each what became of it.
pub(crate) async fn many(visit: Visit) -> Result<Answer, Refusal> {
    let form = visit.ask.form();
    let back = at(form.get("q").unwrap_or_default(), "");
    let deed = form.get("deed").unwrap_or_default();
    let ids: Result<Vec<SubmissionId>, _> = form.all("selected").map(str::parse).collect();
    let ids = ids.map_err(|_| app::invalid("what was picked are no submissions"))?;
    if form.get("whom") == Some("all") {
        return super::operations::preview(&visit).await;
    }
    if ids.is_empty() || ids.len() > PICKS_MAX {
        return visit
            .again(&app::invalid(format!("pick 1 to {PICKS_MAX} submissions, or all that match")), &back);
    }
    let mut results = Vec::new();
    for id in ids {
        let told = one(&visit, id, deed, form.get("reason").map(str::to_owned)).await;
        let (state, problem) =
            told.map_or_else(|refusal| (String::new(), refusal.message), |state| (state, String::new()));
        results.push(Picked { id: Id::of(id), state, problem });
    }
    let done = results.iter().filter(|picked| picked.problem.is_empty()).count();
    visit.show(Sheet::new("Done to many"), &PickedPage { deed: deed.to_owned(), done, results, back })
}

async fn one(visit: &Visit, id: SubmissionId, deed: &str, reason: Option<String>) -> Result<String, Refusal> {
    let app = &visit.app;
    let terms = app::Terms::default();
    let view = match deed {
        "redrive" => app.redrive(id, RedriveBody { reason }).await?,
        "acknowledge" => app.acknowledge(id, AcknowledgeBody { note: reason }, terms).await?,
        action => app.act(id, action.into(), ActBody { reason, ..ActBody::default() }, terms).await?,
    };
    Ok(view.state.to_string())
}
