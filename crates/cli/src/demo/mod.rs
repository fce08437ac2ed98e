//! A tour: a real server on a real port, with systems that show themselves, and sample workers and submissions for those
//! that do not.

mod answers;
mod pipelines;
mod samples;
mod shows;
mod story;
mod trickle;
mod workers;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use ::sending::Mail;
use anyhow::{Context as _, anyhow};
use client::Client;
use system::{Story, System};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::exit::{Exit, Stop};
use crate::local_server::Node;
use crate::output::{self, Format, say};
use crate::signals::Signals;
use crate::store_place::Place;
use crate::systems;
use samples::{Sample, Walked};
use shows::{Shows, Stories};

/// The time the samples may take to come to rest. They take a second.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Demo {
    pub(crate) listen: SocketAddr,
    pub(crate) once: bool,
    pub(crate) format: Format,
}

impl Demo {
    pub(crate) async fn run(&self) -> anyhow::Result<Exit> {
        self.run_with(systems::all()).await
    }

    async fn run_with(&self, all: Vec<Box<dyn System>>) -> anyhow::Result<Exit> {
        let signals = Signals::listen()?;
        let listener = bind(self.listen).await?;
        let folder = private_folder()?;
        let log = Some(engine::LogOptions::in_folder(folder.path()));
        let place = Place::Folder(folder.path().to_owned());
        let mut shows = Shows::start(all, &place).await?;
        shows.absent().iter().for_each(|word| say!("{word}"));
        let payload_checks = shows.payload_checks();
        let node =
            Node::open(&place, &engine::Options { log, payload_checks, ..engine::Options::default() })?;
        for source in pipelines::sources(|system| !shows.has(system)) {
            node.apply(&source).await?;
        }
        let real = shows.tasks();
        let mut systems = shows.apply(&node).await?;
        systems.listen().await?;
        node.doors(&listener).await?;
        let options = server::Options::new(listener.local_addr()?);
        let client = Client::new(&format!("http://{}", listener.local_addr()?), None)?;

        // The sample worker takes the mails; none leaves this machine.
        let senders = node.senders(fetch::Policy::default(), Mail::Elsewhere);

        let (stop_working, working) = watch::channel(false);
        let (stop_serving, serving) = watch::channel(false);
        let workers = tokio::spawn(workers::run(client.clone(), real, told(working)));
        let consumers = node.consumers(fetch::Policy::default(), Vec::new());
        let parts = (Some(senders), consumers, systems);
        let mut server = tokio::spawn(node.serve(listener, options, parts, told(serving)));
        let exit = tokio::select! {
            exit = self.tell(&client, &mut shows) => exit,
            () = signals.asked_to_stop() => Ok(Exit::Fine),
            ended = &mut server => return ended?.and(Err(anyhow!("the server has ended by itself"))),
        };
        stop_working.send_replace(true);
        workers.await?.context("a sample worker stopped")?;
        stop_serving.send_replace(true);
        server.await??;
        folder.close().context("cannot remove the demo's temporary folder")?;
        exit
    }

    /// Submits the samples, shows what became of them, and stays unless told not to.
    async fn tell(&self, client: &Client, shows: &mut Shows) -> anyhow::Result<Exit> {
        let shown = shows.pipelines();
        let (rested, stories) = tokio::try_join!(walk(client, &shown), shows.tell(client))?;
        let Stories { told, failed } = stories;
        self.show(client, (&rested, &told)).await?;
        let mut astray: Vec<String> = rested.iter().filter_map(story::astray).collect();
        astray.extend(failed);
        match astray.is_empty() {
            true => {}
            false if self.once => return Err(Stop::new(Exit::Negative, astray.join("; ")).into()),
            // Everything else can be looked at.
            false => astray.iter().for_each(|word| say!("{word}")),
        }
        if !self.once {
            shows.go_on(client);
            trickle::run(client.clone(), |pipeline| !shown.contains(pipeline)).await;
            std::future::pending::<()>().await;
        }
        Ok(Exit::Fine)
    }

    async fn show(&self, client: &Client, (rested, stories): (&[Walked], &[Story])) -> anyhow::Result<()> {
        if self.format == Format::Json {
            let mut submissions: Vec<_> = rested.iter().map(|walked| walked.submission.clone()).collect();
            for id in stories.iter().flat_map(|story| &story.samples) {
                submissions.push(client.submission(*id).await?);
            }
            return output::print_json(&submissions);
        }
        let mut text = story::opening(&client.server());
        text.push_str(&story::skills(rested));
        stories.iter().for_each(|story| text.push_str(&format!("\n{}\n", story.text.trim_end())));
        text.push_str(&story::everything(&client.pipelines().await?));
        if !self.once {
            text.push_str(&story::what_to_try(&client.server(), rested));
        }
        Ok(output::print(&text)?)
    }
}

/// Submits the samples of those who do not show themselves one after the other and follows them all at once; they are given in their own order.
async fn walk(client: &Client, shown: &BTreeSet<String>) -> anyhow::Result<Vec<Walked>> {
    let mut following = JoinSet::new();
    let pipelines = client.pipelines().await?.pipelines;
    let is_sampled = |sample: &Sample| {
        pipelines.iter().any(|pipeline| &*pipeline.name == sample.pipeline)
            && !shown.contains(sample.pipeline)
    };
    for (place, sample) in samples::all().into_iter().filter(is_sampled).enumerate() {
        let id = samples::submit(client, &sample).await?;
        let follow = samples::follow(client.clone(), sample, id, PATIENCE);
        following.spawn(async move { (place, follow.await) });
    }
    let mut rested = following.join_all().await;
    rested.sort_by_key(|(place, _)| *place);
    let mut rested: Vec<Walked> = rested.into_iter().map(|(_, walked)| walked).collect::<Result<_, _>>()?;
    for (sample, id) in samples::mails(&rested) {
        rested.push(samples::follow(client.clone(), sample, id, PATIENCE).await?);
    }
    Ok(rested)
}

/// Listens where it was asked to, or nearby.
async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(listen).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            say!("{listen} is taken; taking a free port instead");
            Ok(TcpListener::bind((listen.ip(), 0)).await?)
        }
        bound => bound.with_context(|| format!("cannot listen on {listen}")),
    }
}

/// Ends when it is told to.
async fn told(mut stop: watch::Receiver<bool>) {
    // A sender that is gone says the same.
    let _ = stop.wait_for(|stopped| *stopped).await;
}

/// Makes a folder that goes when the demo ends, for its owner alone, as a data folder is.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("milepost-demo-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

#[cfg(test)]
mod tests;
