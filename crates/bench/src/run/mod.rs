//! One run: every workload that was asked for, each with its reference.

mod backlog;
mod home;
mod measured_store;
mod references;
mod services;
mod turns;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::home::Outside;
use crate::machine::MachineFacts;
use crate::report::{Figure, Report, Unit, millis};
use crate::workload::Rate;
use measured_store::Ground;
use references::References;

/// The turns in which compared runs alternate: what else the machine does meanwhile happens to both.
const TURNS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    Submit,
    Drain,
    Walk,
    Latency,
    Lanes,
    Backlog,
    Restart,
    Pages,
    Services,
}

impl Workload {
    pub const ALL: [Workload; 9] = [
        Workload::Submit,
        Workload::Drain,
        Workload::Walk,
        Workload::Latency,
        Workload::Lanes,
        Workload::Backlog,
        Workload::Restart,
        Workload::Pages,
        Workload::Services,
    ];

    #[must_use]
    pub fn code(self) -> &'static str {
        ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9"][self as usize]
    }

    #[must_use]
    pub fn named(code: &str) -> Option<Workload> {
        Workload::ALL.into_iter().find(|workload| workload.code().eq_ignore_ascii_case(code))
    }
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub workloads: BTreeSet<Workload>,
    /// On the disk that is to be measured.
    pub folder: PathBuf,
    /// The program whose `serve` is measured over HTTP.
    pub binary: PathBuf,
    /// The number of submissions that wait in the workloads with a backlog.
    pub backlog: usize,
    /// A PostgreSQL to be measured, too. It gets schemas of its own, which are dropped again.
    pub postgres: Option<String>,
    /// A tenth of everything, to see that it works.
    pub quick: bool,
}

pub fn run(plan: &Plan, say: &mut dyn FnMut(&str)) -> Result<Report> {
    let machine = MachineFacts::find(&plan.folder)?;
    let report = Report { version: env!("CARGO_PKG_VERSION"), machine, figures: Vec::new() };
    let mut run = Run { plan, report, say };
    tokio::runtime::Runtime::new()?.block_on(run.everything())?;
    Ok(run.report)
}

struct Run<'a> {
    plan: &'a Plan,
    report: Report,
    say: &'a mut dyn FnMut(&str),
}

impl Run<'_> {
    async fn everything(&mut self) -> Result<()> {
        let ground = Ground::folder(self.plan);
        let references = self.in_turns().await?;
        let room = ground.room().await?;
        self.alone(&room.engine, &references).await?;
        room.leave().await?;
        self.over_http(&ground, &references, &[1]).await?;
        if let Some(url) = &self.plan.postgres {
            let ground = Ground::postgres(self.plan, url)?;
            let references = self.naive(url).await?;
            let room = ground.room().await?;
            let references = self.on_home(&room.engine, &references).await?;
            room.leave().await?;
            self.over_http(&ground, &references, &[1, 2]).await?;
        }
        Ok(())
    }

    /// With so many servers.
    async fn over_http(&mut self, ground: &Ground, references: &References, servers: &[usize]) -> Result<()> {
        for &count in servers {
            let site = ground.site(count).await?;
            if count == 1 {
                self.memory("idle", &site.servers)?;
            }
            self.on_home(&site.servers, references).await?;
            if count == 1 {
                self.with_backlog(ground, site).await?;
            } else {
                site.leave().await?;
            }
        }
        Ok(())
    }

    fn wants(&self, workload: Workload) -> bool {
        self.plan.workloads.contains(&workload)
    }

    fn sized(&self, count: usize) -> usize {
        if self.plan.quick { count / 10 } else { count }
    }

    fn add(&mut self, figure: Figure) {
        (self.say)(&figure.to_string());
        self.report.figures.push(figure);
    }

    fn rate(&self, workload: Workload, what: &str, home: &str, rate: Rate) -> Figure {
        Figure::new(workload.code(), what, home, (rate.per_second(), Unit::PerSecond))
    }

    fn time(&self, workload: Workload, what: &str, home: &str, time: Duration) -> Figure {
        Figure::new(workload.code(), what, home, (millis(time), Unit::Milliseconds))
    }

    fn memory(&mut self, when: &str, servers: &Outside) -> Result<()> {
        let megabytes = servers.resident()? as f64 / 1e6;
        let what = format!("resident, {when}");
        self.add(Figure::new("mem", &what, "HTTP", (megabytes, Unit::Megabytes)));
        Ok(())
    }
}
