//! With much waiting: work, restart, look. First over HTTP, then in process over what the server left.

use std::time::Duration;

use anyhow::Result;

use super::home::{DRAIN, MANY, SINGLE, filled};
use super::measured_store::{Ground, Room, Site};
use super::{Run, TURNS, Workload};
use crate::home::{Home, Outside};
use crate::pipelines::{DESK, FIVE, ONE};
use crate::report::{Figure, Unit};
use crate::stopwatch::now;
use crate::workload;

/// Pages that are left open, and the submissions that are worked off beside them.
const OPEN_PAGES: usize = 200;
const WATCHED: usize = 60_000;

/// Processor time of the server, and the time that passed.
struct Worked {
    used: Duration,
    took: Duration,
}

impl Run<'_> {
    pub(super) async fn with_backlog(&mut self, ground: &Ground, site: Site) -> Result<()> {
        use Workload::{Backlog, Pages, Restart};
        if ![Backlog, Restart, Pages].into_iter().any(|workload| self.wants(workload)) {
            return site.leave().await;
        }
        let backlog = self.sized(self.plan.backlog);
        let fill = workload::fill(&site.servers, ONE, backlog).await?;
        self.add(self.rate(Backlog, &format!("submit until {backlog} wait"), site.label(), fill));
        self.drain_before(&site.servers, backlog).await?;
        let site = if self.wants(Restart) { self.restarted(site, backlog).await? } else { site };
        if self.wants(Pages) {
            let looks = workload::pages(&site.servers).await?;
            self.looks(looks, site.label(), backlog);
            // A part of those that people look at and nobody works on: for them, and to be looked into.
            workload::fill(&site.servers, DESK, backlog / 10).await?;
            let pages = workload::console(&site.servers).await?;
            self.looks(pages, "console", backlog);
            self.watched(&site.servers).await?;
        }
        self.memory("after all that", &site.servers)?;
        let keep = site.end().await?;
        let began = now();
        let room = ground.enter(keep, true).await?;
        if self.wants(Restart) {
            let what = format!("ready after kill -9, {backlog} open");
            self.add(self.time(Restart, &what, room.engine.label(), began.elapsed()));
        }
        self.inside(&room, backlog).await?;
        room.leave().await
    }

    async fn inside(&mut self, room: &Room, backlog: usize) -> Result<()> {
        self.drain_before(&room.engine, backlog).await?;
        if self.wants(Workload::Pages) {
            let looks = workload::pages_inside(&room.engine).await?;
            self.looks(looks, room.engine.label(), backlog);
        }
        Ok(())
    }

    /// The first of those that wait are worked off, the others stay behind.
    async fn drain_before<H: Home>(&mut self, home: &H, backlog: usize) -> Result<()> {
        if self.wants(Workload::Backlog) {
            let work = workload::work(home, ONE, self.sized(20_000), SINGLE).await?;
            let what = format!("{DRAIN}, {backlog} waiting");
            let figure = self.rate(Workload::Backlog, &what, home.label(), work);
            let alone = self.report.value(Workload::Drain.code(), DRAIN, home.label());
            self.add(figure.over_some(alone.map(|alone| (alone, "with nothing behind"))));
        }
        Ok(())
    }

    async fn restarted(&mut self, site: Site, backlog: usize) -> Result<Site> {
        let Site { program, servers, keep } = site;
        let (restart, servers) = workload::restart(servers, &program, SINGLE).await?;
        let after = format!("after kill -9, {backlog} open");
        for (what, time) in [("ready", restart.ready), ("full speed", restart.full_speed)] {
            self.add(self.time(Workload::Restart, &format!("{what} {after}"), &program.label, time));
        }
        Ok(Site { program, servers, keep })
    }

    /// Measures what pages that are left open cost while W3 runs: the processor time of the server for each step, with
    /// them and without, in turns.
    async fn watched(&mut self, servers: &Outside) -> Result<()> {
        let submissions = self.sized(WATCHED);
        let (mut alone, mut watched, mut took, mut read) =
            (Duration::ZERO, Duration::ZERO, Duration::ZERO, 0);
        for _ in 0..TURNS {
            alone += self.worked(servers, submissions).await?.used;
            let watching = workload::watch(servers, OPEN_PAGES).await?;
            let worked = self.worked(servers, submissions).await?;
            read += watching.close().await?;
            watched += worked.used;
            took += worked.took;
        }
        let cost = (watched.as_secs_f64() - alone.as_secs_f64()) / took.as_secs_f64() * 100.0;
        let what = format!("{OPEN_PAGES} open pages, read {read} times");
        let figure = Figure::new(Workload::Pages.code(), &what, servers.label(), (cost, Unit::Percent));
        self.add(figure);
        Ok(())
    }

    async fn worked(&self, servers: &Outside, submissions: usize) -> Result<Worked> {
        let (before, began) = (servers.used()?, now());
        filled(servers, FIVE, submissions, MANY).await?;
        Ok(Worked { used: servers.used()?.saturating_sub(before), took: began.elapsed() })
    }

    fn looks(&mut self, looks: Vec<workload::Look>, home: &str, backlog: usize) {
        for (what, time) in looks {
            self.add(self.time(Workload::Pages, &format!("{what}, {backlog} open, p99"), home, time));
        }
    }
}
