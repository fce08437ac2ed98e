//! Routes of systems, mounted beside the server's own: the same doors, rates, bounds and metrics.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use app::{Entry, Visitor};
use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use client::Client;
use model::{Caller, Name, Role};
use system::{Call, Frame, Listener, Misplaced, System};
use tokio::net::TcpListener;

use crate::body;
use crate::inside::Inside;
use crate::layers::{self, Door, Peer};
use crate::pages;
use crate::problem::{Answer, Refused};
use crate::rates::Rates;
use crate::state::Server;
use crate::table::{Need, Room};
use crate::uploads::{Arrived, Uploads};

/// A system's routes and pages, and the pipelines that its public routes are for.
#[derive(Debug, Clone)]
pub struct Mounts {
    pub(crate) system: &'static str,
    pipelines: Vec<Name>,
    pub(crate) routes: Vec<system::Route>,
    /// The pages in the console's navigation, by title and address.
    pub(crate) entries: Vec<(String, String)>,
    /// The folder for bodies that are streamed into files.
    uploads: PathBuf,
    pub(crate) listeners: Vec<Listener>,
}

/// A listener of a system that has its port.
#[derive(Debug)]
pub struct Bound {
    pub(crate) socket: TcpListener,
    pub(crate) mounts: Mounts,
    pub(crate) listener: Listener,
}

impl Bound {
    /// Returns the name of the system that listens here.
    #[must_use]
    pub fn system(&self) -> &'static str {
        self.mounts.system
    }

    /// Returns the address, with the port that was taken.
    ///
    /// # Errors
    /// When the machine does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

impl Mounts {
    /// Takes the routes and pages of a system.
    ///
    /// # Errors
    /// When one of them is at an address that is not the system's.
    pub fn of(system: &dyn System, pipelines: Vec<Name>) -> Result<Mounts, Misplaced> {
        let (routes, pages, listeners) = (system.routes(), system.pages(), system.listeners());
        listeners.iter().try_for_each(|listener| listener.check(system.name()))?;
        routes.iter().try_for_each(|route| route.check_place(system.name(), false))?;
        pages.iter().try_for_each(|page| page.check_place(system.name(), true))?;
        let entries = pages.iter().filter_map(entry).collect();
        let pages = pages.into_iter().map(system::Route::not_described);
        let routes = routes.into_iter().chain(pages).collect();
        let uploads = std::env::temp_dir().join(format!("milepost-uploads-{}", std::process::id()));
        Ok(Mounts { system: system.name(), pipelines, routes, entries, uploads, listeners })
    }

    /// Sets the folder for uploads that a handler has not kept yet, in the file system where it will keep them.
    #[must_use]
    pub fn uploading_to(self, uploads: PathBuf) -> Mounts {
        Mounts { uploads, ..self }
    }

    /// Returns the name of the system.
    #[must_use]
    pub fn system(&self) -> &'static str {
        self.system
    }

    /// Takes the ports of the system's own listeners; [`Site::listening`](crate::Site::listening) serves them.
    ///
    /// # Errors
    /// With the first address that cannot be listened at.
    pub async fn bind(&self) -> Result<Vec<Bound>, (SocketAddr, io::Error)> {
        let mut bound = Vec::new();
        for listener in &self.listeners {
            let socket =
                TcpListener::bind(listener.address).await.map_err(|error| (listener.address, error))?;
            bound.push(Bound { socket, mounts: self.clone(), listener: listener.clone() });
        }
        Ok(bound)
    }

    /// Returns the routes at all addresses, by method and path.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Method, &'static str)> {
        let own = self.listeners.iter().flat_map(|listener| &listener.routes);
        self.routes.iter().chain(own).map(|route| (route.method.clone(), route.path))
    }

    /// Returns the name of the system, and those of its pipelines.
    pub(crate) fn with_pipelines(&self) -> (String, Vec<String>) {
        (self.system.to_owned(), self.pipelines.iter().map(Name::to_string).collect())
    }

    /// Returns whom public routes ask the server as: a submitter of the system's pipelines, and of nothing else.
    fn public(&self) -> Visitor {
        let caller = Caller::new(format!("system:{}:public", self.system), Role::Submitter);
        Visitor::public(caller, self.pipelines.clone())
    }

    /// Adds the routes to a router. `api` is what their handlers ask.
    pub(crate) fn mount(&self, router: Router<Server>, server: &Server, api: &Router) -> Router<Server> {
        self.add(&self.routes, router, (server, api))
    }

    /// Adds some of its routes to a router.
    pub(crate) fn add(
        &self,
        routes: &[system::Route],
        mut router: Router<Server>,
        (server, api): (&Server, &Router),
    ) -> Router<Server> {
        for route in routes {
            let method =
                MethodFilter::try_from(route.method.clone()).expect("routes have plain methods only");
            let (need, rate) = need(route.need);
            let rate = rate.map(|rate| Arc::new(Rates::every(rate.every, rate.burst)));
            let uploads = match route.room {
                system::Room::Upload(bounds) => Some(Uploads { bounds, folder: self.uploads.clone() }),
                _ => None,
            };
            let door = Door { server: server.clone(), need, room: room(route.room), rate, uploads };
            let mounted = Arc::new(Mounted {
                api: api.clone(),
                public: self.public(),
                route: route.clone(),
                server: server.clone(),
            });
            let answer = move |parts: RawPathParams, request: Request| async move {
                mounted.answer(&parts, request).await
            };
            let mut handler =
                on(method, answer).route_layer(middleware::from_fn_with_state(door, layers::enter));
            if route.path.starts_with("/console/") {
                handler = handler.route_layer(middleware::from_fn_with_state(server.clone(), pages::welcome));
            }
            router = router.route(route.path, handler);
        }
        router
    }
}

