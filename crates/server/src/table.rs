//! Every route there is, and the router made from them.

use axum::Router;
use axum::http::{Method, Uri};
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};
use engine::Engine;
use model::{Code, Refusal, Role};
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use wire::api::{FailBody, FinishBody, GiveBackBody, RenewBody, SnoozeBody, SpawnBody};

use crate::layers::{self, Door};
use crate::mounts::Bound;
use crate::options::Options;
use crate::pages;
use crate::problem::{Refused, quote};
use crate::routes::{
    actions, clock, cursors, deliveries, endpoints, entries, evidence, export, feed, figures, health, holds,
    lists, log, metrics, operations, pipelines, reviews, submissions, submit, tasks, tokens,
};
use crate::state::Server;

/// One way in.
#[derive(Debug)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub need: Need,
    pub room: Room,
    handler: Handler,
}

type Handler = fn(MethodFilter) -> MethodRouter<Server>;

/// The right that a caller must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// A token, of whatever role.
    AnyRole,
    /// This role, or admin.
    Role(Role),
    /// An admin whose token is for everything: what this changes concerns all.
    Owner,
}

/// The bound that a request counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Nothing: it is answered even when everything else is full.
    Always,
    Request,
    /// A request whose answer shows one thing, which may be large.
    One,
    /// A request whose answer is a list or a file, which may be large.
    Page,
    /// A long poll: it mostly waits.
    Wait,
}

use Need::{AnyRole, Nothing, Owner};
use Room::{Always, One, Page, Request, Wait};

const SUBMITTER: Need = Need::Role(Role::Submitter);
const WORKER: Need = Need::Role(Role::Worker);
const REVIEWER: Need = Need::Role(Role::Reviewer);
const ADMIN: Need = Need::Role(Role::Admin);

