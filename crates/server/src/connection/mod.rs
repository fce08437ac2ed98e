//! Connections: who may have one, what comes through, and for how long it is waited for.
//!
//! The HTTP library reads and writes through a [`gate`](gate::Gate), which lets only heads pass that were checked, and
//! tells the [`Line`] what happens. After everything done for a connection, its [`watch`](watch::Watch) looks at the
//! line, and the [register](Register) learns whether it could be spared.

mod chunks;
mod exchange;
mod farewell;
mod gate;
mod head;
mod line;
mod pace;
mod register;
mod seats;
mod socket;
mod watch;

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use model::Name;
use tokio::net::TcpStream;
use tokio::sync::watch::Receiver;
use tokio_rustls::TlsAcceptor;

use crate::layers::Peer;
use crate::options::Options;
use crate::tally::Crowd;
use crate::tls::Tls;
use exchange::Times;
use gate::Gate;
use head::{HEAD_BYTES_MAX, HEADERS_MAX, Wrong};
use socket::Socket;
use watch::Watch;

pub(crate) use line::Line;
pub(crate) use register::{Register, Seat};

/// Room behind the longest head, so that the library never takes a whole one for one without an end.
const HEADS_END: usize = 4 << 10;
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// The means with which every connection is served.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    tls: Option<Tls>,
    times: Times,
    tokens: Crowd<Name>,
    router: Router,
    stopping: Receiver<bool>,
}

/// The end of what the HTTP library does for a connection.
enum End {
    /// The connection is over: nothing more is to be said, but perhaps why a head was refused.
    Over,
    /// The caller's time is over.
    Late,
    /// Another has its place.
    Displaced,
    Broken,
}

impl Connections {
    pub(crate) fn new(options: &Options, router: Router, stopping: Receiver<bool>) -> Self {
        Connections {
            tls: options.tls.clone(),
            times: Times { head: options.headers_within, write: options.write_within },
            tokens: Crowd::new(options.connections_per_token_max),
            router,
            stopping,
        }
    }

    /// Returns the same for connections that another router answers.
    pub(crate) fn answered_by(&self, router: Router) -> Self {
        Connections { router, ..self.clone() }
    }

    /// Serves a connection until its end.
    pub(crate) async fn serve(self, stream: TcpStream, peer: IpAddr, mut seat: Seat) {
        // Answers are small and waited for; a failure to say so costs only speed.
        let _ = stream.set_nodelay(true);
        let socket = tokio::select! {
            socket = self.shake_hands(stream) => socket,
            () = seat.displaced() => None,
        };
        let Some(socket) = socket else { return };
        let write_within = self.times.write;
        let Some((socket, refused)) = self.talk(socket, peer, &mut seat).await else { return };
        tokio::select! {
            () = farewell::close(socket, refused, write_within) => {}
            () = seat.displaced() => {}
        }
    }

    async fn shake_hands(&self, stream: TcpStream) -> Option<Socket> {
        let Some(tls) = &self.tls else { return Some(Socket::Plain(stream)) };
        let hands = TlsAcceptor::from(tls.config()).accept(stream);
        match tokio::time::timeout(HANDSHAKE_WITHIN, hands).await {
            Ok(Ok(stream)) => return Some(Socket::Tls(Box::new(stream))),
            Ok(Err(error)) => tracing::debug!(%error, "a caller and this server agreed on no TLS"),
            Err(_) => tracing::debug!("a caller took too long to agree on TLS"),
        }
        None
    }

    /// Answers requests. Returns the connection if it is to be closed in an orderly way, and the reason if the last head
    /// was refused.
    async fn talk(
        mut self,
        socket: Socket,
        peer: IpAddr,
        seat: &mut Seat,
    ) -> Option<(Socket, Option<Wrong>)> {
        let line = Line::new(self.tokens);
        let router = TowerToHyperService::new(self.router);
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request.extensions_mut().insert(line.clone());
            let (answer, line) = (router.call(request), line.clone());
            async move { answer.await.map(|answer| line.answered(answer)) }
        });
        // Heads were checked before, within their time: nothing is left for the library to refuse. It holds as much of an
        // answer that nobody reads, so not more than a head needs.
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD_BYTES_MAX + HEADS_END).max_headers(HEADERS_MAX);
        let io = TokioIo::new(Gate::new(socket, line.clone()));
        let mut connection = builder.serve_connection(io, service);
        let mut watch = Watch::new(self.times);
        let mut stopping = pin!(self.stopping.wait_for(|stopping| *stopping));
        let mut is_last = false;
        let end = poll_fn(|cx| {
            let displaced = seat.poll_displaced(cx).is_ready();
            if displaced && !line.exchange().is_working() {
                return Poll::Ready(End::Displaced);
            }
            // Somebody may have begun to work for a caller that lost its place: that is still answered.
            if !is_last && (displaced || stopping.as_mut().poll(cx).is_ready()) {
                is_last = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            match Pin::new(&mut connection).poll(cx) {
                Poll::Ready(Ok(())) => Poll::Ready(End::Over),
                Poll::Ready(Err(error)) => {
                    tracing::debug!(%error, "a connection broke");
                    Poll::Ready(End::Broken)
                }
                Poll::Pending => watch.poll(cx, &line, seat).map(|()| End::Late),
            }
        })
        .await;
        let (socket, refused) = connection.into_parts().io.into_inner().into_parts();
        match end {
            End::Over => Some((socket, refused)),
            // Whoever is only quiet, or has gone, is let go without a fuss.
            End::Late if !line.exchange().is_blocked() => None,
            End::Broken => None,
            End::Late | End::Displaced => {
                socket.cut();
                None
            }
        }
    }
}
