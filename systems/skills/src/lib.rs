//! A registry of agent skills: scans, judgement, review, publication.

mod audit;
mod commands;
mod demo;
pub mod judge;
mod pages;
mod pipelines;
pub mod registry;
mod routes;
pub mod scan;
mod settings;
pub mod source;
mod tasks;
pub mod version;

use system::{Command, Demo, Desk, Fault, PipelineFile, Route, System};
use worker::Worker;

use routes::{Place, Told};
use settings::Settings;
use tasks::Bench;

#[derive(Default)]
struct Skills {
    settings: Settings,
    place: Place,
}

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    Skills::default()
}

impl System for Skills {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        pipelines::files()
    }

    fn configure(&mut self, settings: system::Settings<'_>) -> Result<(), Fault> {
        self.settings = settings.read()?;
        self.settings.check()
    }

    fn tasks(&self, desk: &Desk, worker: Worker) -> Worker {
        self.place.tell(Told {
            registry: tasks::registry_folder(desk, &self.settings),
            key_file: tasks::key_file(desk, &self.settings),
            name: self.settings.name().to_owned(),
        });
        Bench::new(desk, &self.settings).tasks(worker)
    }

    fn routes(&self) -> Vec<Route> {
        routes::routes(&self.place)
    }

    fn pages(&self) -> Vec<Route> {
        pages::pages(&self.place)
    }

    fn commands(&self) -> Vec<Command> {
        commands::commands()
    }

    fn demo(&self) -> Option<Box<dyn Demo>> {
        Some(Box::new(demo::Show::default()))
    }
}
