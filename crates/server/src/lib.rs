//! The HTTP API. It holds no rules: it reads a request, checks who asks, asks the engine, and writes the answer.
//!
//! Every route is one line of [`TABLE`]: its method, its path, who may use it, and its handler. The router is made from
//! the table, so a route that checks nobody cannot come about by forgetting.

mod access;
mod addresses;
mod apart;
mod body;
mod charged;
mod connection;
mod errors_doc;
mod inside;
mod layers;
mod media;
mod metrics;
mod mounts;
mod openapi;
mod options;
mod pages;
mod preconditions;
mod problem;
mod public;
mod query;
mod rates;
mod routes;
mod tally;

mod running;
mod serve;
mod shares;
mod state;
mod table;
mod tls;
mod trace;
mod uploads;

pub use access::{Doors, doors};
pub use addresses::{BadAddress, check_addresses};
pub use app::public::{PublicPages, PublicPipeline};
pub use engine::core::{TOKENS, token_name};
pub use errors_doc::errors_doc;
pub use mounts::{Bound, Mounts};
pub use openapi::openapi;
pub use options::Options;
pub use running::Running;
pub use serve::{Site, serve};
pub use table::{Need, Room, Route, TABLE, router};
pub use tls::Tls;
