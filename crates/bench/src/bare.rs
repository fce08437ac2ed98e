//! A server that does nothing: what HTTP alone costs on this machine, with the same callers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::home::Connection;
use crate::pipelines::payload;
use crate::stopwatch::now;
use crate::workload::Rate;

/// Posts a payload to it so many times.
pub(crate) async fn posts(count: usize, callers: usize) -> Result<Rate> {
    let app = Router::new().route("/", post(|_: Bytes| async { (StatusCode::CREATED, r#"{"id":"none"}"#) }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    // In a runtime of its own, as a server would be.
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let listener = listener.into_std()?;
    let server = std::thread::spawn(move || -> Result<()> {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener)?;
            let until = async { drop(stopped.await) };
            Ok(axum::serve(listener, app).with_graceful_shutdown(until).await?)
        })
    });
    let rate = load(address, count, callers).await;
    let _ = stop.send(());
    server.join().map_err(|_| anyhow::anyhow!("the bare server panicked"))??;
    rate
}

async fn load(address: SocketAddr, count: usize, callers: usize) -> Result<Rate> {
    let left = Arc::new(AtomicUsize::new(count));
    let mut crew = Vec::new();
    for _ in 0..callers {
        crew.push(Connection::open(address).await?);
    }
    let began = now();
    let mut running: JoinSet<Result<()>> = JoinSet::new();
    for mut connection in crew {
        let left = left.clone();
        running.spawn(async move {
            while crate::workload::take(&left, 1).is_some() {
                connection.post("/", payload().as_bytes()).await?.expect(201)?;
            }
            Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(Rate { count, took: began.elapsed() })
}
