//! The systems that the program carries, and running those that the settings turn on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use app::Visitor;
use engine::pipelines::PayloadChecks;
use fetch::{Fetch, Policy};
use model::pipeline::{PayloadCheck, Source};
use model::{Caller, Name, Role};
use server::{Bound, Mounts, Site};
use system::{Desk, System};
use tokio::sync::watch;
use tokio::task::JoinSet;
use worker::Worker;

use crate::exit::Stop;
use crate::listen;
use crate::settings::ConfigFile;
use crate::store_place::Place;

/// The tasks of one system that run at a time.
pub(crate) const CONCURRENCY: usize = 8;

/// Returns every system there is, as it is without settings.
pub(crate) fn all() -> Vec<Box<dyn System>> {
    vec![
        #[cfg(feature = "ingest")]
        Box::new(ingest::system()),
        #[cfg(feature = "ledger")]
        Box::new(ledger::system()),
        #[cfg(feature = "signing")]
        Box::new(signing::system()),
        #[cfg(feature = "site-list")]
        Box::new(site_list::system()),
        #[cfg(feature = "skills")]
        Box::new(skills::system()),
    ]
}

/// Returns the system of this name, with its settings where the file has some.
pub(crate) fn find(name: &str, file: Option<&ConfigFile>) -> anyhow::Result<Arc<dyn System>> {
    let known = all();
    let names: Vec<&str> = known.iter().map(|system| system.name()).collect();
    if !names.contains(&name) {
        let there_is = match names.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there is {}", names.join(", ")),
        };
        return Err(Stop::usage(format!("no system `{name}`; {there_is}")).into());
    }
    let configured = file.map(ConfigFile::systems).transpose()?.unwrap_or_default();
    let mut all = configured.into_iter().chain(known.into_iter().map(Arc::from));
    Ok(all.find(|system| system.name() == name).expect("it is among those there are"))
}

/// Returns the pipeline files of a system, as they are loaded.
pub(crate) fn sources(system: &dyn System) -> impl Iterator<Item = Source> {
    system.pipelines().into_iter().map(|carried| {
        let named = carried.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Source { files: named.collect(), ..Source::new(carried.file, carried.toml) }
    })
}

/// The systems that a server runs.
#[derive(Default)]
pub(crate) struct Systems {
    systems: Vec<(Arc<dyn System>, Vec<Name>)>,
    /// The folder beneath which each has one of its own.
    folder: PathBuf,
    policy: Policy,
    bound: Vec<Bound>,
}

impl Systems {
    /// Takes systems whose pipelines are without problems.
    pub(crate) fn new(
        systems: Vec<Arc<dyn System>>,
        place: &Place,
        policy: Policy,
    ) -> anyhow::Result<Systems> {
        let with_names = systems.into_iter().map(|system| {
            let names = sources(&*system).map(|source| {
                let loaded = model::pipeline::load(&source);
                let loaded =
                    loaded.map_err(|problems| crate::local_server::problematic(&source, &problems))?;
                Ok(loaded.name.clone())
            });
            let names = names.collect::<anyhow::Result<Vec<Name>>>()?;
            Ok((system, names))
        });
        let systems = Systems {
            systems: with_names.collect::<anyhow::Result<_>>()?,
            folder: place.beneath().join("systems"),
            policy,
            bound: Vec::new(),
        };
        // Before anything is opened: systems that cannot stand beside each other are refused.
        systems.mounts()?;
        Ok(systems)
    }

    /// Takes the ports of the systems' own listeners: before anything is made, for a server that cannot listen should leave
    /// nothing behind.
    pub(crate) async fn listen(&mut self) -> anyhow::Result<()> {
        for mounts in self.mounts()? {
            let set_by = format!("with `listen` in [system.{}]", mounts.system());
            let bound = mounts.bind().await;
            self.bound.extend(bound.map_err(|(at, error)| listen::failed(at, &error, &set_by))?);
        }
        for bound in &self.bound {
            let (system, address) = (bound.system(), bound.address()?);
            tracing::info!(system, %address, "a system listens here");
        }
        Ok(())
    }

    /// Returns the ports that were taken.
    pub(crate) fn take_bound(&mut self) -> Vec<Bound> {
        std::mem::take(&mut self.bound)
    }

    /// Returns the systems.
    pub(crate) fn each(&self) -> impl Iterator<Item = &dyn System> {
        self.systems.iter().map(|(system, _)| &**system)
    }

    /// Returns the systems' checks of payloads, by pipeline.
    pub(crate) fn payload_checks(&self) -> PayloadChecks {
        let each =
            self.systems.iter().flat_map(|(system, names)| names.iter().map(move |name| (system, name)));
        let check = |(system, name): (&Arc<dyn System>, &Name)| {
            let (system, pipeline) = (system.clone(), name.clone());
            (name.clone(), PayloadCheck::new(move |payload| system.admit(&pipeline, payload)))
        };
        each.map(check).collect()
    }

    /// Returns the routes and pages of all. No two may have one address.
    pub(crate) fn mounts(&self) -> anyhow::Result<Vec<Mounts>> {
        let mounts = self.systems.iter().map(|(system, names)| {
            let uploads = self.folder.join(system.name()).join("uploads");
            Ok(Mounts::of(&**system, names.clone())?.uploading_to(uploads))
        });
        let mounts = mounts.collect::<Result<Vec<_>, system::Misplaced>>()?;
        server::check_addresses(&mounts).map_err(|bad| Stop::usage(bad.to_string()))?;
        Ok(mounts)
    }

    /// Runs all of them inside of a site until `stop` says so. One that ends by itself is told of in the log
    /// and by `/readyz`.
    pub(crate) fn run(self, site: &Site, stop: &watch::Receiver<bool>) -> anyhow::Result<JoinSet<()>> {
        let mut running = JoinSet::new();
        for (system, pipelines) in self.systems {
            let desk = Desk {
                client: site.client(own(&*system, pipelines)),
                fetch: Fetch::new(self.policy.clone()),
                folder: folder(&self.folder, system.name())?,
            };
            let worker = Worker::new(desk.client.clone(), "worker").concurrency(CONCURRENCY).quietly();
            let (mut stop, told, name) = (stop.clone(), site.running(), system.name());
            let works = tokio::spawn(async move {
                let stopped = async move { drop(stop.wait_for(|stopped| *stopped).await) };
                system::run(&*system, &desk, worker, stopped).await
            });
            running.spawn(async move {
                let reason = match works.await {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "it made a mistake that its log tells of".to_owned(),
                };
                tracing::error!(system = name, reason, "a system has ended by itself");
                told.ended(name, reason);
            });
        }
        Ok(running)
    }
}

/// Returns a system as it asks the server: under a name that no token has, about its own pipelines alone.
fn own(system: &dyn System, pipelines: Vec<Name>) -> Visitor {
    let caller = Caller::new(format!("system:{}", system.name()), Role::Admin);
    Visitor::inside(caller, Some(pipelines))
}

/// Makes a system's folder where there is none.
pub(crate) fn folder(beneath: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = beneath.join(name);
    let made = std::fs::create_dir_all(&folder);
    made.with_context(|| format!("cannot make the folder {} of the system `{name}`", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests;
