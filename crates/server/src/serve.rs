//! The listener: connections in, an orderly end.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
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
use crate::mounts::Mounts;
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
        Site { api: table::api(&server), server, stop }
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
        let Site { server, api, stop } = self;
        let (engine, options) = (&server.engine, &server.options);
        doors(engine, listener.local_addr()?)
            .await
            .map_err(|refusal| io::Error::new(io::ErrorKind::PermissionDenied, refusal))?;
        let register = Register::new(options.connections_max, options.connections_per_address_max);
        let router = table::with_systems(&server, &api);
        let connections = Connections::new(options, router, stop.subscribe());
        let mut lines = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = accept(&listener, &register) => accepted,
                _ = &mut shutdown => break,
            };
            // Dropped, the connection is closed: there is nobody who could go for it.
            if let Some(seat) = register.enter(peer) {
                lines.spawn(connections.clone().serve(stream, peer, seat));
            }
            while lines.try_join_next().is_some() {}
        }
        drop(listener);
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

/// Takes the next connection. It never waits for one to end: whoever has many would keep everybody else out.
async fn accept(listener: &TcpListener, register: &Register) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer.ip()),
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
