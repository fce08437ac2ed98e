//! The frame around every page: navigation, search, and what the reader has set. Systems put their pages into the same.

use app::Visitor;
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use system::{Call, Reply};
use wire::{Code, Refusal, Role, Time};

use crate::answer::Answer;
use crate::ask::{Ask, Visit};
use crate::assets;
use crate::commands::Commands;
pub use crate::fields::Fields;
use crate::look::{Eye, Look};
use crate::notice;
use crate::parts::Link;
pub use crate::parts::{Id, State, When, list};

/// A page about to be framed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    title: String,
    live: Option<String>,
    commands: Option<Commands>,
    status: u16,
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>) -> Sheet {
        Sheet { title: title.into(), status: 200, ..Sheet::default() }
    }

    /// Keeps the page fresh: it is read again when something happened.
    pub(crate) fn live(self) -> Sheet {
        Sheet { live: Some("/console/live".to_owned()), ..self }
    }

    /// Keeps the page fresh by a stream of its own.
    pub(crate) fn live_by(self, stream: String) -> Sheet {
        Sheet { live: Some(stream), ..self }
    }

    /// Names the same as a command of the program and as a route of the API.
    pub(crate) fn typed(self, ask: &Ask, cli: &str, route: &str) -> Sheet {
        Sheet { commands: Some(Commands::new(&ask.server(), cli, route)), ..self }
    }

    pub(crate) fn status(self, status: u16) -> Sheet {
        Sheet { status, ..self }
    }
}

/// An entry of the navigation.
#[derive(Debug)]
struct Entry {
    text: String,
    to: String,
    /// The key that goes there, after `g`.
    key: &'static str,
    here: bool,
}

#[derive(Debug)]
struct Group {
    title: &'static str,
    entries: Vec<Entry>,
}

/// The reader, as the frame names them.
#[derive(Debug)]
struct Reader {
    name: String,
    role: &'static str,
    scope: String,
    /// Set if there is a session to end.
    leaves: bool,
}

#[derive(Template)]
#[template(path = "layout.html")]
struct Layout<'a> {
    title: &'a str,
    content: &'a str,
    theme: &'a str,
    zone: &'a str,
    here: String,
    search: String,
    reader: Option<Reader>,
    groups: Vec<Group>,
    live: Option<&'a str>,
    commands: Option<&'a Commands>,
    done: &'static str,
    stamp: &'static str,
    /// The server's clock, in milliseconds; 0 where it does not matter.
    now: i64,
}

const WORK: &[(&str, &str, &str)] = &[
    ("Overview", "/console", "o"),
    ("Submissions", "/console/submissions", "s"),
    ("Reviews", "/console/reviews", "r"),
    ("Dead letters", "/console/dead", "d"),
    ("Investigations", "/console/investigations", "i"),
    ("Overdue", "/console/overdue", "v"),
    ("Live tail", "/console/tail", "t"),
];

const CONTROL: &[(&str, &str, &str)] = &[
    ("Pipelines", "/console/pipelines", "p"),
    ("Holds", "/console/holds", "h"),
    ("Operations", "/console/operations", "b"),
    ("Workers", "/console/workers", "w"),
    ("Deliveries", "/console/deliveries", "m"),
];

const TRUST: &[(&str, &str, &str)] = &[("Audit log", "/console/audit", "a")];
const TRUST_OF_ALL: (&str, &str, &str) = ("Servers", "/console/servers", "e");
const TRUST_OF_OWNERS: (&str, &str, &str) = ("Tokens", "/console/tokens", "k");

impl Visit {
    /// Renders a page into the frame; where a part of an open page is asked for, alone.
    pub(crate) fn show(&self, sheet: Sheet, page: &impl Template) -> Result<Answer, Refusal> {
        let content = rendered(page)?;
        if self.ask.is_part() {
            return Ok(Answer::Page { status: sheet.status, html: content });
        }
        let html = framed(&self.ask, Some(self), &sheet, &content)?;
        Ok(Answer::Page { status: sheet.status, html })
    }
}

/// Renders a page for somebody who was not let in, or may not be.
pub(crate) fn outside(ask: &Ask, sheet: &Sheet, page: &impl Template) -> Result<String, Refusal> {
    let content = rendered(page)?;
    if ask.is_part() { Ok(content) } else { framed(ask, None, sheet, &content) }
}

/// Puts the page of a system into the frame. `content` is HTML, of which everything that others chose is escaped.
#[must_use]
pub fn page(call: &Call, title: &str, content: &str) -> Reply {
    of_system(call, title, content, None)
}

/// Puts the page of a system into the frame and keeps it fresh: it is read again when something happened.
#[must_use]
pub fn live_page(call: &Call, title: &str, content: &str) -> Reply {
    match call.headers.get("hx-request").is_some_and(|value| value == "true") {
        true => Reply::html(content),
        false => of_system(call, title, content, Some("/console/live")),
    }
}

