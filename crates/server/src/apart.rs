//! Making answers that may be large, on threads of their own.
//!
//! Writing a megabyte of JSON or a page takes milliseconds. On the threads that answer, everybody else waits for each of those
//! that came before: whoever only asks whether the server is ready waited for two seconds behind a crowd. Here they wait for
//! nobody, and the crowd for itself.

use std::panic::resume_unwind;
use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use model::{Code, Refusal};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};
use tracing::Instrument as _;

use crate::problem::Refused;

/// Answers that are made at a time. They wait for the store as well, so there are more than cores.
const MAKING_MAX: usize = 8;

/// Answers that are written at a time. Writing waits for nothing, so more would take memory and end no sooner: 16 had the
/// server over 300 MB among 2,000 readers of a megabyte.
const WRITING_MAX: usize = 4;

/// The places of those who make answers, and of those who only write them: what is made may ask for something that is written,
/// and must not wait for its own place.
#[derive(Debug, Clone)]
pub(crate) struct Apart {
    making: Arc<Semaphore>,
    writing: Arc<Semaphore>,
}

impl Default for Apart {
    fn default() -> Self {
        let places = |most| Arc::new(Semaphore::new(most));
        Apart { making: places(MAKING_MAX), writing: places(WRITING_MAX) }
    }
}

impl Apart {
    /// Has an answer made by a thread of its own, once there is a place. What has begun goes on when nobody waits for it any
    /// more, and keeps its place until then.
    pub(crate) async fn answer(&self, making: impl Future<Output = Response> + Send + 'static) -> Response {
        let place = self.making.clone().acquire_owned().await;
        let (handle, making) = (Handle::current(), making.in_current_span());
        let made = spawn_blocking(move || {
            let _place = place;
            handle.block_on(making)
        });
        made.await.unwrap_or_else(unmade)
    }

    /// Writes an answer as JSON, once there is a place.
    pub(crate) async fn json(&self, answer: impl Serialize + Send + 'static) -> Response {
        let place = self.writing.clone().acquire_owned().await;
        let written = spawn_blocking(move || {
            let _place = place;
            Json(answer).into_response()
        });
        written.await.unwrap_or_else(unmade)
    }
}

/// A panic goes on where it would have been met.
fn unmade(error: JoinError) -> Response {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => Refused(Refusal::new(Code::Draining, "the server is stopping")).into_response(),
    }
}
