//! Systems that show themselves in the demo: with their real tasks, on counterparts in miniature.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use client::Client;
use engine::pipelines::PayloadChecks;
use fetch::{Network, Policy};
use system::{Demo, Failed, Story, System};
use tokio::task::JoinSet;

use crate::folder::Folder;
use crate::local_server::Node;
use crate::settings::ConfigFile;
use crate::store_place::Place;
use crate::systems::{self, Systems};

/// The time that a system's samples may take to come to rest. Real work takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The systems that have a part of the demo. Their counterparts end when this is dropped.
#[derive(Default)]
pub(super) struct Shows {
    demos: Vec<Option<(&'static str, Box<dyn Demo>)>>,
    systems: Systems,
    folder: Folder,
    settings: ConfigFile,
    telling: JoinSet<Told>,
    going_on: JoinSet<()>,
    /// The systems whose counterparts could not start, as sentences: a machine may lack a program that one of them needs.
    absent: Vec<String>,
}

/// The stories that were told, and what went wrong with others.
#[derive(Debug, Default)]
pub(super) struct Stories {
    pub(super) told: Vec<Story>,
    pub(super) failed: Vec<String>,
}

/// A demonstration that has told its story, or has not.
struct Told {
    place: usize,
    name: &'static str,
    demo: Box<dyn Demo>,
    story: Result<Story, Failed>,
}

impl Shows {
    /// Starts the counterparts of all systems that have some, and gives those systems the settings that lead there. One that
    /// cannot start is left out with a word, and the others are shown.
    pub(super) async fn start(all: Vec<Box<dyn System>>, place: &Place) -> anyhow::Result<Shows> {
        let mut shows = Shows::default();
        let mut text = String::new();
        let local = ["127.0.0.0/8", "::1/128"].map(str::parse::<Network>);
        let allowed = local.map(|network| network.expect("this is a network")).into();
        // Nothing leaves this machine.
        let mut policy = Policy { allowed, ports: Vec::new(), ..Policy::default() };
        let mut own: Vec<Arc<dyn System>> = Vec::new();
        for system in all {
            let Some(mut demo) = system.demo() else { continue };
            let folder = systems::folder(&place.beneath().join("demo"), system.name())?;
            let staged = match demo.start(&folder).await {
                Ok(staged) => staged,
                Err(error) => {
                    let name = system.name();
                    shows
                        .absent
                        .push(format!("the system `{name}` is not shown with its real tasks: {error}"));
                    continue;
                }
            };
            text = format!("{text}{}\n", staged.settings);
            policy.ports.extend(staged.ports);
            shows.demos.push(Some((system.name(), demo)));
            own.push(Arc::from(system));
        }
        shows.settings = ConfigFile::parse(&text);
        if let Some(fault) = shows.settings.faults.first() {
            return Err(anyhow!("{} in the settings of the demo", fault.told(Path::new("demo.toml"))));
        }
        own.retain(|system| !shows.settings.systems.contains(&system.name()));
        own.extend(shows.settings.systems()?);
        shows.systems = Systems::new(own, place, policy)?;
        shows.folder.add(shows.systems.each())?;
        Ok(shows)
    }

    pub(super) fn payload_checks(&self) -> PayloadChecks {
        self.systems.payload_checks()
    }

    pub(super) fn has(&self, system: &str) -> bool {
        self.systems.each().any(|own| own.name() == system)
    }

    /// Returns a sentence for each system that could not be shown.
    pub(super) fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Returns the names of the pipelines that are shown.
    pub(super) fn pipelines(&self) -> BTreeSet<String> {
        self.folder.pipelines().map(|pipeline| pipeline.name.to_string()).collect()
    }

    /// Returns the names of the tasks that are done for real.
    pub(super) fn tasks(&self) -> BTreeSet<String> {
        let tasks = self.folder.pipelines().flat_map(|pipeline| pipeline.tasks());
        tasks.map(|task| task.name.to_string()).collect()
    }

    /// Applies the pipelines, and returns the systems to run.
    pub(super) async fn apply(&mut self, node: &Node) -> anyhow::Result<Systems> {
        self.folder.apply(node, Some(&self.settings)).await?;
        Ok(std::mem::take(&mut self.systems))
    }

    /// Has all of them submit their samples at once, and returns their stories in the systems' order. What one of them cannot
    /// tell does not keep the others from it.
    pub(super) async fn tell(&mut self, client: &Client) -> anyhow::Result<Stories> {
        for (place, demo) in self.demos.iter_mut().enumerate() {
            let (name, mut demo) = demo.take().expect("it is told once");
            let client = client.clone();
            self.telling.spawn(async move {
                let story = tokio::time::timeout(PATIENCE, demo.tell(client)).await;
                let late = || Err("its samples have not come to rest in time".into());
                Told { place, name, story: story.unwrap_or_else(|_| late()), demo }
            });
        }
        let mut stories: Vec<Option<Story>> = self.demos.iter().map(|_| None).collect();
        let mut failed = Vec::new();
        while let Some(told) = self.telling.join_next().await {
            let Told { place, name, demo, story } = told.context("a part of the demo panicked")?;
            match story {
                Ok(story) => {
                    self.demos[place] = Some((name, demo));
                    stories[place] = Some(story);
                }
                Err(error) => failed.push(format!("the samples of the system `{name}` failed: {error}")),
            }
        }
        Ok(Stories { told: stories.into_iter().flatten().collect(), failed })
    }

    /// Keeps work moving for as long as this lives.
    pub(super) fn go_on(&mut self, client: &Client) {
        for (_, mut demo) in self.demos.iter_mut().filter_map(Option::take) {
            let client = client.clone();
            self.going_on.spawn(async move {
                demo.go_on(client).await;
                // What the demo started lives for as long as the demo.
                std::future::pending().await
            });
        }
    }
}
