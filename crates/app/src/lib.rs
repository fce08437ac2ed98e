//! The application layer: what a caller may see and ask, as plain functions without HTTP.
//!
//! An [`App`] is an engine together with one [`Visitor`]. Every function checks the visitor's scope and the bounds of
//! what is asked, asks the engine in the visitor's name, and gives answers of [`wire::api`]. Whoever comes by HTTP, by a
//! page, or from inside the server's process passes the very same checks, because there is no other way to the engine.
//!
//! Roles are checked where doors are declared (the server's table of routes) and where pipelines declare them (`model`):
//! here is only what depends on the visitor's scope.

mod actions;
mod apply;
mod by_time;
mod clock;
mod cursors;
mod deliveries;
mod drawing;
mod endpoints;
mod entries;
mod evidence;
mod export;
mod feed;
mod figures;
mod find;
mod holds;
mod inside;
mod lanes;
mod legal;
mod log;
mod log_records;
mod once;
mod operation_checks;
mod operations;
mod overdue;
mod pipelines;
pub mod public;
mod refusals;
mod retire;
mod reviews;
mod schedules;
mod seal;
mod servers;
mod stats;
mod submissions;
mod submit;
mod tasks;
mod tokens;
mod under_way;
mod visitor;
mod why;
mod workers;

use engine::Engine;

pub use ::draw::{Flow, Heat, Overlay, Stay};
pub use actions::Terms;
pub use cursors::CursorQuery;
pub use deliveries::DeliveryQuery;
pub use drawing::draw;
pub use engine::core::Once;
pub use engine::pipelines::Intent;
pub use export::Export;
pub use feed::{FeedQuery, Follower};
pub use pipelines::{file, params};
pub use refusals::{invalid, quote};
pub use reviews::{ReviewQuery, Whose};
pub use store::{Narrowed, Query};
pub use submit::Submitting;
pub use tasks::{Settlement, With};
pub use under_way::{Followed, UnderWay};
pub use visitor::{Entry, LOCAL, Visitor};

/// An engine, as one visitor may see and ask it. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct App {
    engine: Engine,
    visitor: Visitor,
}

impl App {
    #[must_use]
    pub fn new(engine: Engine, visitor: Visitor) -> App {
        App { engine, visitor }
    }

    /// Returns who asks.
    #[must_use]
    pub fn visitor(&self) -> &Visitor {
        &self.visitor
    }

    /// Returns the engine, to be asked in the visitor's name whatever the visitor's part of bounded things is.
    fn by(&self) -> Engine {
        self.engine.by(&self.visitor.caller)
    }

    /// Returns the engine, to be asked in the visitor's name and for no more than their part of what is bounded.
    fn sharing(&self) -> Engine {
        if self.visitor.is_owner() { self.by() } else { self.by().sharing() }
    }
}
