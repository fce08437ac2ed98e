//! With much waiting: work, restart, look. First over HTTP, then in process over what the server left.

use anyhow::Result;

use super::home::{DRAIN, SINGLE};
use super::measured_store::{Ground, Room, Site};
use super::{Run, Workload};
use crate::home::Home;
use crate::pipelines::ONE;
use crate::stopwatch::now;
use crate::workload;

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

    fn looks(&mut self, looks: Vec<workload::Look>, home: &str, backlog: usize) {
        for (what, time) in looks {
            self.add(self.time(Workload::Pages, &format!("{what}, {backlog} open, p99"), home, time));
        }
    }
}
