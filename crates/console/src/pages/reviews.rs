//! Reviews: what waits for a person, as cards to decide on one after the other.

use app::{ReviewQuery, Whose};
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

use super::rows::{Assigned, Row, assigned, row};
use super::timeline::{Moment, timeline};

/// The cards of a page: each has its documents.
const CARDS: usize = 12;
/// The events that are looked through for what people decided, and how much of that a card shows.
const EVENTS_MAX: usize = 200;
const DECIDED_MAX: usize = 4;

#[derive(Template)]
#[template(path = "reviews.html")]
struct Page {
    tabs: Vec<Tab>,
    cards: Vec<Card>,
    next: String,
    here: String,
}

/// The facts that somebody must know to decide.
struct Card {
    row: Row,
    id: SubmissionId,
    revision: u64,
    title: String,
    payload: Option<Raw>,
    findings: Vec<(String, Raw)>,
    actions: Actions,
    assigned: Option<Assigned>,
    /// The sentences about those who have agreed so far.
    approvals: Vec<String>,
    /// The decisions and notes of people before, the newest first.
    decided: Vec<Moment>,
    due: Option<When>,
    late: bool,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let pipeline = query.get("pipeline").unwrap_or_default();
    let whose: Whose = query.get("whose").and_then(|text| text.parse().ok()).unwrap_or_default();
    let wanted = ReviewQuery {
        pipeline: Some(pipeline).filter(|name| !name.is_empty()).map(Into::into),
        role: None,
        whose,
        limit: CARDS,
        after: query.get("after").map(str::to_owned),
    };
    let found = visit.app.reviews(wanted).await?;
    let mut cards = Vec::new();
    for listed in found.submissions {
        // One that was decided on meanwhile, or erased, is no card any more.
        if let Ok(view) = visit.app.show(listed.id).await {
            let events = visit.app.events_by_people(view.id, 0, EVENTS_MAX).await?;
            let mut decided = timeline(&eye, &events.events);
            // That somebody submitted it is no decision.
            decided.retain(|moment| moment.revision > 1);
            decided.truncate(DECIDED_MAX);
            cards.push(Card { actions: actions::actions(&visit, &view).await, decided, ..card(&eye, &view) });
        }
    }
    let at = |whose: &str, after: &str| {
        address("/console/reviews", [("pipeline", pipeline), ("whose", whose), ("after", after)])
    };
    let here = match whose {
        Whose::All => "",
        Whose::Unassigned => "unassigned",
        Whose::Mine => "mine",
    };
    let tabs = [("All", ""), ("Nobody's", "unassigned"), ("Mine", "mine")];
    let page = Page {
        tabs: tabs.into_iter().map(|(text, key)| Tab::new(text, at(key, ""), key == here)).collect(),
        cards,
        next: found.next.map_or_else(String::new, |next| at(here, &next)),
        here: at(here, ""),
    };
    let route = address("/v1/reviews", [("pipeline", pipeline), ("whose", here)]);
    visit.show(Sheet::new("Reviews").live().typed(&visit.ask, "reviews", &route), &page)
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
        assigned: view.assigned.as_ref().map(|held| assigned(eye, held)),
        approvals: actions::approvals(view),
        decided: Vec::new(),
        due: due.map(|level| eye.when(level.due_at)),
        late: view.sla.iter().any(|level| level.late),
    }
}