/// Returns a time as the console shows it to whoever calls: how far from now, and exactly.
#[must_use]
pub fn when(call: &Call, time: Time) -> When {
    Eye { now: call.frame.now, zone: Look::of(&call.headers).zone() }.when(time)
}

/// Goes to another page of a system after a form was sent, and says there what was done: one of the console's own words.
#[must_use]
pub fn done(path: &str, word: &str) -> Reply {
    let mut reply = Reply::text("").with_status(StatusCode::SEE_OTHER);
    let to = HeaderValue::try_from(format!("{path}?done={word}"));
    reply.headers.insert(header::LOCATION, to.unwrap_or(HeaderValue::from_static("/console")));
    reply
}

fn of_system(call: &Call, title: &str, content: &str, live: Option<&str>) -> Reply {
    let look = Look::of(&call.headers);
    let query = Fields::read(call.uri.query().unwrap_or_default().as_bytes());
    let here = call.uri.path();
    let reader = call.caller.as_ref().map(|caller| Reader {
        name: caller.name.clone(),
        role: caller.role.as_str(),
        scope: String::new(),
        leaves: true,
    });
    let shown = reader.is_some();
    let layout = Layout {
        title,
        content,
        theme: look.theme,
        zone: look.zone_name(),
        here: here.to_owned(),
        search: String::new(),
        groups: if shown { groups(here, None, &call.frame.pages) } else { Vec::new() },
        reader,
        live,
        commands: None,
        done: notice::sentence(query.get("done")),
        stamp: assets::stamp(),
        now: call.frame.now.millis(),
    };
    Reply::html(layout.render().unwrap_or_default())
}

fn framed(ask: &Ask, visit: Option<&Visit>, sheet: &Sheet, content: &str) -> Result<String, Refusal> {
    let (look, query) = (ask.look(), ask.query());
    let (visitor, pages) =
        (visit.map(|visit| visit.app.visitor()), visit.map_or(&[][..], |visit| &visit.pages));
    let now = visit.map_or(0, |visit| visit.app.clock().now.millis());
    let layout = Layout {
        title: &sheet.title,
        content,
        theme: look.theme,
        zone: look.zone_name(),
        here: ask.here(),
        search: query.get("q").unwrap_or_default().to_owned(),
        reader: visitor.map(reader),
        groups: visitor.map_or_else(Vec::new, |visitor| groups(ask.uri.path(), Some(visitor), pages)),
        live: sheet.live.as_deref(),
        commands: sheet.commands.as_ref(),
        done: notice::sentence(query.get("done")),
        stamp: assets::stamp(),
        now,
    };
    rendered(&layout)
}

fn rendered(page: &impl Template) -> Result<String, Refusal> {
    page.render().map_err(|error| Refusal::new(Code::Internal, format!("the page cannot be made: {error}")))
}

fn reader(visitor: &Visitor) -> Reader {
    let pipelines = visitor.pipelines.iter().flatten().map(|name| name.to_string());
    let labels = visitor.labels.iter().map(|(label, value)| format!("{label}={value}"));
    Reader {
        name: visitor.caller.name.to_string(),
        role: visitor.caller.role.as_str(),
        scope: pipelines.chain(labels).collect::<Vec<_>>().join(", "),
        leaves: visitor.entry.token().is_some(),
    }
}

/// Returns the navigation: what this reader may see.
fn groups(here: &str, visitor: Option<&Visitor>, pages: &[(String, String)]) -> Vec<Group> {
    let is_here = |to: &str| match to {
        "/console" => here == to,
        _ => here == to || here.strip_prefix(to).is_some_and(|rest| rest.starts_with('/')),
    };
    let entry = |(text, to, key): &(&str, &str, &'static str)| Entry {
        text: (*text).to_owned(),
        to: (*to).to_owned(),
        key,
        here: is_here(to),
    };
    let unlimited = visitor.is_some_and(Visitor::is_unlimited);
    let owner = unlimited && visitor.is_some_and(|visitor| visitor.caller.role == Role::Admin);
    let trust =
        TRUST.iter().chain(unlimited.then_some(&TRUST_OF_ALL)).chain(owner.then_some(&TRUST_OF_OWNERS));
    let of_systems = pages.iter().map(|(text, to)| Entry {
        text: text.clone(),
        to: to.clone(),
        key: "",
        here: is_here(to),
    });
    let all = [
        Group { title: "Work", entries: WORK.iter().map(entry).collect() },
        Group { title: "Control", entries: CONTROL.iter().map(entry).collect() },
        Group { title: "Trust", entries: trust.map(entry).collect() },
        Group { title: "Systems", entries: of_systems.collect() },
    ];
    all.into_iter().filter(|group| !group.entries.is_empty()).collect()
}

/// The tabs of a page.
#[derive(Debug, Clone)]
pub(crate) struct Tab {
    pub(crate) link: Link,
    pub(crate) here: bool,
}

impl Tab {
    pub(crate) fn new(text: &str, to: String, here: bool) -> Tab {
        Tab { link: Link::new(text, to), here }
    }
}
