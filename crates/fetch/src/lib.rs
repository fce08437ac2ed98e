//! The one way out to addresses that others chose: webhooks, site checks, downloads.
//!
//! An address is read once, by the parser whose result is connected to. Its name is resolved once, by us; every address
//! it resolves to must be public or allowed by the deployment, and the connection goes to one of exactly those: a name
//! that answers differently the next time is not asked again. Redirects are requests of their own, with the same checks.
//! There is no proxy, no pool, no cookie and no decompression: what is not there cannot be talked into anything.
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch::Error> {
//! use fetch::{Fetch, HeaderMap, Policy};
//!
//! let fetch = Fetch::new(Policy::default());
//! let answer = fetch.post("https://hooks.example/1", HeaderMap::new(), "{}").await?;
//! println!("{}", answer.status);
//! # Ok(())
//! # }
//! ```

mod address;
mod connect;
mod error;
mod exchange;
mod fetch;
mod network;
mod policy;
mod resolve;
mod target;

pub use address::is_public;
pub use error::Error;
pub use fetch::{Fetch, Response};
pub use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
pub use network::{InvalidNetwork, Network};
pub use policy::Policy;
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use target::{host_of, normalized};
