//! A witness's door: one route, small bodies, and nothing answered before it is remembered.

use std::sync::Arc;
use std::time::Duration;

use audit::witness::{Answer, Witness};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::routing::post;
use tokio::net::TcpListener;

/// A proof of 63 hashes and a checkpoint with a hundred signatures fit several times.
const BODY_BYTES_MAX: usize = 64 << 10;
/// Whoever takes longer to say a few kilobytes only holds a connection.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

const TEXT: &str = "text/plain; charset=utf-8";

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
        let routes = Router::new().route("/add-checkpoint", post(add_checkpoint)).with_state(self);
        axum::serve(listener, routes).with_graceful_shutdown(stop).await
    }
}

async fn add_checkpoint(State(door): State<WitnessDoor>, body: Body) -> Response<Body> {
    let body = match read(body).await {
        Ok(body) => body,
        Err(answer) => return respond(answer),
    };
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
    respond(Answer { status: 500, content_type: TEXT, body })
}

async fn read(body: Body) -> Result<Bytes, Answer> {
    let refused = |status, body: &str| Answer { status, content_type: TEXT, body: body.to_owned() };
    match tokio::time::timeout(BODY_PATIENCE, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => Err(refused(413, "the request is too long or broke off\n")),
        Err(_) => Err(refused(408, "the request did not come to its end\n")),
    }
}

fn respond(answer: Answer) -> Response<Body> {
    tracing::info!(status = answer.status, "add-checkpoint");
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = axum::http::HeaderValue::from_static(answer.content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
