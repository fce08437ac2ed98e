use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use app::public::PublicPages;

use crate::tls::Tls;

/// The address where the server listens, and how much it takes in.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen at. A server without tokens is open on loopback, and only there.
    pub listen: SocketAddr,
    /// The certificate to show; `None`: no TLS.
    pub tls: Option<Tls>,
    /// Connections at a time. One more takes the place of one that has been quiet longest, of the address with most.
    pub connections_max: usize,
    /// The connections at a time from one address. One more takes the place of the address's quietest.
    pub connections_per_address_max: usize,
    /// The connections at a time on which a token's requests are worked on or answered; more requests are refused.
    pub connections_per_token_max: usize,
    /// Requests a second by one token; `None`: as many as it likes.
    pub rate_per_token: Option<u32>,
    /// Requests a second from one address. Behind a proxy all come from one.
    pub rate_per_address: Option<u32>,
    /// Requests worked on at a time; more are refused.
    pub requests_max: usize,
    /// Long polls at a time, counted apart, so that waiting workers do not keep others out.
    pub waits_max: usize,
    /// Feeds sent as they happen, at a time.
    pub streams_max: usize,
    /// The bytes of bodies and large answers that are under way at a time.
    pub bytes_max: usize,
    /// The answers to an `Idempotency-Key` that are kept for one subject, unless it is an owner.
    pub answers_max: usize,
    /// The interval at which something is sent on a feed where nothing happens, so that nobody takes it for dead.
    pub heartbeat: Duration,
    /// From connecting, or from the last answer, to the end of the next request's headers. Above the time for which
    /// usual clients keep an idle connection: they should be the ones who close it, or a request could be lost.
    pub headers_within: Duration,
    /// From a request's headers to the end of its body.
    pub body_within: Duration,
    /// The time for which a list waits until the caller's lists before it have left.
    pub page_within: Duration,
    /// The time for which an answer may wait for its reader to take more of it. In all it may wait so long and a second
    /// for every 16 KB that were taken, unless it is a stream of events.
    pub write_within: Duration,
    /// Above the longest wait somebody may ask for.
    pub answer_within: Duration,
    /// The interval at which somebody who waits for events looks for some that nobody announced.
    pub wait_piece: Duration,
    /// The time requests in flight may take to end when the server stops.
    pub grace: Duration,
    /// The address of the server as people reach it; `None`: the one that a request names.
    pub base_url: Option<String>,
    /// The pipelines that everybody may submit to.
    pub public: Arc<PublicPages>,
    /// Told of the span of each request that is part of a trace.
    pub traced: Option<fn(&tracing::Span, &model::Trace)>,
}

impl Options {
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Options {
            listen,
            tls: None,
            connections_max: 10_000,
            connections_per_address_max: 4_096,
            connections_per_token_max: 4_096,
            rate_per_token: None,
            rate_per_address: None,
            requests_max: 1_024,
            waits_max: 8_192,
            streams_max: 1_024,
            bytes_max: 96 << 20,
            answers_max: engine::bounds::ANSWERS_EACH,
            heartbeat: Duration::from_secs(15),
            headers_within: Duration::from_secs(100),
            body_within: Duration::from_secs(30),
            page_within: Duration::from_secs(10),
            write_within: Duration::from_secs(30),
            answer_within: Duration::from_secs(75),
            wait_piece: Duration::from_secs(5),
            grace: Duration::from_secs(10),
            base_url: None,
            public: Arc::default(),
            traced: None,
        }
    }
}
