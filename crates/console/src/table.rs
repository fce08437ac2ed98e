//! Every page and every form there is.

use std::fmt;
use std::pin::Pin;

use http::Method;
use system::{Need, Rate, Room};
use wire::{Refusal, Role};

use crate::answer::Answer;
use crate::ask::{Ask, Visit};
use crate::pages::{
    audit, dead, deliveries, holds, investigations, operations, overdue, overview, pipeline, pipelines,
    reviews, servers, settings, sign_in, submission, submission_forms, submissions, tail, tokens, workers,
};
use crate::public::{self, Open};
use crate::{assets, follow};

/// One page or form.
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub need: Need,
    pub room: Room,
    pub handler: Handler,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Route { method, path, need, room, .. } = self;
        write!(f, "Route({method} {path}, {need:?}, {room:?})")
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send>>;

/// The code that answers.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Anybody.
    Open(fn(Ask) -> Answering),
    /// Whoever the door let in.
    Inside(fn(Visit) -> Answering),
    /// Anybody, at the pages of a pipeline that is public.
    Public(fn(Open) -> Answering),
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Handler::Open(_) => "Open(..)",
            Handler::Inside(_) => "Inside(..)",
            Handler::Public(_) => "Public(..)",
        })
    }
}

use Room::{Page, Request, Wait};

/// A page has a handful of files; guesses of a token are slower than that by far.
const PUBLIC: Need = Need::Public(Rate::per_second(100));
/// Public pages: a person's reading, and a few forms looked over. What is submitted has rates of its own in the settings.
const OPEN_PAGE: Need = Need::Public(Rate::per_second(10));
const OPEN_FORM: Need = Need::Public(Rate::per_minute(60));
const ANY: Need = Need::AnyRole;
const REVIEWER: Need = Need::Role(Role::Reviewer);
const ADMIN: Need = Need::Role(Role::Admin);
const OWNER: Need = Need::Owner;

/// The table: method, path, who may, what it counts against, handler.
pub const TABLE: &[Route] = &[
    open(Method::GET, "/console/sign-in", |ask| Box::pin(sign_in::show(ask))),
    open(Method::POST, "/console/sign-in", |ask| Box::pin(sign_in::enter(ask))),
    open(Method::POST, "/console/sign-out", |ask| Box::pin(sign_in::leave(ask))),
    open(Method::POST, "/console/look", |ask| Box::pin(settings::keep(ask))),
    open(Method::GET, "/console/assets/{name}", |ask| Box::pin(assets::show(ask))),
    page("/console", ANY, Page, |visit| Box::pin(overview::show(visit))),
    page("/console/live", ANY, Wait, |visit| Box::pin(follow::hints(visit))),
    page("/console/settings", ANY, Request, |visit| Box::pin(settings::show(visit))),
    page("/console/submissions", ANY, Page, |visit| Box::pin(submissions::show(visit))),
    page("/console/submissions/export", ANY, Request, |visit| Box::pin(submissions::export(visit))),
    form("/console/submissions/many", REVIEWER, |visit| Box::pin(submissions::many(visit))),
    page("/console/submissions/{id}", ANY, Page, |visit| Box::pin(submission::show(visit))),
    page("/console/submissions/{id}/raw", ANY, Page, |visit| Box::pin(submission::raw(visit))),
    page("/console/submissions/{id}/evidence", ANY, Wait, |visit| Box::pin(submission::evidence(visit))),
    form("/console/submissions/{id}/act", ANY, |visit| Box::pin(submission_forms::act(visit))),
    form("/console/submissions/{id}/amend", ANY, |visit| Box::pin(submission_forms::amend(visit))),
    form("/console/submissions/{id}/redrive", ADMIN, |visit| Box::pin(submission_forms::redrive(visit))),
    form("/console/submissions/{id}/acknowledge", ANY, |visit| {
        Box::pin(submission_forms::acknowledge(visit))
    }),
    form("/console/submissions/{id}/review", ANY, |visit| Box::pin(submission_forms::review(visit))),
    form("/console/submissions/{id}/note", ANY, |visit| Box::pin(submission_forms::note(visit))),
    page("/console/pipelines", ANY, Page, |visit| Box::pin(pipelines::show(visit))),
    page("/console/pipelines/{pipeline}", ANY, Page, |visit| Box::pin(pipeline::show(visit))),
    page("/console/reviews", ANY, Page, |visit| Box::pin(reviews::show(visit))),
    page("/console/dead", ANY, Page, |visit| Box::pin(dead::show(visit))),
    page("/console/investigations", ANY, Page, |visit| Box::pin(investigations::show(visit))),
    page("/console/overdue", ANY, Page, |visit| Box::pin(overdue::show(visit))),
    page("/console/holds", ANY, Page, |visit| Box::pin(holds::show(visit))),
    form("/console/holds", ADMIN, |visit| Box::pin(holds::place(visit))),
    form("/console/holds/{hold}/release", ADMIN, |visit| Box::pin(holds::release(visit))),
    page("/console/workers", ANY, Page, |visit| Box::pin(workers::show(visit))),
    page("/console/deliveries", ANY, Page, |visit| Box::pin(deliveries::show(visit))),
    form("/console/deliveries/{id}/replay", ADMIN, |visit| Box::pin(deliveries::replay(visit))),
    page("/console/operations", ANY, Page, |visit| Box::pin(operations::list(visit))),
    form("/console/operations", REVIEWER, |visit| Box::pin(operations::start(visit))),
    page("/console/operations/{operation}", ANY, Page, |visit| Box::pin(operations::show(visit))),
    form("/console/operations/{operation}/stop", REVIEWER, |visit| Box::pin(operations::stop(visit))),
    page("/console/tail", ANY, Page, |visit| Box::pin(tail::show(visit))),
    page("/console/tail/stream", ANY, Wait, |visit| Box::pin(follow::tail(visit))),
    page("/console/audit", ANY, Page, |visit| Box::pin(audit::show(visit))),
    page("/console/servers", ANY, Request, |visit| Box::pin(servers::show(visit))),
    page("/console/tokens", OWNER, Page, |visit| Box::pin(tokens::show(visit))),
    form("/console/tokens", OWNER, |visit| Box::pin(tokens::create(visit))),
    form("/console/tokens/{token}/revoke", OWNER, |visit| Box::pin(tokens::revoke(visit))),
    public(Method::GET, "/public/{pipeline}", (OPEN_PAGE, Page), |open| Box::pin(public::show(open))),
    public(Method::POST, "/public/{pipeline}", (OPEN_FORM, Request), |open| Box::pin(public::send(open))),
    public(Method::GET, "/public/{pipeline}/receipts/{receipt}", (OPEN_PAGE, Page), |open| {
        Box::pin(public::show_receipt(open))
    }),
];

const fn public(
    method: Method,
    path: &'static str,
    (need, room): (Need, Room),
    handler: fn(Open) -> Answering,
) -> Route {
    Route { method, path, need, room, handler: Handler::Public(handler) }
}

const fn open(method: Method, path: &'static str, handler: fn(Ask) -> Answering) -> Route {
    Route { method, path, need: PUBLIC, room: Request, handler: Handler::Open(handler) }
}

const fn page(path: &'static str, need: Need, room: Room, handler: fn(Visit) -> Answering) -> Route {
    Route { method: Method::GET, path, need, room, handler: Handler::Inside(handler) }
}

const fn form(path: &'static str, need: Need, handler: fn(Visit) -> Answering) -> Route {
    Route { method: Method::POST, path, need, room: Request, handler: Handler::Inside(handler) }
}
