//! Ends that somebody should look into, and saying that somebody has.

use app::Query;
use askama::Template;
use wire::Refusal;

use super::PAGE;
use super::dead::chosen;
use super::rows::{Row, row};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;

#[derive(Template)]
#[template(path = "investigations.html")]
struct Page {
    entries: Vec<Entry>,
    next: String,
}

struct Entry {
    row: Row,
    revision: u64,
    may: bool,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let pipeline = chosen(&visit, query.get("pipeline")).unwrap_or_default();
    let name = Some(pipeline.as_str()).filter(|name| !name.is_empty()).map(Into::into);
    let wanted = Query { pipeline: name, after: visit.after()?, limit: PAGE, ..Query::default() };
    let found = visit.app.investigations(wanted).await?;
    let entry = |view: &wire::api::SubmissionView| Entry {
        row: row(&eye, view),
        revision: view.revision,
        may: may_acknowledge(&visit, view),
    };
    let at =
        |after: &str| address("/console/investigations", [("pipeline", pipeline.as_str()), ("after", after)]);
    let page = Page {
        entries: found.submissions.iter().map(entry).collect(),
        next: found.next.map_or_else(String::new, |next| at(&next.to_string())),
    };
    let route = address("/v1/investigations", [("pipeline", pipeline.as_str())]);
    visit.show(Sheet::new("Investigations").live().typed(&visit.ask, "investigations", &route), &page)
}

/// Tells whether a reader may say that somebody looked into an end.
fn may_acknowledge(visit: &Visit, view: &wire::api::SubmissionView) -> bool {
    let machine = visit.app.machine(&view.pipeline, Some(view.version));
    let role = machine.ok().and_then(|pipeline| pipeline.state(&view.state)?.investigate());
    visit.app.visitor().caller.role.covers(role.unwrap_or(wire::Role::Admin))
}
