//! The listener: connections in, an orderly end.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use app::Visitor;
use axum::Router;
use client::Client;
use engine::Engine;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::access::doors;
use crate::connection::{Connections, Register};
use crate::inside::Inside;
use crate::mounts::{Bound, Mounts};
use crate::options::Options;
use crate::running::Running;
use crate::state::Server;
use crate::table;

/// Out of file descriptors, most likely: some are given back in a while.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// An API over an engine, with the routes of systems beside it: to be served, and to be asked from inside of the process.
#[derive(Debug)]
pub struct Site {
    server: Server,
    api: Router,
    stop: watch::Sender<bool>,
    bound: Vec<Bound>,
}

/// A port, and what answers there.
struct Entrance {
    socket: TcpListener,
    connections: Connections,
}

/// Serves the API alone until `shutdown` ends; see [`Site::serve`].
pub async fn serve(
    engine: Engine,
    listener: TcpListener,
    mut options: Options,
    shutdown: impl Future,
) -> io::Result<()> {
    options.listen = listener.local_addr()?;
    Site::new(engine, options, Vec::new()).serve(listener, shutdown).await
}

impl Site {
    #[must_use]
    pub fn new(engine: Engine, options: Options, mounts: Vec<Mounts>) -> Site {
        let stop = watch::Sender::new(false);
        let server = Server::new(engine, options, mounts, stop.subscribe());
        Site { api: table::api(&server), server, stop, bound: Vec::new() }
    }

    /// Adds listeners of systems, which are served and end with the site: within its bounds, with its certificate.
    #[must_use]
    pub fn listening(mut self, bound: impl IntoIterator<Item = Bound>) -> Site {
        self.bound.extend(bound);
        self
    }

    /// Makes a client that asks as this visitor, without a socket and without a token.
    #[must_use]
    pub fn client(&self, visitor: Visitor) -> Client {
        Client::over(Arc::new(Inside::new(self.api.clone(), visitor)))
    }

    /// Returns where to say how the systems are that run inside of the site.
    #[must_use]
    pub fn running(&self) -> Running {
        self.server.running.clone()
    }

    /// Serves until `shutdown` ends. Then takes no more connections, answers whoever waits for work or events at once, lets
    /// other requests in flight end for `options.grace`, and returns; draining the engine comes after that and is the
    /// caller's.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future) -> io::Result<()> {
        let Site { server, api, stop, bound } = self;
        let (engine, options) = (&server.engine, &server.options);
        doors(engine, listener.local_addr()?)
            .await
            .map_err(|refusal| io::Error::new(io::ErrorKind::PermissionDenied, refusal))?;
        let register = Register::new(options.connections_max, options.connections_per_address_max);
        let router = table::with_systems(&server, &api);
        let connections = Connections::new(options, router, stop.subscribe());
        let mut entrances: Vec<Entrance> = Vec::new();
        for bound in bound {
            let connections = connections.answered_by(table::of_listener(&server, &api, &bound));
            entrances.push(Entrance { socket: bound.socket, connections });
        }
        entrances.push(Entrance { socket: listener, connections });
        let mut lines = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let (entrance, stream, peer) = tokio::select! {
                accepted = accept(&mut entrances, &register) => accepted,
                _ = &mut shutdown => break,
            };
            // Dropped, the connection is closed: there is nobody who could go for it.
            if let Some(seat) = register.enter(peer) {
                lines.spawn(entrance.serve(stream, peer, seat));
            }
            while lines.try_join_next().is_some() {}
        }
        drop(entrances);
        stop.send_replace(true);
        engine.end_waiting();
        let ended = async { while lines.join_next().await.is_some() {} };
        if tokio::time::timeout(options.grace, ended).await.is_err() {
            tracing::info!(connections = lines.len(), "some requests did not end in time; cutting them off");
            lines.shutdown().await;
        }
        Ok(())
    }
}

/// Takes the next connection at any entrance. It never waits for one to end: whoever has many would keep everybody else out.
async fn accept(entrances: &mut [Entrance], register: &Register) -> (Connections, TcpStream, IpAddr) {
    loop {
        // The one that was served goes last: a flood at one keeps nobody out of the others.
        let accepted = poll_fn(|context| {
            let ready = entrances.iter().enumerate().find_map(|(at, entrance)| {
                match entrance.socket.poll_accept(context) {
                    Poll::Ready(accepted) => Some((at, accepted)),
                    Poll::Pending => None,
                }
            });
            ready.map_or(Poll::Pending, Poll::Ready)
        });
        let (at, accepted) = accepted.await;
        let connections = entrances[at].connections.clone();
        entrances[at..].rotate_left(1);
        match accepted {
            Ok((stream, peer)) => return (connections, stream, peer.ip()),
            Err(error) if is_the_callers(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections; trying again");
                register.make_room();
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
            }
        }
    }
}

/// The connection was gone before it was taken.
fn is_the_callers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
