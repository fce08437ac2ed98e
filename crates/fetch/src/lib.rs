//! The one way out to addresses that others chose: webhooks, site checks, downloads.
//!
//! An address is read once, by the parser whose result is connected to. Its name is resolved once, by us; every address
//! it resolves to must be public or allowed by the deployment, and the connection goes to one of exactly those: a name
//! that answers differently the next time is not asked again. Redirects are requests of their own, with the same checks.
//! No proxy is gone through, and there is no pool, no cookie and no decompression: what is not there cannot be talked
//! into anything.
//!
//! `get` and `post` read an answer into memory; `send` does all else, by the same rules: bodies of any size in both
//! directions, parts of documents, limits of one request. Programs that make connections of their own go by a [`proxy`].
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch::Error> {
//! use fetch::{Fetch, HeaderMap, Policy, Request};
//!
//! let fetch = Fetch::new(Policy::default());
//! let answer = fetch.post("https://hooks.example/1", HeaderMap::new(), "{}").await?;
//! println!("{}", answer.status);
//!
//! let (head, mut body) = fetch.send(Request::get("https://files.example/large").range(1_000, None)).await?;
//! println!("{} {:?}", head.status, head.part);
//! while let Some(bytes) = body.chunk().await? {
//!     println!("{}", bytes.len());
//! }
//! # Ok(())
//! # }
//! ```

mod address;
mod body;
mod connect;
mod driver;
mod error;
mod exchange;
mod fetch;
mod network;
mod policy;
pub mod proxy;
mod range;
mod request;
mod resolve;
mod target;
mod upload;
mod watched;

pub use address::is_public;
pub use body::Body;
pub use connect::{InvalidRoots, Tls};
pub use error::Error;
pub use fetch::{Fetch, Head, Response};
pub use hyper::Method;
pub use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
pub use network::{InvalidNetwork, Network};
pub use policy::Policy;
pub use range::Part;
pub use request::{Limits, Request};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use target::{host_of, normalized};
pub use upload::Upload;
