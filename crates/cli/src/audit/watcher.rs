//! A witness's door: one route, small bodies, and nothing answered before it is remembered.

use std::sync::Arc;

use audit::witness::{Answer, Witness};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::routing::post;
use tokio::net::TcpListener;

/// A proof of 63 hashes and a checkpoint with a hundred signatures fit several times.
const BODY_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Clone)]
pub(crate) struct WitnessDoor {
    witness: Arc<Witness>,
}

impl WitnessDoor {
    pub(crate) fn new(witness: Witness) -> WitnessDoor {
        WitnessDoor { witness: Arc::new(witness) }
    }

    /// Serves until it is told to stop; what was begun is finished.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let routes = Router::new()
            .route("/add-checkpoint", post(add_checkpoint))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(self);
        axum::serve(listener, routes).with_graceful_shutdown(stop).await
    }
}

async fn add_checkpoint(State(door): State<WitnessDoor>, body: Bytes) -> Response<Body> {
    // It waits for the disk, and others must not wait for that.
    let answered = tokio::task::spawn_blocking(move || {
        let seconds = engine::clock::wall().millis() / 1_000;
        door.witness.add_checkpoint(&body, u64::try_from(seconds).unwrap_or(0))
    });
    let reason = match answered.await {
        Ok(Ok(answer)) => return respond(answer),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(reason, "a checkpoint could not be judged");
    let body = "the witness cannot answer now; its own log says why\n".to_owned();
    respond(Answer { status: 500, content_type: "text/plain; charset=utf-8", body })
}

fn respond(answer: Answer) -> Response<Body> {
    tracing::info!(status = answer.status, "add-checkpoint");
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = axum::http::HeaderValue::from_static(answer.content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
