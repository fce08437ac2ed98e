//! The listener: connections in, an orderly end.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use engine::Engine;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::access::doors;
use crate::app::App;
use crate::options::Options;
use crate::table;

/// Out of file descriptors, most likely: some are given back in a while.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Serves until `shutdown` ends. Then takes no more connections, lets requests in flight end for `options.grace`, and
/// returns; draining the engine comes after that and is the caller's. Where the listener really is decides who is let
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
    let slots = Arc::new(Semaphore::new(options.connections_max));
    let line = Line {
        headers_within: options.headers_within,
        router: table::stoppable(App::new(engine, options, stop.subscribe())),
        stopping: stop.subscribe(),
    };
    let mut lines = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            _ = &mut shutdown => break,
        };
        lines.spawn(line.clone().run(accepted));
        while lines.try_join_next().is_some() {}
    }
    drop(listener);
    stop.send_replace(true);
    let ended = async { while lines.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, ended).await.is_err() {
        tracing::info!(connections = lines.len(), "some requests did not end in time; cutting them off");
        lines.shutdown().await;
    }
    Ok(())
}

async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, slot),
            Err(error) if is_the_callers(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections; trying again");
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

#[derive(Debug, Clone)]
struct Line {
    headers_within: Duration,
    router: Router,
    stopping: watch::Receiver<bool>,
}

impl Line {
    async fn run(mut self, (stream, _slot): (TcpStream, OwnedSemaphorePermit)) {
        // Answers are small and waited for; a failure to say so costs only speed.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(self.router);
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.headers_within);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = &mut connection => Some(ended),
            _ = self.stopping.wait_for(|stopping| *stopping) => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}
