//! One run: every workload that was asked for, each with its reference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use engine::SystemClock;
use store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::bare;
use crate::home::{Home, Inside, Outside, Program};
use crate::machine::MachineFacts;
use crate::pipelines::{FIVE, LANES, Machine, ONE};
use crate::raw::{RawLoop, Sample};
use crate::report::{Figure, Report, Unit, millis};
use crate::workload::{self, Crew, Rate};

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
}

impl Workload {
    pub const ALL: [Workload; 8] = [
        Workload::Submit,
        Workload::Drain,
        Workload::Walk,
        Workload::Latency,
        Workload::Lanes,
        Workload::Backlog,
        Workload::Restart,
        Workload::Pages,
    ];

    #[must_use]
    pub fn code(self) -> &'static str {
        ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"][self as usize]
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
    /// How much waits in the workloads with a backlog.
    pub backlog: usize,
    /// A tenth of everything, to see that it works.
    pub quick: bool,
}

const RAW: &str = "raw loop";
const INSIDE: &str = "in process";
const HTTP: &str = "HTTP";
const BARE: &str = "bare server";
const DISK: &str = "disk";

/// Claims and finishes of one task each, from 64 callers.
const SINGLE: Crew = Crew { callers: 64, claim: 16, together: false };
/// Few callers that claim and finish many in a call.
const MANY: Crew = Crew { callers: 8, claim: 64, together: true };

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

/// An engine in this process, and the folder of its data.
struct Room {
    engine: Inside,
    folder: TempDir,
}

