//! The engine in process beside the raw loop, in turns: what else the machine does meanwhile happens to both.

use anyhow::Result;

use super::home::{DRAIN, LANED, MANY, SINGLE, WALK, filled};
use super::references::References;
use super::{Run, TURNS, Workload, measured_store};
use crate::pipelines::{FIVE, LANES, ONE};
use crate::raw::{RawLoop, Sample};
use crate::workload::{self, Rate};

const RAW: &str = "raw loop";
const INSIDE: &str = "in process";

/// The sums of what all turns did.
#[derive(Debug, Default)]
struct Sums {
    raw_submits: Rate,
    raw_drain: Rate,
    raw_walk: Rate,
    submits: Rate,
    drain: Rate,
    walk: Rate,
    unlogged: Rate,
    lanes: Rate,
}

impl Run<'_> {
    /// Gives what is measured over HTTP something to be compared to.
    pub(super) async fn in_turns(&mut self) -> Result<References> {
        let sample = self.sample().await?;
        let mut sums = Sums::default();
        for _ in 0..TURNS {
            self.raw_turn(&sample, &mut sums)?;
            self.turn(&mut sums).await?;
        }
        let mut references = References::default();
        if self.wants(Workload::Submit) {
            let raw = self.reference(Workload::Submit, "the same inserts, 500 a commit", sums.raw_submits);
            let figure = self.rate(Workload::Submit, "submit, 100 a call", INSIDE, sums.submits);
            self.add(figure.over_some(raw));
            (references.single, references.bulk) = (raw, raw);
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            let raw = self.reference(Workload::Drain, "the same writes, 64 a commit", sums.raw_drain);
            let figure = self.rate(Workload::Drain, DRAIN, INSIDE, sums.drain);
            self.add(figure.over_some(raw));
            references.drain = Some((sums.drain.per_second(), INSIDE));
        }
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            let raw = self.reference(Workload::Walk, "the same writes, 512 a commit", sums.raw_walk);
            let walk = self.rate(Workload::Walk, WALK, INSIDE, sums.walk);
            self.add(walk.over_some(raw));
            let unlogged = self.rate(Workload::Walk, "without the audit log", INSIDE, sums.unlogged);
            self.add(unlogged.over_some(Some((sums.walk.per_second(), "with it"))));
            references.walk = Some((sums.walk.per_second(), INSIDE));
        }
        if self.wants(Workload::Lanes) {
            let lanes = self.rate(Workload::Lanes, LANED, INSIDE, sums.lanes);
            self.add(lanes.over_some(Some((sums.walk.per_second(), "without lanes"))));
        }
        Ok(references)
    }

    fn reference(&mut self, workload: Workload, what: &str, rate: Rate) -> super::references::Reference {
        self.add(self.rate(workload, what, RAW, rate));
        Some((rate.per_second(), RAW))
    }

    fn raw_turn(&self, sample: &Sample, sums: &mut Sums) -> Result<()> {
        let open = || -> Result<(RawLoop, tempfile::TempDir)> {
            let folder = measured_store::folder(self.plan)?;
            Ok((RawLoop::open(folder.path(), sample.clone())?, folder))
        };
        if self.wants(Workload::Submit) {
            let (mut raw, _folder) = open()?;
            sums.raw_submits += raw.submits(self.sized(50_000), 500)?;
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            let (mut raw, _folder) = open()?;
            raw.submits(self.sized(20_000), 500)?;
            sums.raw_drain += raw.steps(1, SINGLE.callers)?;
        }
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            let (mut raw, _folder) = open()?;
            raw.submits(self.sized(5_000), 500)?;
            sums.raw_walk += raw.steps(FIVE.steps, MANY.callers * MANY.claim)?;
        }
        Ok(())
    }

    async fn turn(&self, sums: &mut Sums) -> Result<()> {
        let ground = measured_store::Ground::folder(self.plan);
        if self.wants(Workload::Submit) {
            let room = ground.room().await?;
            sums.submits +=
                workload::submit(&room.engine, ONE, self.sized(50_000), SINGLE.callers, 100).await?;
            room.leave().await?;
        }
        if self.wants(Workload::Drain) || self.wants(Workload::Backlog) {
            let room = ground.room().await?;
            sums.drain += filled(&room.engine, ONE, self.sized(20_000), SINGLE).await?;
            room.leave().await?;
        }
        if self.wants(Workload::Walk) || self.wants(Workload::Lanes) {
            let room = ground.room().await?;
            sums.walk += filled(&room.engine, FIVE, self.sized(5_000), MANY).await?;
            room.leave().await?;
            let room = ground.room_with(false).await?;
            sums.unlogged += filled(&room.engine, FIVE, self.sized(5_000), MANY).await?;
            room.leave().await?;
        }
        if self.wants(Workload::Lanes) {
            let room = ground.room().await?;
            sums.lanes += filled(&room.engine, LANES, self.sized(5_000), MANY).await?;
            room.leave().await?;
        }
        Ok(())
    }
}
