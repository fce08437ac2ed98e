//! Batches for distributed ledgers, in order and one in flight per service.

mod adapter;
mod batch;
mod commands;
mod demo;
mod ledgers;
mod lookup;
mod pages;
mod poller;
pub mod queue_file;
pub mod queuer;
mod routes;
mod seconds;
mod services;
mod settings;
mod settle;
mod submit;
mod watch;

use std::sync::Arc;

pub use seconds::{InvalidSeconds, Seconds};
use system::{Command, Demo, Desk, Fault, Follower, PipelineFile, Route, Settings, System};
use wire::{Json, Refusal};
use worker::Worker;

use ledgers::Ledgers;
use settings::Table;

#[derive(Default)]
struct Ledger {
    table: Table,
}

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Ledger::default()
}

impl System for Ledger {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        const NAMED: &[(&str, &str)] = &[
            ("schemas/ledger-batch.json", include_str!("../schemas/ledger-batch.json")),
            ("schemas/ledger-batch-delayed.json", include_str!("../schemas/ledger-batch-delayed.json")),
            ("templates/ledger-batch/operator.txt", include_str!("../templates/ledger-batch/operator.txt")),
        ];
        const FINALITY: &[(&str, &str)] =
            &[("schemas/ledger-finality.json", include_str!("../schemas/ledger-finality.json"))];
        vec![
            PipelineFile::new("ledger-batch.toml", include_str!("../ledger-batch.toml")).naming(NAMED),
            PipelineFile::new("ledger-finality.toml", include_str!("../ledger-finality.toml"))
                .naming(FINALITY),
        ]
    }

    fn configure(&mut self, settings: Settings<'_>) -> Result<(), Fault> {
        self.table = Table::read(settings)?;
        Ok(())
    }

    fn tasks(&self, desk: &Desk, worker: Worker) -> Worker {
        let ledgers = Arc::new(Ledgers::new(&self.table, &desk.fetch));
        let (watched, settled, client) = (ledgers.clone(), ledgers.clone(), desk.client.clone());
        worker
            .concurrency(self.table.at_once)
            .task("ledger.submit", move |task| {
                let ledgers = ledgers.clone();
                async move { submit::submit(&ledgers, task).await }
            })
            .task("ledger.watch", move |task| {
                let ledgers = watched.clone();
                async move { watch::watch(&ledgers, task).await }
            })
            .task("ledger.settle", move |task| {
                let (ledgers, client) = (settled.clone(), client.clone());
                async move { settle::settle(&ledgers, &client, task).await }
            })
    }

    fn followers(&self, desk: &Desk) -> Vec<Follower> {
        vec![settle::follower(&desk.client)]
    }

    fn admit(&self, pipeline: &str, payload: &Json) -> Result<Option<Json>, Refusal> {
        if pipeline == lookup::PIPELINE {
            batch::check(payload)?;
        }
        Ok(None)
    }

    fn routes(&self) -> Vec<Route> {
        routes::all()
    }

    fn pages(&self) -> Vec<Route> {
        pages::all()
    }

    fn commands(&self) -> Vec<Command> {
        commands::all()
    }

    fn demo(&self) -> Option<Box<dyn Demo>> {
        Some(Box::new(demo::Show::default()))
    }
}
