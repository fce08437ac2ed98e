//! The listener: connections in, an orderly end.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use engine::Engine;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::access::doors;
use crate::connection::{Connections, Register};
use crate::options::Options;
use crate::state::Server;
use crate::table;

/// Out of file descriptors, most likely: some are given back in a while.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Serves until `shutdown` ends. Then takes no more connections, answers whoever waits for work or events at once, lets
/// other requests in flight end for `options.grace`, and returns; draining the engine comes after that and is the caller's. Where the listener really is decides who is let
/// in, whatever `options.listen` says.
pub async fn serve(
    engine: Engine,
    listener: TcpListener,
    mut options: Options,
    shutdown: impl Future,
) -> io::Result<()> {
    options.listen = listener.local_addr()?;
    doors(&engine, options.listen)
        .await
        .map_err(|refusal| io::Error::new(io::ErrorKind::PermissionDenied, refusal))?;
    let stop = watch::Sender::new(false);
    let grace = options.grace;
    let register = Register::new(options.connections_max, options.connections_per_address_max);
    let server = Server::new(engine.clone(), options.clone(), stop.subscribe());
    let connections = Connections::new(&options, table::stoppable(server), stop.subscribe());
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
    if tokio::time::timeout(grace, ended).await.is_err() {
        tracing::info!(connections = lines.len(), "some requests did not end in time; cutting them off");
        lines.shutdown().await;
    }
    Ok(())
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
