//! A public list of sites with a transparency log.
//!
//! `rules` judges a change, `sites` is the way to the live ones, `log` is where leaves go and proofs come from, `list` is
//! what comes of all changes, and `tasks` puts these together as the machine asks for them.

mod action;
pub mod check;
mod checks;
mod command;
mod console_pages;
mod demo;
pub mod distribute;
mod followed;
mod found;
mod hex;
mod keeper;
pub mod leaf;
pub mod list;
mod list_api;
pub mod log;
mod pages;
mod policy;
mod published;
mod refused;
pub mod rules;
mod settings;
pub mod sites;
mod tasks;
mod wish;

use std::sync::Arc;
use std::time::Duration;

pub use action::Action;
pub use found::Found;
pub use keeper::Keeper;
pub use policy::{Policy, SIGNERS_MAX, Signer};
pub use refused::{CODES, Code, Refused};
use system::{Command, Demo, Desk, Fault, Follower, Listener, PipelineFile, Route, Settings, System};
use tlog::note::Trust;
use tokio::sync::Mutex;
use worker::Worker;

use published::{Places, Shelf};
use settings::Table;
use tasks::{Checker, Contacts, Logging, Pace, Validator};

/// The pipeline of changes.
const PIPELINE: &str = "site-list";

#[derive(Default)]
struct SiteList {
    table: Table,
    shelf: Shelf,
}

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    SiteList::default()
}

impl SiteList {
    /// Returns the places of the list, which are known from the first time on that the system gets a desk.
    fn places(&self, desk: &Desk) -> &Places {
        self.shelf.get_or_init(|| Places {
            keeper: Keeper::new(desk.client.clone(), &desk.folder),
            files: desk.folder.join("list"),
            log: self.table.log_folder.clone(),
            read: self.table.own_log(desk).ok().flatten().map(|(source, key)| (source, Trust::key(key))),
            turn: Mutex::default(),
        })
    }

    fn working(&self, desk: &Desk, worker: Worker) -> Result<Worker, Fault> {
        let Table { issuers, host_pause, mails_a_day, .. } = &self.table;
        let validator = Validator {
            sites: self.table.sites(&desk.fetch)?,
            keeper: self.places(desk).keeper.clone(),
            issuers: issuers.clone(),
            pace: Pace::once_in(Duration::from_millis(host_pause.millis())),
            host_pause: *host_pause,
            contacts: Contacts::at_most(*mails_a_day),
        };
        let again = Duration::from_millis(self.table.log_pause.millis());
        let keeper = self.places(desk).keeper.clone();
        let logging = Logging { client: desk.client.clone(), keeper, log: self.table.log(desk)?, again };
        let checker = Checker {
            validator: Arc::new(validator),
            client: desk.client.clone(),
            gone_for: self.table.gone_for,
        };
        Ok(tasks::add(worker.concurrency(self.table.at_a_time), checker, logging))
    }
}

impl System for SiteList {
    fn name(&self) -> &'static str {
        "site-list"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        const NAMED: &[(&str, &str)] = &[
            ("schemas/site-list.json", include_str!("../schemas/site-list.json")),
            ("schemas/site-list-found.json", include_str!("../schemas/site-list-found.json")),
            ("schemas/site-list-invalid.json", include_str!("../schemas/site-list-invalid.json")),
            ("schemas/site-list-leaf.json", include_str!("../schemas/site-list-leaf.json")),
            ("schemas/site-list-proof.json", include_str!("../schemas/site-list-proof.json")),
            ("templates/site-list/contact.txt", include_str!("../templates/site-list/contact.txt")),
            ("templates/site-list/operator.txt", include_str!("../templates/site-list/operator.txt")),
        ];
        const OF_CHECKS: &[(&str, &str)] = &[
            ("schemas/site-list-check.json", include_str!("../schemas/site-list-check.json")),
            (
                "templates/site-list-check/operator.txt",
                include_str!("../templates/site-list-check/operator.txt"),
            ),
        ];
        vec![
            PipelineFile::new("site-list.toml", include_str!("../site-list.toml")).naming(NAMED),
            PipelineFile::new("site-list-check.toml", include_str!("../site-list-check.toml"))
                .naming(OF_CHECKS),
        ]
    }

    fn configure(&mut self, settings: Settings<'_>) -> Result<(), Fault> {
        self.table = Table::read(settings)?;
        Ok(())
    }

    fn tasks(&self, desk: &Desk, worker: Worker) -> Worker {
        match self.working(desk, worker.clone()) {
            Ok(working) => working,
            Err(fault) => {
                tracing::error!(%fault, "the site list does no tasks; correct its settings");
                worker
            }
        }
    }

    fn followers(&self, desk: &Desk) -> Vec<Follower> {
        match self.places(desk).read {
            Some(_) => vec![published::follower(&self.shelf)],
            None => Vec::new(),
        }
    }

    fn routes(&self) -> Vec<Route> {
        let mut routes = published::routes(&self.shelf);
        routes.extend(list_api::routes(&list_api::BESIDE, &self.shelf));
        routes
    }

    fn listeners(&self) -> Vec<Listener> {
        self.table.listen.map(|address| list_api::listener(address, &self.shelf)).into_iter().collect()
    }

    fn pages(&self) -> Vec<Route> {
        let mut pages = pages::routes(&self.shelf);
        pages.extend(console_pages::pages(&self.shelf));
        pages
    }

    fn commands(&self) -> Vec<Command> {
        command::all()
    }

    fn demo(&self) -> Option<Box<dyn Demo>> {
        Some(Box::new(demo::Show::default()))
    }
}
