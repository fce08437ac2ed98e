//! The console's pages of services: all that have something to do, and each with its line, its pauses and a form to pause it.

use askama::Template;
use console::layout::{self, Fields, Id, State, When, list};
use http::{Method, StatusCode};
use system::{Call, Need, Reply, Room, Route};
use wire::api::HoldBody;
use wire::{Code, Millis, Refusal, Role, Status};

use crate::lookup::{BatchView, PIPELINE};
use crate::routes::refusal;
use crate::services::{self, HoldOn, Line, ServiceView};

const LIST: &str = "/console/ledger/services";
/// The most characters of an error in a list; the service's own page has all.
const ERROR_CHARS_MAX: usize = 160;

/// Services with something to do, those in trouble first.
#[derive(Template)]
#[template(path = "services.html")]
struct ServicesPage {
    rows: Vec<Row>,
    troubled: usize,
    paused: usize,
    waiting: String,
    more: bool,
}

struct Row {
    service: String,
    link: String,
    under_way: Option<Shown>,
    waiting: String,
    holds: Vec<HoldOn>,
}

/// A batch as the pages show it.
struct Shown {
    /// The address of its page.
    link: String,
    id: Id,
    header: Id,
    data_change: Option<String>,
    state: State,
    is_dead: bool,
    overdue: bool,
    error: Option<String>,
    since: When,
    made: When,
}

/// One service.
#[derive(Template)]
#[template(path = "service.html")]
struct ServicePage {
    service: String,
    link: String,
    /// The list of all its batches.
    batches: String,
    under_way: Option<Shown>,
    why: Vec<String>,
    waiting: String,
    first: Vec<(String, Shown)>,
    holds: Vec<(HoldOn, Option<When>)>,
    /// Set if the reader may pause and release.
    may: bool,
    refused: Refused,
}

/// A form that was refused: why, and what was in it.
#[derive(Default)]
struct Refused {
    problem: String,
    reason: String,
    span: String,
}

pub(crate) fn all() -> Vec<Route> {
    let read = (Need::AnyRole, Room::Page);
    let act = (Need::Role(Role::Admin), Room::Request);
    vec![
        Route::new((Method::GET, LIST), read, "Services", all_of_them),
        Route::new((Method::GET, "/console/ledger/services/{service}"), read, "A service", one),
        Route::new((Method::POST, "/console/ledger/services/{service}/pause"), act, "Pause", pause),
        Route::new((Method::POST, "/console/ledger/services/{service}/release"), act, "Release", release),
    ]
}

async fn all_of_them(call: Call) -> Result<Reply, Refusal> {
    let found = services::services(&call.client, None).await.map_err(refusal)?;
    let waiting: usize = found.services.iter().map(|service| service.waiting).sum();
    let more_waiting = found.more || found.services.iter().any(|service| service.more_waiting);
    let page = ServicesPage {
        troubled: found.services.iter().filter(|service| service.is_in_trouble()).count(),
        paused: found.services.iter().filter(|service| !service.holds.is_empty()).count(),
        waiting: counted(waiting, more_waiting),
        more: found.more,
        rows: found.services.into_iter().map(|service| row(&call, service)).collect(),
    };
    Ok(layout::live_page(&call, "Services of ledgers", &rendered(&page)?))
}

async fn one(call: Call) -> Result<Reply, Refusal> {
    let page = of_service(&call, Refused::default()).await?;
    Ok(layout::live_page(&call, &format!("Service {}", page.service), &rendered(&page)?))
}

async fn of_service(call: &Call, refused: Refused) -> Result<ServicePage, Refusal> {
    let name = call.part("service");
    let Line { service, why, first } = services::line(&call.client, name).await.map_err(refusal)?;
    let ends = |hold: &HoldOn| hold.expires_at.map(|at| layout::when(call, at));
    Ok(ServicePage {
        link: page_of(name),
        batches: list(PIPELINE, &[("label.service", name)]),
        under_way: service.holder.as_ref().map(|batch| shown(call, batch)),
        why,
        waiting: counted(service.waiting, service.more_waiting),
        first: first.iter().map(|(place, batch)| (ordinal(*place), shown(call, batch))).collect(),
        holds: service.holds.iter().map(|hold| (hold.clone(), ends(hold))).collect(),
        may: call.caller.as_ref().is_some_and(|caller| caller.role == Role::Admin),
        service: service.service_id,
        refused,
    })
}

