//! The workloads that run alike in process and over HTTP, one after the other over one store.

use anyhow::Result;

use super::references::{Reference, References};
use super::{Run, TURNS, Workload};
use crate::bare;
use crate::home::Home;
use crate::machine::sync_times;
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
            let many = workload::submit(home, ONE, self.sized(50_000), 8, 100).await?;
            let figure = self.rate(Workload::Submit, "submit, 100 a call", home.label(), many);
            self.add(figure.over_some(references.bulk));
            found.bulk = references.bulk;
        }
        Ok(found)
    }

    /// What comes one at a time.
    pub(super) async fn alone<H: Home>(&mut self, home: &H, references: &References) -> Result<()> {
        if self.wants(Workload::Latency) {
            self.latency(home).await?;
        }
        if self.wants(Workload::Submit) {
            self.single(home, references.single).await?;
        }
        Ok(())
    }

    /// One a call. What comes over HTTP is compared to a server that does nothing.
    async fn single<H: Home>(&mut self, home: &H, reference: Reference) -> Result<()> {
        let (mut bare, mut single) = (Rate::default(), Rate::default());
        for _ in 0..TURNS {
            if H::OVER_HTTP {
                bare += bare::posts(self.sized(30_000), SINGLE.callers).await?;
            }
            single += workload::submit(home, ONE, self.sized(15_000), SINGLE.callers, 1).await?;
        }
        let reference = if H::OVER_HTTP { Some(self.bare(bare)) } else { reference };
        let figure = self.rate(Workload::Submit, "submit, one a call, 64 callers", home.label(), single);
        self.add(figure.over_some(reference));
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

    /// Disks have moods: what a sync takes is measured before and after.
    async fn latency<H: Home>(&mut self, home: &H) -> Result<()> {
        let mut syncs = sync_times(&self.plan.folder)?;
        let found = workload::latency(home, self.sized(1_000)).await?;
        syncs.append(sync_times(&self.plan.folder)?);
        let sync = millis(syncs.at(0.5));
        for (share, time) in [("p50", found.p50), ("p99", found.p99)] {
            let what = format!("from submit to start, 100/s, {share}");
            let figure = self.time(Workload::Latency, &what, home.label(), time);
            self.add(figure.over_some(Some((sync, "one append and sync"))));
        }
        Ok(())
    }
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
