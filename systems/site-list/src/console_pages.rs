//! The console's pages of the list: entries, what is marked for removal, the last build, the head of the log, and the history
//! of a host.

use std::ops::Bound;

use askama::Template;
use client::{Client, Filter, Page};
use http::Method;
use system::{Call, Need, Reply, Room, Route};
use tlog::note::Checkpoint;
use wire::api::SubmissionView;
use wire::{Code, Refusal, Status, SubmissionId};

use crate::PIPELINE;
use crate::checks::{Checked, Finding};
use crate::distribute::{Latest, UPDATE};
use crate::hex::hex;
use crate::list::{Entry, List};
use crate::published::{Places, Shelf};
use crate::rules::{Host, Onions};
use crate::wish::{current, places};

/// The entries of one page.
const ENTRIES: usize = 100;
/// The findings that the page shows; the submission of the check has all that are kept.
const FINDINGS: usize = 20;
/// The changes of a host that its page shows.
const HISTORY: usize = 100;

#[derive(Template)]
#[template(path = "console/list.html")]
struct ListPage {
    shown: Shown,
}

struct Shown {
    sites: usize,
    submissions: usize,
    built: Option<Latest>,
    head: Option<Head>,
    check: Option<CheckRow>,
    findings: Vec<Finding>,
    name: String,
    marked: bool,
    entries: Vec<Row>,
    next: String,
}

struct Head {
    origin: String,
    size: u64,
    root: String,
}

struct CheckRow {
    id: SubmissionId,
    at: String,
    checked: u64,
    found: u64,
}

struct Row {
    host: Host,
    signers: String,
    threshold: u32,
    submission: SubmissionId,
    at: String,
    marked: bool,
    pending: bool,
}

#[derive(Template)]
#[template(path = "console/site.html")]
struct SitePage {
    host: Host,
    entry: Option<Row>,
    history: Vec<Past>,
    more: bool,
}

struct Past {
    id: SubmissionId,
    at: String,
    action: String,
    state: String,
    error: String,
}

/// Returns the pages.
pub(crate) fn pages(shelf: &Shelf) -> Vec<Route> {
    let (listed, site) = (shelf.clone(), shelf.clone());
    let door = (Need::AnyRole, Room::Page);
    let list = Route::new((Method::GET, "/console/site-list/"), door, "Site list", move |call| {
        let shelf = listed.clone();
        async move { list_page(&shelf, &call).await }
    });
    let site = Route::new((Method::GET, "/console/site-list/sites/{host}"), door, "A site", move |call| {
        let shelf = site.clone();
        async move { site_page(&shelf, &call).await }
    });
    vec![list, site]
}

fn framed(call: &Call, title: &str, page: &impl Template) -> Result<Reply, Refusal> {
    let content = page.render().map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    Ok(console::layout::page(call, title, &content))
}

fn unavailable() -> Refusal {
    Refusal::new(Code::Unavailable, "the list cannot be read now; ask again soon")
}

async fn list_page(shelf: &Shelf, call: &Call) -> Result<Reply, Refusal> {
    let places = places(shelf).map_err(|_| unavailable())?;
    let list = current(shelf).await.map_err(|_| unavailable())?;
    let (mut name, mut after, mut marked) = (String::new(), String::new(), false);
    for (key, value) in url::form_urlencoded::parse(call.uri.query().unwrap_or_default().as_bytes()) {
        match &*key {
            "name" => value.trim().to_lowercase().clone_into(&mut name),
            "after" => value.into_owned().clone_into(&mut after),
            "marked" => marked = true,
            _ => {}
        }
    }
    let fits = |row: &Row| row.host.as_str().contains(&*name) && (!marked || row.marked);
    let after = Host::read(&after, Onions::Reached).ok();
    let rows = list.entries_after(after.as_ref().map_or(Bound::Unbounded, Bound::Excluded));
    let mut entries: Vec<Row> =
        rows.map(|(host, entry)| row(&list, host, entry)).filter(fits).take(ENTRIES + 1).collect();
    let more = entries.len() > ENTRIES;
    entries.truncate(ENTRIES);
    let last = entries.last().filter(|_| more).map(|row| row.host.clone());
    let (check, mut findings) = last_check(&call.client).await;
    findings.truncate(FINDINGS);
    let shown = Shown {
        sites: list.len(),
        submissions: list.submissions(),
        built: built(places),
        head: head(places),
        check,
        findings,
        next: last.map_or_else(String::new, |last| next(&last, &name, marked)),
        name,
        marked,
        entries,
    };
    framed(call, "Site list", &ListPage { shown })
}

