//! The Rust client of Milepost, and the loop for people who write tasks.
//!
//! [`Client`] has a method for every route of the API and speaks in the types of [`wire::api`]. What is safe to repeat
//! is repeated when the server cannot be reached. [`Worker`] claims tasks, keeps their leases while they run, and
//! settles them:
//!
//! ```no_run
//! use client::{Client, Failure, Outcome, Task, Worker};
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Photo {
//!     url: String,
//! }
//!
//! async fn resize(task: Task) -> Result<Outcome, Failure> {
//!     let photo: Photo = task.payload()?;
//!     if !photo.url.starts_with("https://") {
//!         return Err(Failure::new("bad-url", "the photo's url must begin with https://").permanent());
//!     }
//!     // The work. An error that `?` passes on fails the attempt, which is tried again as the pipeline says.
//!     Ok(Outcome::new("resized").output(json!({ "width": 1024 })))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), client::Error> {
//!     let client = Client::new("http://127.0.0.1:8080", std::env::var("MILEPOST_TOKEN").ok())?;
//!     let stop = async {
//!         let _ = tokio::signal::ctrl_c().await;
//!     };
//!     Worker::new(client, "resizer-1").task("photos.resize", resize).concurrency(8).run(stop).await
//! }
//! ```

mod audit;
mod call;
mod client;
mod endpoints;
mod entries;
mod feed;
mod follow;
mod holds;
mod operations;
mod pipelines;
mod source;
mod stats;
mod submissions;
mod tasks;
mod tokens;
pub mod transport;
mod wait;
pub mod webhooks;

pub use audit::EvidenceWish;
pub use client::Client;
pub use feed::{CursorFilter, FeedFilter, Position};
pub use follow::Follow;
pub use operations::ResultFilter;
pub use pipelines::ApplyOptions;
pub use submissions::{ActOptions, DeliveryFilter, Filter, Page, ReviewFilter};
pub use wait::{Rest, Waited};
pub use wire::submission::Progress;
pub use worker::{Error, Failure, Outcome, Retries, Task, TaskSource, Worker};
