//! `CONNECT`: bytes in both directions, to an address that was checked.

use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::time::timeout_at;

use super::Shared;
use super::caller::Refused;
use crate::error::Error;
use crate::target::Target;
use crate::watched::Watched;

pub(super) struct Tunnel {
    host: String,
    caller: OnUpgrade,
    server: TcpStream,
}

/// Connects to where a request asks. The caller is told only once there is a connection.
pub(super) async fn dig(shared: &Shared, request: Request<Incoming>) -> Result<Tunnel, Refused> {
    let place = request.uri().authority().filter(|_| request.uri().scheme().is_none());
    let named = place.and_then(|place| Some((place.host(), place.port_u16()?)));
    // Nothing else: no user, and no other spelling of a port.
    let named = named.filter(|(host, port)| place.is_some_and(|place| *place == *format!("{host}:{port}")));
    let Some((host, port)) = named else {
        let reason = "CONNECT takes a host and a port".to_owned();
        return Err(Refused { status: StatusCode::BAD_REQUEST, reason });
    };
    let host = host.to_owned();
    // As an address, so that one reader decides for all what a host is, and the policy is asked the same question.
    let url = format!("https://{host}:{port}/");
    let reached = async {
        let target = Target::read(&url, &shared.fetch.policy)?;
        shared.fetch.connector.reach(&target, &shared.fetch.policy, shared.limits.idle).await
    };
    match timeout_at(shared.ends_at, reached).await.unwrap_or(Err(Error::Timeout)) {
        Ok(server) => Ok(Tunnel { host, caller: hyper::upgrade::on(request), server }),
        Err(error) => {
            shared.failed(&host, &error);
            Err(error.into())
        }
    }
}

impl Tunnel {
    /// Carries bytes until both sides are done, or there is too much, too long, or nothing for too long.
    pub(super) async fn run(self, shared: &Shared) {
        let Ok(caller) = self.caller.await else { return };
        let mut caller = TokioIo::new(caller);
        let mut server = Watched::new(self.server, shared.limits.idle);
        let carried = timeout_at(shared.ends_at, copy_bidirectional(&mut caller, &mut server)).await;
        let error = match carried {
            Err(_) => Some(Error::Timeout),
            // A side that hangs up has its own reasons: ours alone are told.
            Ok(ended) => ended.err().and_then(|error| Error::beneath(&error)),
        };
        if let Some(error) = error {
            shared.failed(&self.host, &error);
        }
    }
}
