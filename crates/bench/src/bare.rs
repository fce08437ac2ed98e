//! A server that does nothing: what HTTP alone costs on this machine, with the same callers.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The answer to everybody, as long as the answer to a submission.
const ANSWER: &str = concat!(
    r#"{"id":"019a8c5e-7b21-7cc3-9d4e-0f1a2b3c4d5e","pipeline":"bench-one","version":1,"state":"WORK","#,
    r#""revision":1,"created_at":"2026-01-01T00:00:00.000Z"}"#
);

#[derive(Debug)]
pub(crate) struct Bare {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<()>>,
}

impl Bare {
    pub(crate) async fn start() -> Result<Bare> {
        let answer = || (StatusCode::CREATED, [(header::CONTENT_TYPE, "application/json")], ANSWER);
        let route = post(async move |_: Bytes| answer());
        let app = Router::new().route("/v1/pipelines/{pipeline}/submissions", route);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let listener = listener.into_std()?;
        let (stop, stopped) = oneshot::channel::<()>();
        // In a runtime of its own, as a server would be.
        let server = std::thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener)?;
                let until = async { drop(stopped.await) };
                Ok(axum::serve(listener, app).with_graceful_shutdown(until).await?)
            })
        });
        Ok(Bare { address, stop, server })
    }

    pub(crate) fn stop(self) -> Result<()> {
        let _ = self.stop.send(());
        self.server.join().map_err(|_| anyhow::anyhow!("the bare server panicked"))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::{Connection, Reach, RustClient};
    use crate::pipelines::ONE;
    use crate::workload::submit_by;

    #[tokio::test]
    async fn every_kind_of_caller_takes_its_answer() {
        let bare = Bare::start().await.unwrap();
        let lean = vec![Connection::reach(bare.address).await.unwrap()];
        assert_eq!(submit_by(lean, ONE, 3, 1).await.unwrap().count, 3);
        let rust = vec![RustClient::reach(bare.address).await.unwrap()];
        assert_eq!(submit_by(rust, ONE, 3, 1).await.unwrap().count, 3);
        bare.stop().unwrap();
    }
}
