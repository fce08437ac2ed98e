//! Services as people ask for them: what is under way, what waits behind it, and what stops it.

use std::collections::BTreeMap;

use client::{Client, Filter, Page};
use serde::Serialize;
use wire::api::{Held, SubmissionView};
use wire::{Status, SubmissionId, Time};
use worker::Error;

use crate::batch::NO_SERVICE;
use crate::lookup::{BatchView, PIPELINE, view};

/// Services shown at a time, of each state that keeps a lane.
const SERVICES_MAX: usize = 100;
/// Waiting batches that are counted, of each service.
const WAITING_MAX: usize = 100;
/// Waiting batches among which the first are looked for, of one service.
const LINE_MAX: usize = 1_000;
/// Waiting batches that are shown with their places, of one service.
const FIRST_MAX: usize = 20;
/// The states in which a batch keeps the others of its service waiting, as they follow each other. A batch that moves on
/// between two questions is met by one of them.
const KEEPING: [&str; 4] = ["DELAYED", "SUBMITTING", "PENDING", "DELAYED"];
/// The label that has the service, which is the lane, too.
const LABEL: &str = "service";
/// The state in which a batch waits for its turn.
const WAITING: &str = "QUEUED";

/// A service with something to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ServiceView {
    pub(crate) service_id: String,
    /// The batch that the others wait for. None: nothing was let in yet, because a hold stops it.
    pub(crate) holder: Option<BatchView>,
    /// The number of batches that wait behind it, up to a bound.
    pub(crate) waiting: usize,
    /// Set if there are more than were counted.
    pub(crate) more_waiting: bool,
    /// The holds that stop it.
    pub(crate) holds: Vec<HoldOn>,
}

/// A hold, as far as the service it stops is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HoldOn {
    pub(crate) id: String,
    pub(crate) reason: String,
    pub(crate) owner: String,
    pub(crate) expires_at: Option<Time>,
    /// Set if it pauses this service and nothing else.
    pub(crate) is_pause: bool,
}

/// Services, those in trouble first.
#[derive(Debug, Serialize)]
pub(crate) struct Services {
    pub(crate) services: Vec<ServiceView>,
    /// Set if there are more: name one to see it.
    pub(crate) more: bool,
}

/// One service with those that wait first.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) service: ServiceView,
    /// The reasons why the batch under way does not move, or, where there is none, why the first that waits does not.
    pub(crate) why: Vec<String>,
    /// The first in line, with their places.
    pub(crate) first: Vec<(usize, BatchView)>,
}

impl ServiceView {
    /// Returns the order of services in a list: those that need somebody come first.
    fn order(&self) -> (bool, bool, bool, bool, Option<Time>) {
        let holder = self.holder.as_ref();
        (
            holder.is_none_or(|holder| holder.status != Status::Dead),
            holder.is_none_or(|holder| holder.error.is_none()),
            holder.is_none_or(|holder| !holder.overdue),
            self.holds.is_empty(),
            holder.map(|holder| holder.entered_at),
        )
    }

    /// Tells whether the batch under way needs a look.
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.holder
            .as_ref()
            .is_some_and(|holder| holder.status == Status::Dead || holder.error.is_some() || holder.overdue)
    }
}

/// Lists services with something to do: one of them, or as many as are shown at a time.
pub(crate) async fn services(client: &Client, service: Option<&str>) -> Result<Services, Error> {
    let page = Page { limit: Some(SERVICES_MAX), after: None };
    let (mut found, mut more) = (BTreeMap::new(), false);
    for state in KEEPING {
        let batches = client.submissions(&in_state(state, service), &page).await?;
        more |= batches.next.is_some();
        for batch in batches.submissions {
            found.insert(service_of(&batch), (holds(&batch), Some(view(&batch))));
        }
    }
    // A service that a hold stops may have nothing under way, and all the more is to be seen.
    let waiting = client.submissions(&in_state(WAITING, service), &page).await?;
    for batch in &waiting.submissions {
        let service = service_of(batch);
        if found.contains_key(&service) {
            continue;
        }
        // Or one is under way that was not among the first.
        let holder = if batch.holds.is_empty() { holder_before(client, batch.id).await? } else { None };
        found.insert(service, (holds(batch), holder));
    }
    for (paused, hold) in pauses(client).await? {
        if service.is_none_or(|service| service == paused) {
            let (holds, _): &mut (Vec<HoldOn>, _) = found.entry(paused).or_default();
            holds.retain(|known| known.id != hold.id);
            holds.push(hold);
        }
    }
    let service = |(service_id, (holds, holder))| ServiceView {
        service_id,
        holder,
        waiting: 0,
        more_waiting: false,
        holds,
    };
    let mut services: Vec<ServiceView> = found.into_iter().map(service).collect();
    services.sort_by_key(ServiceView::order);
    more |= services.len() > SERVICES_MAX;
    services.truncate(SERVICES_MAX);
    for service in &mut services {
        let page = Page { limit: Some(WAITING_MAX), after: None };
        let waiting = client.submissions(&in_state(WAITING, Some(&service.service_id)), &page).await?;
        (service.waiting, service.more_waiting) = (waiting.submissions.len(), waiting.next.is_some());
    }
    Ok(Services { services, more })
}

