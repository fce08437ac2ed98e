//! The listener: connections in, an orderly end.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use engine::Engine;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::access::doors;
use crate::app::App;
use crate::crowd::{Crowd, Place};
use crate::frame::Peer;
use crate::options::Options;
use crate::table;
use crate::tls::Tls;

/// The most bytes of a request's line and headers together, and of what is read ahead of a body. What is over is
/// noticed after a read, so up to twice as much may come in.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 64;

const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

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
    let slots = Arc::new(Semaphore::new(options.connections_max));
    let crowd = Crowd::new(options.connections_per_address_max);
    let line = Line {
        tls: options.tls.clone(),
        headers_within: options.headers_within,
        router: table::stoppable(App::new(engine.clone(), options, stop.subscribe())),
        stopping: stop.subscribe(),
    };
    let mut lines = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            _ = &mut shutdown => break,
        };
        // Dropped, the connection is closed: one address must not take everybody's place.
        if let Some(place) = crowd.enter(accepted.peer) {
            lines.spawn(line.clone().run(accepted, place));
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

struct Accepted {
    stream: TcpStream,
    peer: IpAddr,
    _slot: OwnedSemaphorePermit,
}

async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Accepted {
    let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return Accepted { stream, peer: peer.ip(), _slot: slot },
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
    tls: Option<Tls>,
    headers_within: Duration,
    router: Router,
    stopping: watch::Receiver<bool>,
}

impl Line {
    async fn run(self, accepted: Accepted, _place: Place) {
        let Accepted { stream, peer, _slot } = accepted;
        // Answers are small and waited for; a failure to say so costs only speed.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.talk(stream, peer).await };
        let hands = TlsAcceptor::from(tls.config()).accept(stream);
        match tokio::time::timeout(HANDSHAKE_WITHIN, hands).await {
            Ok(Ok(stream)) => self.talk(stream, peer).await,
            Ok(Err(error)) => tracing::debug!(%error, "a caller and this server agreed on no TLS"),
            Err(_) => tracing::debug!("a caller took too long to agree on TLS"),
        }
    }

    async fn talk(mut self, stream: impl AsyncRead + AsyncWrite + Unpin, peer: IpAddr) {
        let router = TowerToHyperService::new(self.router);
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            router.call(request)
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.headers_within);
        builder.max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
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