/// Returns title and address of a page that can be opened without more than its address.
fn entry(page: &system::Route) -> Option<(String, String)> {
    let opens = page.method == Method::GET && page.path.starts_with("/console/") && !page.path.contains('{');
    page.summary
        .filter(|title| opens && !title.is_empty())
        .map(|title| (title.to_owned(), page.path.to_owned()))
}

pub(crate) fn need(need: system::Need) -> (Need, Option<system::Rate>) {
    match need {
        system::Need::Public(rate) => (Need::Nothing, Some(rate)),
        system::Need::AnyRole => (Need::AnyRole, None),
        system::Need::Role(role) => (Need::Role(role), None),
        system::Need::Owner => (Need::Owner, None),
    }
}

pub(crate) fn room(room: system::Room) -> Room {
    match room {
        system::Room::Request | system::Room::Upload(_) => Room::Request,
        system::Room::Page => Room::Page,
        system::Room::Wait => Room::Wait,
    }
}

/// One route, as it answers.
struct Mounted {
    api: Router,
    public: Visitor,
    route: system::Route,
    server: Server,
}

impl Mounted {
    /// Returns the facts that the frame of a page shows; other routes have none.
    fn frame(&self) -> Frame {
        match self.route.path.starts_with("/console/") {
            true => Frame { now: self.server.engine.now(), pages: self.server.system_pages() },
            false => Frame::default(),
        }
    }

    async fn answer(&self, parts: &RawPathParams, request: Request) -> Answer<Response> {
        let body = body::read(&request, body::ONE_MAX)?;
        let visitor = request.extensions().get::<Visitor>().cloned();
        let caller = visitor.as_ref().filter(|visitor| visitor.entry != Entry::Open);
        let caller = caller.map(|visitor| system::Caller {
            name: visitor.caller.name.to_string(),
            role: visitor.caller.role,
        });
        let address: Option<IpAddr> = request.extensions().get().map(|Peer(address)| *address);
        let way = Inside::new(self.api.clone(), visitor.unwrap_or_else(|| self.public.clone()));
        let uploaded = request.extensions().get::<Arrived>().and_then(Arrived::take);
        let (head, _) = request.into_parts();
        let call = Call {
            client: Client::over(Arc::new(way)),
            caller,
            address,
            parts: parts.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            uri: head.uri,
            headers: without_secrets(head.headers),
            body,
            uploaded,
            frame: self.frame(),
        };
        let reply = (self.route.handler)(call).await.map_err(Refused::from)?;
        let mut response = Response::new(axum::body::Body::from(reply.body));
        (*response.status_mut(), *response.headers_mut()) = (reply.status, reply.headers);
        if self.route.path.starts_with("/console/") {
            let policy = HeaderValue::from_static(console::POLICY);
            response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
        }
        Ok(response)
    }
}

/// Returns headers without the caller's token: a handler asks in the caller's name and needs no more.
fn without_secrets(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(axum::http::header::AUTHORIZATION);
    pages::without_session(&mut headers);
    headers
}