/// The table: method, path, who may, what it counts against, handler.
pub const TABLE: &[Route] = &[
    route(Method::GET, "/", Nothing, Always, |get| on(get, health::welcome)),
    route(Method::GET, "/livez", Nothing, Always, |get| on(get, health::live)),
    route(Method::GET, "/readyz", Nothing, Always, |get| on(get, health::ready)),
    route(Method::GET, "/metrics", AnyRole, Always, |get| on(get, metrics::show)),
    route(Method::GET, "/openapi.json", Nothing, Request, |get| on(get, health::describe)),
    route(Method::GET, "/checkpoint", Nothing, Request, |get| on(get, log::checkpoint)),
    route(Method::GET, "/tile/{*path}", AnyRole, Page, |get| on(get, log::tile)),
    route(Method::GET, "/definition/{digest}", AnyRole, Page, |get| on(get, log::definition)),
    route(Method::GET, "/v1/audit", AnyRole, Request, |get| on(get, log::show)),
    route(Method::GET, "/v1/audit/key", Nothing, Request, |get| on(get, log::keys)),
    route(Method::GET, "/v1/audit/acts", Owner, Page, |get| on(get, log::records)),
    route(Method::POST, "/v1/audit/keys", Owner, Request, |post| on(post, log::change_keys)),
    route(Method::POST, "/v1/audit/fork", Owner, Request, |post| on(post, log::fork)),
    route(Method::GET, "/v1/pipelines", AnyRole, Page, |get| on(get, pipelines::list)),
    route(Method::GET, "/v1/pipelines/{pipeline}", AnyRole, Page, |get| on(get, pipelines::show)),
    route(Method::PUT, "/v1/pipelines/{pipeline}", ADMIN, Request, |put| on(put, pipelines::apply)),
    route(Method::POST, "/v1/pipelines/{pipeline}/retire", ADMIN, Request, |post| {
        on(post, pipelines::retire)
    }),
    route(Method::POST, "/v1/pipelines/{pipeline}/submissions", SUBMITTER, Request, |post| {
        on(post, submit::submit)
    }),
    route(Method::GET, "/v1/submissions", AnyRole, Page, |get| on(get, lists::all)),
    route(Method::GET, "/v1/find", AnyRole, Page, |get| on(get, lists::find)),
    route(Method::GET, "/v1/export/submissions", AnyRole, Request, |get| on(get, export::submissions)),
    route(Method::GET, "/v1/submissions/{id}", AnyRole, One, |get| on(get, submissions::show)),
    route(Method::GET, "/v1/submissions/{id}/events", AnyRole, Page, |get| on(get, submissions::events)),
    route(Method::GET, "/v1/submissions/{id}/evidence", AnyRole, Wait, |get| on(get, evidence::show)),
    route(Method::GET, "/v1/submissions/{id}/drawing", AnyRole, One, |get| on(get, submissions::drawing)),
    route(Method::GET, "/v1/submissions/{id}/why", AnyRole, Request, |get| on(get, submissions::why)),
    route(Method::GET, "/v1/submissions/{id}/actions", AnyRole, One, |get| on(get, submissions::actions)),
    route(Method::POST, "/v1/submissions/{id}/actions/{action}", AnyRole, Request, |post| {
        on(post, actions::act)
    }),
    route(Method::POST, "/v1/submissions/{id}/amend", AnyRole, Request, |post| on(post, actions::amend)),
    route(Method::POST, "/v1/submissions/{id}/redrive", ADMIN, Request, |post| on(post, actions::redrive)),
    route(Method::POST, "/v1/submissions/{id}/acknowledge", AnyRole, Request, |post| {
        on(post, actions::acknowledge)
    }),
    route(Method::POST, "/v1/submissions/{id}/review/claim", AnyRole, Request, |post| {
        on(post, reviews::claim)
    }),
    route(Method::POST, "/v1/submissions/{id}/review/hand-over", AnyRole, Request, |post| {
        on(post, reviews::hand_over)
    }),
    route(Method::POST, "/v1/submissions/{id}/review/release", AnyRole, Request, |post| {
        on(post, reviews::release)
    }),
    route(Method::POST, "/v1/submissions/{id}/notes", AnyRole, Request, |post| on(post, reviews::note)),
    route(Method::GET, "/v1/investigations", AnyRole, Page, |get| on(get, lists::investigations)),
    route(Method::GET, "/v1/dead", AnyRole, Page, |get| on(get, lists::dead)),
    route(Method::GET, "/v1/deliveries", AnyRole, Page, |get| on(get, deliveries::list)),
    route(Method::POST, "/v1/deliveries/{id}/replay", ADMIN, Request, |post| on(post, deliveries::replay)),
    route(Method::GET, "/v1/reviews", AnyRole, Page, |get| on(get, lists::reviews)),
    route(Method::GET, "/v1/workers", AnyRole, Page, |get| on(get, figures::workers)),
    route(Method::GET, "/v1/overdue", AnyRole, Page, |get| on(get, lists::overdue)),
    route(Method::GET, "/v1/operations", AnyRole, Page, |get| on(get, operations::list)),
    route(Method::POST, "/v1/operations", REVIEWER, Request, |post| on(post, operations::start)),
    route(Method::GET, "/v1/operations/{operation}", AnyRole, Request, |get| on(get, operations::show)),
    route(Method::POST, "/v1/operations/{operation}/stop", REVIEWER, Request, |post| {
        on(post, operations::stop)
    }),
    route(Method::GET, "/v1/operations/{operation}/results", AnyRole, Page, |get| {
        on(get, operations::results)
    }),
    route(Method::GET, "/v1/figures", AnyRole, Page, |get| on(get, figures::fleet)),
    route(Method::GET, "/v1/pipelines/{pipeline}/lanes", AnyRole, Page, |get| on(get, figures::lanes)),
    route(Method::GET, "/v1/stats", AnyRole, Request, |get| on(get, figures::stats)),
    route(Method::GET, "/v1/servers", AnyRole, Request, |get| on(get, figures::servers)),
    route(Method::GET, "/v1/clock", AnyRole, Request, |get| on(get, clock::show)),
    route(Method::POST, "/v1/clock/confirm", Owner, Request, |post| on(post, clock::confirm)),
    route(Method::GET, "/v1/feed", AnyRole, Wait, |get| on(get, feed::read)),
    route(Method::GET, "/v1/feed/cursors", AnyRole, Page, |get| on(get, cursors::list)),
    route(Method::GET, "/v1/feed/cursors/{cursor}", AnyRole, Request, |get| on(get, cursors::show)),
    route(Method::PUT, "/v1/feed/cursors/{cursor}", WORKER, Request, |put| on(put, cursors::place)),
    route(Method::GET, "/v1/holds", AnyRole, Page, |get| on(get, holds::list)),
    route(Method::DELETE, "/v1/feed/cursors/{cursor}", WORKER, Request, |delete| on(delete, cursors::remove)),
    route(Method::POST, "/v1/holds", ADMIN, Request, |post| on(post, holds::place)),
    route(Method::DELETE, "/v1/holds/{hold}", ADMIN, Request, |delete| on(delete, holds::release)),
    route(Method::GET, "/v1/tokens", Owner, Page, |get| on(get, tokens::list)),
    route(Method::POST, "/v1/tokens", Owner, Request, |post| on(post, tokens::create)),
    route(Method::DELETE, "/v1/tokens/{token}", Owner, Request, |delete| on(delete, tokens::revoke)),
    route(Method::POST, "/v1/tokens/{token}/rotate", Owner, Request, |post| on(post, tokens::rotate)),
    route(Method::GET, "/v1/endpoints", Owner, Page, |get| on(get, endpoints::list)),
    route(Method::POST, "/v1/endpoints", Owner, Request, |post| on(post, endpoints::create)),
    route(Method::DELETE, "/v1/endpoints/{endpoint}", Owner, Request, |delete| on(delete, endpoints::remove)),
    route(Method::POST, "/v1/endpoints/{endpoint}/rotate", Owner, Request, |post| {
        on(post, endpoints::rotate)
    }),
    route(Method::POST, "/v1/endpoints/{endpoint}/retire", Owner, Request, |post| {
        on(post, endpoints::retire)
    }),
    route(Method::POST, "/v1/endpoints/{endpoint}/enable", Owner, Request, |post| {
        on(post, endpoints::enable)
    }),
    route(Method::GET, "/v1/systems/{system}/entries", ADMIN, Page, |get| on(get, entries::list)),
    route(Method::GET, "/v1/systems/{system}/entries/{entry}", ADMIN, One, |get| on(get, entries::show)),
    route(Method::PUT, "/v1/systems/{system}/entries/{entry}", ADMIN, Request, |put| on(put, entries::put)),
    route(Method::POST, "/v1/tasks:claim", WORKER, Wait, |post| on(post, tasks::claim)),
    route(Method::POST, "/v1/tasks:finish", WORKER, Request, |post| on(post, tasks::settle::<FinishBody>)),
    route(Method::POST, "/v1/tasks:fail", WORKER, Request, |post| on(post, tasks::settle::<FailBody>)),
    route(Method::POST, "/v1/tasks:snooze", WORKER, Request, |post| on(post, tasks::settle::<SnoozeBody>)),
    route(Method::POST, "/v1/tasks:give-back", WORKER, Request, |post| {
        on(post, tasks::settle::<GiveBackBody>)
    }),
    route(Method::POST, "/v1/tasks:spawn", WORKER, Request, |post| on(post, tasks::settle::<SpawnBody>)),
    route(Method::POST, "/v1/tasks:renew", WORKER, Request, |post| on(post, tasks::settle::<RenewBody>)),
];