/// Places a hold on the service's lane, as the form says. What is refused comes back in the form, with the reason.
async fn pause(call: Call) -> Result<Reply, Refusal> {
    let back = page_of(call.part("service"));
    let form = Fields::read(&call.body);
    let refusal = match place(&call, &form).await {
        Ok(()) => return Ok(layout::done(&back, "paused")),
        Err(refusal) => refusal,
    };
    let field = |name: &str| form.get(name).unwrap_or_default().to_owned();
    let refused = Refused { problem: refusal.message, reason: field("reason"), span: field("for") };
    let call = Call { uri: back.parse().unwrap_or_default(), ..call };
    let page = of_service(&call, refused).await?;
    let reply = layout::page(&call, &format!("Service {}", page.service), &rendered(&page)?);
    Ok(reply.with_status(StatusCode::UNPROCESSABLE_ENTITY))
}

async fn place(call: &Call, form: &Fields) -> Result<(), Refusal> {
    let invalid = |message: String| Refusal::new(Code::InvalidRequest, message);
    let reason = form.get("reason").ok_or_else(|| {
        invalid("the form has no reason: say why the service is paused; others will read it".to_owned())
    })?;
    let span: Option<Millis> = form.get("for").map(str::parse).transpose().map_err(|error| {
        invalid(format!("{error}; say how long the pause lasts as `2h` or `3d`, or leave it open"))
    })?;
    let body = HoldBody {
        pipeline: Some(PIPELINE.to_owned()),
        lane: Some(call.part("service").to_owned()),
        reason: reason.to_owned(),
        expires_at: span.map(|span| call.frame.now.plus(span)),
        ..HoldBody::default()
    };
    call.client.hold(&body).await.map(drop).map_err(refusal)
}

/// Releases a pause of this service, and no other hold.
async fn release(call: Call) -> Result<Reply, Refusal> {
    let (service, form) = (call.part("service"), Fields::read(&call.body));
    let id = form.get("hold").unwrap_or_default();
    let pauses = services::pauses(&call.client).await.map_err(refusal)?;
    if !pauses.iter().any(|(paused, hold)| paused == service && hold.id == id) {
        let message = "this pause is over already, or the hold is none of this service alone; the page of holds has all";
        return Err(Refusal::new(Code::UnknownHold, message));
    }
    call.client.release(id).await.map_err(refusal)?;
    Ok(layout::done(&page_of(service), "resumed"))
}

fn row(call: &Call, service: ServiceView) -> Row {
    Row {
        link: page_of(&service.service_id),
        under_way: service.holder.as_ref().map(|batch| {
            let whole = shown(call, batch);
            Shown { error: whole.error.as_deref().map(cut), ..whole }
        }),
        waiting: counted(service.waiting, service.more_waiting),
        holds: service.holds,
        service: service.service_id,
    }
}

fn shown(call: &Call, batch: &BatchView) -> Shown {
    let link = format!("/console/submissions/{}", batch.id);
    Shown {
        id: Id::of(batch.id),
        header: Id::named(&batch.batch_header, link.clone()),
        link,
        data_change: batch.data_change_id.clone(),
        state: State::at(PIPELINE, &batch.state, batch.status),
        is_dead: batch.status == Status::Dead,
        overdue: batch.overdue,
        error: batch.error.clone(),
        since: layout::when(call, batch.entered_at),
        made: layout::when(call, batch.created_at),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(ERROR_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn counted(count: usize, more: bool) -> String {
    if more { format!("{count}+") } else { count.to_string() }
}

/// Writes a place in line; one that is too far down to be known is none.
fn ordinal(place: usize) -> String {
    if place == usize::MAX { "–".to_owned() } else { place.to_string() }
}

/// Returns the address of a service's page, whatever is in its name.
fn page_of(service: &str) -> String {
    let part = service.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' | b':' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    format!("{LIST}/{}", part.collect::<String>())
}

fn rendered(page: &impl Template) -> Result<String, Refusal> {
    page.render().map_err(|error| Refusal::new(Code::Internal, format!("the page cannot be made: {error}")))
}
