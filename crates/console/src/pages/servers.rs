//! The servers over the store, and their chores.

use askama::Template;
use wire::Refusal;
use wire::api::{DutyView, ServerView};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::look::{Eye, span};
use crate::parts::{When, number};

#[derive(Template)]
#[template(path = "servers.html")]
struct Page {
    servers: Vec<Server>,
    duties: Vec<Duty>,
    condition: String,
    now: When,
    doubt: String,
}

struct Server {
    name: String,
    address: String,
    version: String,
    started: When,
    seen: String,
    duties: String,
    asked: bool,
}

struct Duty {
    name: String,
    good: String,
    passes: String,
    failures: String,
    overdue: bool,
    error: String,
    elsewhere: String,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let servers = visit.app.servers().await?.servers;
    let stats = visit.app.stats().await?;
    let clock = visit.app.clock();
    let page = Page {
        servers: servers.iter().map(|view| server(&eye, view)).collect(),
        duties: stats.duties.iter().map(duty).collect(),
        condition: stats.condition,
        now: eye.clock(clock.now),
        doubt: clock.doubt.unwrap_or_default(),
    };
    visit.show(Sheet::new("Servers").live().typed(&visit.ask, "servers", "/v1/servers"), &page)
}

fn server(eye: &Eye, view: &ServerView) -> Server {
    Server {
        name: view.name.to_string(),
        address: view.address.clone(),
        version: view.version.clone(),
        started: eye.when(view.started_at),
        seen: span(view.seen_ago),
        duties: view.duties.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", "),
        asked: view.asked,
    }
}

fn duty(view: &DutyView) -> Duty {
    Duty {
        name: view.name.to_string(),
        good: view.last_good_ago.map(|ago| format!("{} ago", span(ago))).unwrap_or_default(),
        passes: number(view.passes),
        failures: number(view.failures),
        overdue: view.overdue,
        error: view.last_error.clone().unwrap_or_default(),
        elsewhere: view.elsewhere.as_deref().unwrap_or_default().to_owned(),
    }
}
