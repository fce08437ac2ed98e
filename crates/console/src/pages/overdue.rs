//! Submissions that have missed a service level, the longest ago first.

use askama::Template;
use wire::Refusal;
use wire::api::SubmissionView;

use super::PAGE;
use super::rows::{Row, row};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;
use crate::parts::When;

#[derive(Template)]
#[template(path = "overdue.html")]
struct Page {
    entries: Vec<Entry>,
    next: String,
}

struct Entry {
    row: Row,
    missed: Vec<(String, When)>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let pipeline = query.get("pipeline").unwrap_or_default();
    let name = Some(pipeline).filter(|name| !name.is_empty()).map(Into::into);
    let found = visit.app.overdue(name, query.get("after"), PAGE).await?;
    let entry = |view: &SubmissionView| Entry {
        row: row(&eye, view),
        missed: view
            .sla
            .iter()
            .filter(|level| level.late)
            .map(|level| (level.name.to_string(), eye.when(level.due_at)))
            .collect(),
    };
    let page = Page {
        entries: found.submissions.iter().map(entry).collect(),
        next: found.next.map_or_else(String::new, |next| {
            address("/console/overdue", [("pipeline", pipeline), ("after", &next)])
        }),
    };
    let route = address("/v1/overdue", [("pipeline", pipeline)]);
    visit.show(Sheet::new("Overdue").live().typed(&visit.ask, "overdue", &route), &page)
}
