//! The workloads that run alike in process and over HTTP, one after the other over one store.

use std::net::SocketAddr;

use anyhow::Result;

use super::references::{Reference, References};
use super::{Run, TURNS, Workload};
use crate::bare::Bare;
use crate::home::{Connection, Home, Reach, RustClient};
use crate::machine::paced_syncs;
use crate::pipelines::{FIVE, LANES, Machine, ONE};
use crate::report::millis;
use crate::workload::{self, Crew, Rate};

/// Claims and finishes of one task each, from 64 callers.
pub(super) const SINGLE: Crew = Crew { callers: 64, claim: 16, together: false };
/// Few callers that claim and finish many in a call.
pub(super) const MANY: Crew = Crew { callers: 8, claim: 64, together: true };

pub(super) const DRAIN: &str = "one task, each finish a call";
pub(super) const WALK: &str = "5 tasks each, many a call";
pub(super) const LANED: &str = "the same in 200 lanes";

impl Run<'_> {
    /// Gives what the next home is compared to. Submitting comes last: what it leaves waiting is in nobody's way.
    pub(super) async fn on_home<H: Home>(&mut self, home: &H, references: &References) -> Result<References> {
        let mut found = References::default();
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            found.walk = self.walk(home, references.walk).await?;
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            let drain = filled(home, ONE, self.sized(20_000), SINGLE).await?;
            let figure = self.rate(Workload::Drain, DRAIN, home.label(), drain);
            self.add(figure.over_some(references.drain));
            found.drain = Some((drain.per_second(), "in process"));
        }
        self.alone(home, references).await?;
        if self.wants(Workload::Submit) {
            let many = workload::submit(home, ONE, self.sized(50_000), SINGLE.callers, 100).await?;
            let figure = self.rate(Workload::Submit, "submit, 100 a call", home.label(), many);
            self.add(figure.over_some(references.bulk));
            found.bulk = references.bulk;
        }
        Ok(found)
    }

    /// Runs the workloads whose calls come one at a time.
    pub(super) async fn alone<H: Home>(&mut self, home: &H, references: &References) -> Result<()> {
        if self.wants(Workload::Latency) {
            self.latency(home).await?;
        }
        if self.wants(Workload::Submit) {
            self.single(home, references.single).await?;
        }
        if self.wants(Workload::Services) {
            self.services(home).await?;
        }
        Ok(())
    }

    /// One a call. What comes over HTTP is compared to a server that does nothing, with the same callers: bare
    /// connections, because they leave the machine to the server, and the client that people use.
    async fn single<H: Home>(&mut self, home: &H, reference: Reference) -> Result<()> {
        if !home.servers().is_empty() {
            self.beside_bare::<Connection>(home.servers(), home.label(), "64 callers").await?;
            return self.beside_bare::<RustClient>(home.servers(), home.label(), "64 clients").await;
        }
        let mut single = Rate::default();
        for _ in 0..TURNS {
            single += workload::submit(home, ONE, self.sized(15_000), SINGLE.callers, 1).await?;
        }
        let figure = self.rate(Workload::Submit, "submit, one a call, 64 callers", home.label(), single);
        self.add(figure.over_some(reference));
        Ok(())
    }

    async fn beside_bare<R: Reach>(&mut self, servers: &[SocketAddr], label: &str, who: &str) -> Result<()> {
        const BARE: &str = "bare server";
        let (mut bare, mut single) = (Rate::default(), Rate::default());
        for _ in 0..TURNS {
            let server = Bare::start().await?;
            let crew = reached::<R>(&[server.address]).await?;
            bare += workload::submit_by(crew, ONE, self.sized(30_000), 1).await?;
            server.stop()?;
            let crew = reached::<R>(servers).await?;
            single += workload::submit_by(crew, ONE, self.sized(15_000), 1).await?;
        }
        self.add(self.rate(Workload::Submit, &format!("posts that do nothing, {who}"), BARE, bare));
        let figure = self.rate(Workload::Submit, &format!("submit, one a call, {who}"), label, single);
        self.add(figure.over_some(Some((bare.per_second(), BARE))));
        Ok(())
    }

    /// Without lanes and in lanes.
    async fn walk<H: Home>(&mut self, home: &H, reference: Reference) -> Result<Reference> {
        let submissions = self.sized(5_000);
        let (mut walk, mut lanes) = (Rate::default(), Rate::default());
        for _ in 0..TURNS {
            walk += filled(home, FIVE, submissions, MANY).await?;
            if self.wants(Workload::Lanes) {
                lanes += filled(home, LANES, submissions, MANY).await?;
            }
        }
        let figure = self.rate(Workload::Walk, WALK, home.label(), walk);
        self.add(figure.over_some(reference));
        if self.wants(Workload::Lanes) {
            let figure = self.rate(Workload::Lanes, LANED, home.label(), lanes);
            self.add(figure.over_some(Some((walk.per_second(), "without lanes"))));
        }
        Ok(Some((walk.per_second(), "in process")))
    }

    /// Disks have moods: what a sync takes is measured before and after, and at the same pace. One that comes out of the
    /// blue takes twice as long as one right after another.
    async fn latency<H: Home>(&mut self, home: &H) -> Result<()> {
        let mut syncs = paced_syncs(&self.plan.folder, workload::PACE)?;
        let found = workload::latency(home, self.sized(1_000)).await?;
        syncs.append(paced_syncs(&self.plan.folder, workload::PACE)?);
        let sync = syncs.at(0.5);
        self.add(self.time(Workload::Latency, "an append and sync, 100/s, p50", "disk", sync));
        for (share, time) in [("p50", found.p50), ("p99", found.p99)] {
            let what = format!("from submit to start, 100/s, {share}");
            let figure = self.time(Workload::Latency, &what, home.label(), time);
            self.add(figure.over_some(Some((millis(sync), "an append and sync"))));
        }
        Ok(())
    }
}

/// Makes as many connections as there are callers with one call at a time, spread over the servers.
async fn reached<R: Reach>(servers: &[SocketAddr]) -> Result<Vec<R>> {
    let mut crew = Vec::new();
    for server in servers.iter().cycle().take(SINGLE.callers) {
        crew.push(R::reach(*server).await?);
    }
    Ok(crew)
}

/// Fills a machine, then works until all of it has ended.
pub(super) async fn filled<H: Home>(
    home: &H,
    machine: Machine,
    submissions: usize,
    crew: Crew,
) -> Result<Rate> {
    workload::fill(home, machine, submissions).await?;
    workload::work(home, machine, submissions * machine.steps, crew).await
}
