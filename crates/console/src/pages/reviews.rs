//! Reviews: what waits for a person, as cards to decide on one after the other.

use app::ReviewQuery;
use askama::Template;
use wire::api::SubmissionView;
use wire::{Refusal, SubmissionId};

use crate::actions::{self, Actions};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::{Sheet, Tab};
use crate::parts::When;
use crate::raw::Raw;

use super::rows::{Row, row};

/// The cards of a page: each has its documents.
const CARDS: usize = 12;

#[derive(Template)]
#[template(path = "reviews.html")]
struct Page {
    tabs: Vec<Tab>,
    cards: Vec<Card>,
    next: String,
    here: String,
}

/// What somebody must know to decide.
struct Card {
    row: Row,
    id: SubmissionId,
    revision: u64,
    title: String,
    payload: Option<Raw>,
    findings: Vec<(String, Raw)>,
    actions: Actions,
    due: Option<When>,
    late: bool,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let (pipeline, mine) = (query.get("pipeline").unwrap_or_default(), query.get("whose") == Some("mine"));
    let role = visit.app.visitor().caller.role;
    let wanted = ReviewQuery {
        pipeline: Some(pipeline).filter(|name| !name.is_empty()).map(Into::into),
        role: mine.then_some(role),
        limit: CARDS,
        after: visit.after()?,
    };
    let found = visit.app.reviews(wanted).await?;
    let mut cards = Vec::new();
    for listed in found.submissions {
        // One that was decided on meanwhile, or erased, is no card any more.
        if let Ok(view) = visit.app.show(listed.id).await {
            cards.push(Card { actions: actions::actions(&visit, &view).await, ..card(&eye, &view) });
        }
    }
    let whose = if mine { "mine" } else { "" };
    let at = |whose: &str, after: &str| {
        address("/console/reviews", [("pipeline", pipeline), ("whose", whose), ("after", after)])
    };
    let page = Page {
        tabs: vec![Tab::new("All", at("", ""), !mine), Tab::new("For my role", at("mine", ""), mine)],
        cards,
        next: found.next.map_or_else(String::new, |next| at(whose, &next.to_string())),
        here: at(whose, ""),
    };
    let route = address("/v1/reviews", [("pipeline", pipeline)]);
    visit.show(Sheet::new("Reviews").live().typed(&visit.ask, "list --status open", &route), &page)
}

fn card(eye: &crate::look::Eye, view: &SubmissionView) -> Card {
    let due = view.sla.iter().min_by_key(|level| level.due_at);
    let outputs = view.outputs.iter().flatten();
    Card {
        row: row(eye, view),
        id: view.id,
        revision: view.revision,
        title: view.key.as_deref().unwrap_or_default().to_owned(),
        payload: view.payload.as_ref().map(Raw::of),
        findings: outputs.map(|(state, output)| (state.to_string(), Raw::of(output))).collect(),
        actions: Actions::default(),
        due: due.map(|level| eye.when(level.due_at)),
        late: view.sla.iter().any(|level| level.late),
    }
}