const fn route(method: Method, path: &'static str, need: Need, room: Room, handler: Handler) -> Route {
    Route { method, path, need, room, handler }
}

/// The whole API over an engine. `serve` is this with a listener and an orderly end.
pub fn router(engine: Engine, options: Options) -> Router {
    let (_, never) = watch::channel(false);
    api(&Server::new(engine, options, Vec::new(), never))
}

/// Makes the router of the table alone.
pub(crate) fn api(server: &Server) -> Router {
    framed(own_routes(server), server.clone()).with_state(server.clone())
}

/// Makes the router of the table and of the routes of systems, whose handlers ask `api`.
pub(crate) fn with_systems(server: &Server, api: &Router) -> Router {
    let own = pages::mount(own_routes(server), server);
    let all = server.mounts.iter().fold(own, |router, mounts| mounts.mount(router, server, api));
    framed(all, server.clone()).with_state(server.clone())
}

/// Makes the router of a listener of a system: its routes alone, and refusals in its words.
pub(crate) fn of_listener(server: &Server, api: &Router, bound: &Bound) -> Router {
    let routes = bound.mounts.add(&bound.listener.routes, Router::new(), (server, api));
    framed(routes, server.clone())
        .layer(middleware::from_fn_with_state(bound.listener.clone(), layers::reword))
        .with_state(server.clone())
}

fn own_routes(server: &Server) -> Router<Server> {
    let mut router = Router::new();
    for route in TABLE {
        let method = MethodFilter::try_from(route.method.clone()).expect("the table has plain methods only");
        let door =
            Door { server: server.clone(), need: route.need, room: route.room, rate: None, uploads: None };
        let handler =
            (route.handler)(method).route_layer(middleware::from_fn_with_state(door, layers::enter));
        router = router.route(route.path, handler);
    }
    router
}

fn framed(router: Router<Server>, server: Server) -> Router<Server> {
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(layers::panicked))
        .layer(middleware::from_fn_with_state(server, layers::observe))
}

async fn unknown_route(uri: Uri) -> Refused {
    Refusal::new(
        Code::UnknownRoute,
        format!("there is nothing at {}; the API is under /v1", quote(uri.path())),
    )
    .into()
}

async fn wrong_method(method: Method, uri: Uri) -> Refused {
    let message = format!("{} does not take {}; see `Allow`", quote(uri.path()), quote(method.as_str()));
    Refusal::new(Code::MethodNotAllowed, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode};
    use axum::routing::get;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use std::sync::Arc;

    async fn mistake() {
        panic!("on purpose");
    }

    #[tokio::test]
    async fn a_panic_is_answered() {
        let store = Arc::new(store::MemoryStore::new(Arc::new(engine::SystemClock::new())));
        let engine = Engine::start(store, &engine::Options::default()).unwrap();
        let options = Options::new(([127, 0, 0, 1], 0).into());
        let server = Server::new(engine, options, Vec::new(), watch::channel(false).1);
        let router = framed(Router::new().route("/panic", get(mistake)), server.clone()).with_state(server);
        let request = Request::builder().uri("/panic").body(Body::empty()).unwrap();
        let response = TowerToHyperService::new(router).call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let problem: wire::api::Problem = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem.code, "internal");
        assert!(!problem.detail.contains("on purpose"));
    }
}
