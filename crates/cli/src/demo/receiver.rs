//! Somebody for the sample webhook to go to: a server of this machine's own that takes whatever comes.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::http::StatusCode;
use fetch::Policy;
use tokio::net::TcpListener;

pub(super) struct Receiver {
    listener: TcpListener,
    address: SocketAddr,
}

impl Receiver {
    pub(super) async fn bind() -> anyhow::Result<Receiver> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Receiver { address: listener.local_addr()?, listener })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/reviews", self.address)
    }

    /// Webhooks may go to this machine here, and nowhere else that is not public.
    pub(super) fn policy(&self) -> Policy {
        let here = "127.0.0.0/8".parse().expect("loopback is a network");
        let mut policy = Policy { allowed: vec![here], ..Policy::default() };
        policy.ports.push(self.address.port());
        policy
    }

    pub(super) async fn run(self) -> std::io::Result<()> {
        let router = Router::new().fallback(|| async { StatusCode::NO_CONTENT });
        axum::serve(self.listener, router).await
    }
}