fn next(last: &Host, name: &str, marked: bool) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("after", last.as_str()).append_pair("name", name);
    if marked {
        query.append_pair("marked", "1");
    }
    format!("/console/site-list/?{}", query.finish())
}

fn row(list: &List, host: &Host, entry: &Entry) -> Row {
    let signers: Vec<String> = entry
        .policy
        .signers
        .iter()
        .map(|signer| format!("{} ({})", signer.identity, signer.issuer))
        .collect();
    Row {
        host: host.clone(),
        signers: signers.join(", "),
        threshold: entry.policy.threshold,
        submission: entry.submission,
        at: entry.at.clone(),
        marked: list.is_marked(host),
        pending: list.pending(host) > 0,
    }
}

/// Reads which distribution was built last. None where there is none, or no log of the list's own.
fn built(places: &Places) -> Option<Latest> {
    serde_json::from_slice(&std::fs::read(places.files.join(UPDATE)).ok()?).ok()
}

fn head(places: &Places) -> Option<Head> {
    let text = std::fs::read_to_string(places.log.as_ref()?.join("checkpoint")).ok()?;
    let (_, trust) = places.read.as_ref()?;
    let Checkpoint { origin, size, root, .. } = trust.open(text.as_bytes()).ok()?.checkpoint;
    Some(Head { origin, size, root: hex(&root) })
}

/// Reads the last daily look at the sites, as far as the caller may see it.
async fn last_check(client: &Client) -> (Option<CheckRow>, Vec<Finding>) {
    let Ok(Some((view, checked))) = Checked::last(client).await else { return (None, Vec::new()) };
    let row = CheckRow {
        id: view.id,
        at: view.entered_at.to_string(),
        checked: checked.checked,
        found: checked.found,
    };
    (Some(row), checked.findings)
}

async fn site_page(shelf: &Shelf, call: &Call) -> Result<Reply, Refusal> {
    let host = Host::read(call.part("host"), Onions::Reached)
        .map_err(|refused| Refusal::new(Code::InvalidRequest, refused.message))?;
    let list = current(shelf).await.map_err(|_| unavailable())?;
    let mut past: Vec<SubmissionView> = Vec::new();
    let mut more = false;
    // An emergency has a key of its own.
    for key in [host.to_string(), format!("{host}!")] {
        let filter = Filter { pipeline: Some(PIPELINE.to_owned()), key: Some(key), ..Filter::default() };
        let page = Page { limit: Some(HISTORY), ..Page::default() };
        let found = call.client.submissions(&filter, &page).await.map_err(|_| unavailable())?;
        more |= found.next.is_some();
        past.extend(found.submissions);
    }
    past.sort_by_key(|view| std::cmp::Reverse(view.created_at));
    let entry = list.entry(&host).map(|entry| row(&list, &host, entry));
    let history = past.iter().take(HISTORY).map(Past::of).collect();
    framed(call, host.as_str(), &SitePage { entry, history, more, host: host.clone() })
}

impl Past {
    fn of(view: &SubmissionView) -> Past {
        let error = view.error.as_ref().filter(|_| view.status != Status::Succeeded);
        Past {
            id: view.id,
            at: view.created_at.to_string(),
            action: view.labels.get("action").map(ToString::to_string).unwrap_or_default(),
            state: view.state.to_string(),
            error: error.map(|error| format!("{}: {}", error.code, error.message)).unwrap_or_default(),
        }
    }
}