/// Finds the batch that a waiting one waits for.
async fn holder_before(client: &Client, waiting: SubmissionId) -> Result<Option<BatchView>, Error> {
    let why = client.why(waiting).await?;
    let holder = why.reasons.iter().find_map(|reason| reason.details.get("holder")?["submission"].as_str());
    let Some(id) = holder.and_then(|id| id.parse().ok()) else { return Ok(None) };
    let batch = client.submission(id).await?;
    Ok((!batch.status.is_final()).then(|| view(&batch)))
}

/// Returns one service with those that are first in line. One that nobody knows has nothing to do.
pub(crate) async fn line(client: &Client, name: &str) -> Result<Line, Error> {
    let found = services(client, Some(name)).await?.services.into_iter().next();
    let service = found.unwrap_or_else(|| ServiceView {
        service_id: name.to_owned(),
        holder: None,
        waiting: 0,
        more_waiting: false,
        holds: Vec::new(),
    });
    let page = Page { limit: Some(LINE_MAX), after: None };
    let mut waiting = client.submissions(&in_state(WAITING, Some(name)), &page).await?.submissions;
    waiting.sort_by_key(|batch| batch.created_at);
    let mut first = Vec::new();
    // Those of one call have one time; their order is the engine's to say.
    for batch in waiting.iter().take(FIRST_MAX) {
        let why = client.why(batch.id).await?;
        let place = why.reasons.iter().find_map(|reason| reason.details.get("position")?.as_u64());
        let place = place.and_then(|place| usize::try_from(place).ok());
        first.push((place.unwrap_or(usize::MAX), view(batch)));
    }
    first.sort_by_key(|(place, batch)| (*place, batch.created_at));
    let about = service.holder.as_ref().or(first.first().map(|(_, batch)| batch)).map(|batch| batch.id);
    let why = match about {
        Some(id) => client.why(id).await?.reasons.into_iter().map(|reason| reason.sentence).collect(),
        None => Vec::new(),
    };
    Ok(Line { service, why, first })
}

/// Returns the holds that pause a service each.
pub(crate) async fn pauses(client: &Client) -> Result<Vec<(String, HoldOn)>, Error> {
    let holds = client.holds().await?.holds.into_iter();
    let ours = holds.filter(|hold| {
        hold.submission.is_none()
            && hold.labels.is_empty()
            && hold.pipeline.as_deref().is_none_or(|pipeline| pipeline == PIPELINE)
    });
    let pause = ours.filter_map(|hold| {
        let on = HoldOn {
            id: hold.id.to_string(),
            reason: hold.reason,
            owner: hold.owner.name.to_string(),
            expires_at: hold.expires_at,
            is_pause: true,
        };
        Some((hold.lane?.to_string(), on))
    });
    Ok(pause.collect())
}

fn service_of(batch: &SubmissionView) -> String {
    batch.labels.get(LABEL).map_or(NO_SERVICE, |service| &**service).to_owned()
}

fn holds(batch: &SubmissionView) -> Vec<HoldOn> {
    let on = |hold: &Held| HoldOn {
        id: hold.id.to_string(),
        reason: hold.reason.clone(),
        owner: hold.owner.name.to_string(),
        expires_at: hold.expires_at,
        is_pause: false,
    };
    batch.holds.iter().map(on).collect()
}

fn in_state(state: &str, service: Option<&str>) -> Filter {
    Filter {
        pipeline: Some(PIPELINE.to_owned()),
        state: Some(state.to_owned()),
        // Not by lane: one that a hold took out of line is in none.
        labels: service.map(|service| (LABEL.to_owned(), service.to_owned())).into_iter().collect(),
        ..Filter::default()
    }
}
