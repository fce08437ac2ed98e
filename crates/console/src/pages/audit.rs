//! The audit log: how it stands, who witnesses it, and what was done besides submissions.

use askama::Template;
use wire::api::{ActView, AuditView};
use wire::{Refusal, Role};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{When, number};

const RECORDS: usize = 40;

#[derive(Template)]
#[template(path = "audit.html")]
struct Page {
    log: Option<Log>,
    /// The reason why there is none.
    none: String,
    records: Option<Vec<Record>>,
    next: String,
    server: String,
}

struct Log {
    origin: String,
    size: String,
    signed: Option<When>,
    unpublished: String,
    standing: String,
    is_fine: bool,
    reason: String,
    keys: Vec<String>,
    witnesses: Vec<Witness>,
}

struct Witness {
    name: String,
    cosigned: String,
    missing: String,
}

struct Record {
    index: String,
    at: When,
    what: String,
    of: String,
    by: String,
    detail: Vec<(String, String)>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let standing = visit.app.log_standing().await;
    let visitor = visit.app.visitor();
    let owner = visitor.is_owner() && visitor.caller.role == Role::Admin && standing.is_ok();
    let records = match owner {
        true => Some(visit.app.log_records(visit.after()?, RECORDS).await?),
        false => None,
    };
    let next = records.as_ref().and_then(|page| page.next);
    let none = standing.as_ref().err().map(|refusal| refusal.message.clone()).unwrap_or_default();
    let page = Page {
        log: standing.ok().map(|view| log(&eye, view)),
        none,
        records: records.map(|page| page.acts.iter().map(|act| record(&eye, act)).collect()),
        next: next.map_or_else(String::new, |next| {
            address("/console/audit", [("after", next.to_string().as_str())])
        }),
        server: visit.ask.server(),
    };
    visit.show(Sheet::new("Audit log").live().typed(&visit.ask, "audit show", "/v1/audit"), &page)
}

fn log(eye: &Eye, view: AuditView) -> Log {
    Log {
        size: number(view.size),
        signed: eye.when_if(view.checkpoint_at),
        unpublished: view.unpublished.map(number).unwrap_or_default(),
        is_fine: view.standing == "running",
        standing: view.standing,
        reason: view.reason.unwrap_or_default(),
        keys: view.keys,
        witnesses: view
            .witnesses
            .into_iter()
            .map(|witness| Witness {
                name: witness.name,
                cosigned: witness.cosigned.map(number).unwrap_or_default(),
                missing: witness.missing.unwrap_or_default(),
            })
            .collect(),
        origin: view.origin,
    }
}

fn record(eye: &Eye, act: &ActView) -> Record {
    let actor = act.actor.as_ref();
    let by = actor.map(|actor| actor.name.as_deref().map_or_else(|| actor.id.to_string(), str::to_owned));
    Record {
        index: number(act.index),
        at: eye.when(act.at),
        what: act.deed.as_deref().unwrap_or(&act.kind).replace('_', " "),
        of: act.of.to_string(),
        by: by.unwrap_or_else(|| "the server".to_owned()),
        detail: act.detail.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
    }
}
