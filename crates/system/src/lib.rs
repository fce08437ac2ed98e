//! A system: pipelines together with the code that works on them.
//!
//! A system has a name and pipelines; all else is optional: settings of its own, tasks, followers of the feed, routes and
//! pages, commands, and a part of the demo. It asks for everything through the public [`Client`], so whatever it can do a user can, and the same code runs
//! inside of a server or elsewhere by `milepost work NAME --server URL`.
//!
//! ```
//! use system::{Desk, PipelineFile, System};
//! use worker::{Outcome, Worker};
//!
//! struct Greetings;
//!
//! impl System for Greetings {
//!     fn name(&self) -> &'static str {
//!         "greetings"
//!     }
//!
//!     fn pipelines(&self) -> Vec<PipelineFile> {
//!         let toml = "name = 'greetings'\nversion = 1\nstart = 'GREETING'\n[states.GREETING]\n\
//!                     task = 'greetings.greet'\non.greeted = 'GREETED'\n[states.GREETED]\nfinal = 'success'\n";
//!         vec![PipelineFile::new("greetings.toml", toml)]
//!     }
//!
//!     fn tasks(&self, _: &Desk, worker: Worker) -> Worker {
//!         worker.task("greetings.greet", |_| async { Ok(Outcome::new("greeted")) })
//!     }
//! }
//! ```

mod call;
mod command;
mod demo;
mod exit;
mod follower;
mod listener;
mod pipeline;
mod route;
mod run;
mod settings;
mod table;
mod upload;

use std::path::PathBuf;

use client::Client;
use fetch::Fetch;
use wire::{Json, Refusal};
use worker::Worker;

pub use call::{Call, Caller, Frame, Reply};
pub use command::{Command, Failed, Shown};
pub use demo::{Demo, Staged, Story};
pub use exit::{Exit, Stop};
pub use follower::Follower;
pub use listener::Listener;
pub use pipeline::PipelineFile;
pub use route::{Handler, Misplaced, Need, Rate, Room, Route};
pub use run::run;
pub use settings::{Fault, Settings, secret};
pub use table::{Table, plain};
pub use upload::{Upload, Uploaded};

/// A system: a name and pipelines, and the code that works on them.
pub trait System: Send + Sync {
    /// Returns the name: that of its folder, of its table of settings, and of its addresses.
    fn name(&self) -> &'static str;

    /// Returns the pipeline files, in the order in which they are applied.
    fn pipelines(&self) -> Vec<PipelineFile>;

    /// Takes the settings of `[system.NAME]`. A system without settings refuses every key.
    fn configure(&mut self, settings: Settings<'_>) -> Result<(), Fault> {
        settings.none()
    }

    /// Refuses a payload of one of the system's pipelines where it is submitted, or returns its normal form where it is not in
    /// it already. It fits the pipeline's schema. This is for what a schema cannot say: pure, quick, and the same twice.
    fn admit(&self, pipeline: &str, payload: &Json) -> Result<Option<Json>, Refusal> {
        let _ = (pipeline, payload);
        Ok(None)
    }

    /// Adds the system's tasks to a worker.
    fn tasks(&self, desk: &Desk, worker: Worker) -> Worker {
        let _ = desk;
        worker
    }

    /// Returns the readers of the feed that the system has.
    fn followers(&self, desk: &Desk) -> Vec<Follower> {
        let _ = desk;
        Vec::new()
    }

    /// Returns the routes under `/NAME/` and `/compat/`.
    fn routes(&self) -> Vec<Route> {
        Vec::new()
    }

    /// Returns the listeners that the system has beside the server's own address, for foreign APIs that own `/`.
    fn listeners(&self) -> Vec<Listener> {
        Vec::new()
    }

    /// Returns the pages under `/console/NAME/`.
    fn pages(&self) -> Vec<Route> {
        Vec::new()
    }

    /// Returns the commands of `milepost NAME ..`. They work without settings as well.
    fn commands(&self) -> Vec<Command> {
        Vec::new()
    }

    /// Returns the system's part of `milepost demo`.
    fn demo(&self) -> Option<Box<dyn Demo>> {
        None
    }
}

/// The things that a system works with.
#[derive(Debug, Clone)]
pub struct Desk {
    /// The server, asked in the system's own name.
    pub client: Client,
    /// The guarded way out to addresses that others chose.
    pub fetch: Fetch,
    /// A folder of the system's own. Whatever is in it can be made again: it is a cache.
    pub folder: PathBuf,
}