impl Run<'_> {
    async fn everything(&mut self) -> Result<()> {
        let sample = self.sample().await?;
        if self.wants(Workload::Submit) {
            self.submits(&sample).await?;
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            self.drains(&sample).await?;
        }
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            self.walks(&sample).await?;
        }
        if self.wants(Workload::Latency) {
            self.latencies().await?;
        }
        if [Workload::Backlog, Workload::Restart, Workload::Pages].into_iter().any(|one| self.wants(one)) {
            self.backlog().await?;
        }
        Ok(())
    }

    fn wants(&self, workload: Workload) -> bool {
        self.plan.workloads.contains(&workload)
    }

    fn sized(&self, count: usize) -> usize {
        if self.plan.quick { count / 10 } else { count }
    }

    fn folder(&self) -> Result<TempDir> {
        Ok(tempfile::Builder::new().prefix("milepost-bench-").tempdir_in(&self.plan.folder)?)
    }

    async fn room(&self) -> Result<Room> {
        let folder = self.folder()?;
        let store = Arc::new(SqliteStore::open(folder.path(), Arc::new(SystemClock::new()))?);
        let engine = Inside::start(store, INSIDE, &engine::Options::default()).await?;
        Ok(Room { engine, folder })
    }

    fn program(&self, folder: &Path) -> Program {
        let store = vec!["--data".into(), folder.into()];
        Program { binary: self.plan.binary.clone(), store, label: HTTP.to_owned() }
    }

    async fn sample(&mut self) -> Result<Sample> {
        let room = self.room().await?;
        workload::fill(&room.engine, FIVE, 10).await?;
        workload::work(&room.engine, FIVE, 30, MANY).await?;
        room.engine.stop().await;
        // The engine lets go of the store once its threads have ended.
        let copy = self.folder()?;
        for entry in std::fs::read_dir(room.folder.path())? {
            let path = entry?.path();
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap_or_default()))?;
        }
        Sample::read(copy.path())
    }

    fn add(&mut self, figure: Figure) {
        (self.say)(&figure.to_string());
        self.report.figures.push(figure);
    }

    fn rate(&self, workload: Workload, what: &str, home: &str, rate: Rate) -> Figure {
        Figure {
            workload: workload.code(),
            what: what.to_owned(),
            home: home.to_owned(),
            value: rate.per_second(),
            unit: Unit::PerSecond,
            ratio: None,
        }
    }

    fn time(&self, workload: Workload, what: &str, home: &str, time: std::time::Duration) -> Figure {
        let (value, unit) = (millis(time), Unit::Milliseconds);
        Figure {
            workload: workload.code(),
            what: what.to_owned(),
            home: home.to_owned(),
            value,
            unit,
            ratio: None,
        }
    }

    async fn submits(&mut self, sample: &Sample) -> Result<()> {
        const SINGLES: &str = "submit, one a call, 64 callers";
        const BULK: &str = "submit, 100 a call";
        let (singles, bulk) = (self.sized(20_000), self.sized(50_000));
        let raw = RawLoop::open(self.folder()?.path(), sample.clone())?.submits(bulk, 500)?;
        let bare = bare::posts(singles, 64).await?;
        self.add(self.rate(Workload::Submit, "the same inserts, 500 a commit", RAW, raw));
        self.add(self.rate(Workload::Submit, "posts that do nothing, 64 callers", BARE, bare));
        let (raw, bare) = (raw.per_second(), bare.per_second());
        let room = self.room().await?;
        let one = workload::submit(&room.engine, ONE, singles, 64, 1).await?;
        self.add(self.rate(Workload::Submit, SINGLES, INSIDE, one).over(raw, RAW));
        let many = workload::submit(&room.engine, ONE, bulk, 8, 100).await?;
        self.add(self.rate(Workload::Submit, BULK, INSIDE, many).over(raw, RAW));
        room.engine.stop().await;
        let folder = self.folder()?;
        let server = Outside::start(&self.program(folder.path()), 1).await?;
        self.memory("idle", &server)?;
        let one = workload::submit(&server, ONE, singles, 64, 1).await?;
        self.add(self.rate(Workload::Submit, SINGLES, HTTP, one).over(bare, BARE));
        let many = workload::submit(&server, ONE, bulk, 8, 100).await?;
        self.add(self.rate(Workload::Submit, BULK, HTTP, many).over(raw, RAW));
        server.kill().await
    }

    async fn drains(&mut self, sample: &Sample) -> Result<()> {
        let tasks = self.sized(20_000);
        let mut raw = RawLoop::open(self.folder()?.path(), sample.clone())?;
        raw.submits(tasks, 500)?;
        let raw = raw.steps(1, SINGLE.callers)?;
        self.add(self.rate(Workload::Drain, "the same writes, 64 a commit", RAW, raw));
        let room = self.room().await?;
        let inside = filled(&room.engine, ONE, tasks, SINGLE).await?;
        self.add(self.rate(Workload::Drain, DRAIN, INSIDE, inside).over(raw.per_second(), RAW));
        room.engine.stop().await;
        let folder = self.folder()?;
        let server = Outside::start(&self.program(folder.path()), 1).await?;
        let outside = filled(&server, ONE, tasks, SINGLE).await?;
        self.add(self.rate(Workload::Drain, DRAIN, HTTP, outside).over(inside.per_second(), INSIDE));
        server.kill().await
    }

    async fn walks(&mut self, sample: &Sample) -> Result<()> {
        let submissions = self.sized(5_000);
        let mut raw = RawLoop::open(self.folder()?.path(), sample.clone())?;
        raw.submits(submissions, 500)?;
        let raw = raw.steps(FIVE.steps, MANY.callers * MANY.claim)?;
        self.add(self.rate(Workload::Walk, "the same writes, 512 a commit", RAW, raw));
        let room = self.room().await?;
        let inside = self.walked(&room.engine, Some((raw.per_second(), RAW))).await?;
        room.engine.stop().await;
        let folder = self.folder()?;
        let server = Outside::start(&self.program(folder.path()), 1).await?;
        self.walked(&server, Some((inside, INSIDE))).await?;
        server.kill().await
    }

    /// Without lanes, then in lanes.
    async fn walked<H: Home>(&mut self, home: &H, reference: Option<(f64, &'static str)>) -> Result<f64> {
        let submissions = self.sized(5_000);
        let walk = filled(home, FIVE, submissions, MANY).await?;
        let mut figure = self.rate(Workload::Walk, "5 tasks each, many a call", home.label(), walk);
        if let Some((value, of)) = reference {
            figure = figure.over(value, of);
        }
        self.add(figure);
        if self.wants(Workload::Lanes) {
            let lanes = filled(home, LANES, submissions, MANY).await?;
            let figure = self.rate(Workload::Lanes, "the same in 200 lanes", home.label(), lanes);
            self.add(figure.over(walk.per_second(), "without lanes"));
        }
        Ok(walk.per_second())
    }

    async fn latencies(&mut self) -> Result<()> {
        let samples = self.sized(1_000);
        let room = self.room().await?;
        self.latency(&room.engine, samples).await?;
        room.engine.stop().await;
        let folder = self.folder()?;
        let server = Outside::start(&self.program(folder.path()), 1).await?;
        self.latency(&server, samples).await?;
        server.kill().await
    }

    async fn latency<H: Home>(&mut self, home: &H, samples: usize) -> Result<()> {
        let found = workload::latency(home, samples).await?;
        let sync = millis(self.report.machine.sync_p50);
        let what = "from submit to start, 100/s";
        for (share, time) in [("p50", found.p50), ("p99", found.p99)] {
            let figure = self.time(Workload::Latency, &format!("{what}, {share}"), home.label(), time);
            self.add(figure.over(sync, DISK));
        }
        Ok(())
    }

    /// With much waiting: work, restart, look.
    async fn backlog(&mut self) -> Result<()> {
        let (backlog, tasks) = (self.sized(self.plan.backlog), self.sized(20_000));
        let folder = self.folder()?;
        let program = self.program(folder.path());
        let mut server = Outside::start(&program, 1).await?;
        let fill = workload::fill(&server, ONE, backlog).await?;
        self.add(self.rate(Workload::Backlog, &format!("submit until {backlog} wait"), HTTP, fill));
        if self.wants(Workload::Backlog) {
            let alone = self.report.value("W2", DRAIN, HTTP);
            let work = workload::work(&server, ONE, tasks, SINGLE).await?;
            let figure = self.rate(Workload::Backlog, &format!("{DRAIN}, {backlog} waiting"), HTTP, work);
            self.add(match alone {
                Some(alone) => figure.over(alone, "with nothing behind"),
                None => figure,
            });
        }
        if self.wants(Workload::Restart) {
            let (restart, again) = workload::restart(server, &program, SINGLE).await?;
            server = again;
            let after = format!("after kill -9, {backlog} open");
            self.add(self.time(Workload::Restart, &format!("ready {after}"), HTTP, restart.ready));
            self.add(self.time(Workload::Restart, &format!("full speed {after}"), HTTP, restart.full_speed));
        }
        if self.wants(Workload::Pages) {
            for (what, time) in workload::pages(&server).await? {
                self.add(self.time(Workload::Pages, &format!("{what}, p99"), HTTP, time));
            }
        }
        self.memory("after all that", &server)?;
        server.kill().await
    }

    fn memory(&mut self, when: &str, server: &Outside) -> Result<()> {
        let value = server.resident()? as f64 / 1e6;
        let (what, home) = (format!("resident, {when}"), HTTP.to_owned());
        self.add(Figure { workload: "mem", what, home, value, unit: Unit::Megabytes, ratio: None });
        Ok(())
    }
}

const DRAIN: &str = "one task, each finish a call";

/// Fills a machine, then works until all of it has ended.
async fn filled<H: Home>(home: &H, machine: Machine, submissions: usize, crew: Crew) -> Result<Rate> {
    workload::fill(home, machine, submissions).await?;
    workload::work(home, machine, submissions * machine.steps, crew).await
}
