//! Lanes that somebody is in line for, and who is in the way.

use model::{Name, Refusal};
use store::{LaneKey, Store};
use wire::api::{BlockerView, LaneLine, LanePage};

use crate::{App, Visitor};

impl App {
    /// Lists the lanes of a pipeline that somebody is in line for, in the order of their names.
    pub async fn lanes(
        &self,
        pipeline: Name,
        after: Option<Name>,
        limit: usize,
    ) -> Result<LanePage, Refusal> {
        self.visitor.check_sees(&pipeline)?;
        self.visitor.check_all_labels()?;
        self.in_force(&self.engine.pipelines().current(), &pipeline)?;
        let (visitor, after) = (self.visitor.clone(), after.unwrap_or_else(|| "".into()));
        let mut lanes = self
            .engine
            .read(move |store| {
                let lanes = store.lanes(&pipeline, &after, limit + 1)?;
                lanes
                    .into_iter()
                    .map(|lane| line(store, &visitor, &pipeline, lane))
                    .collect::<Result<Vec<_>, _>>()
            })
            .await?;
        let more = lanes.len() > limit;
        lanes.truncate(limit);
        let next = lanes.last().filter(|_| more).map(|last| last.lane.clone());
        Ok(LanePage { lanes, next })
    }
}

fn line(store: &dyn Store, visitor: &Visitor, pipeline: &Name, lane: Name) -> Result<LaneLine, store::Error> {
    let key = LaneKey { pipeline: pipeline.clone(), lane: lane.clone() };
    let line = store.line(&key, 1)?;
    let row = |id| -> Result<_, store::Error> {
        Ok(store.submission(id)?.map(|(row, _)| row).filter(|row| visitor.sees_row(row)))
    };
    let blocker = line.holder.map(row).transpose()?.flatten().map(|row| BlockerView {
        submission: row.id,
        state: row.state,
        status: row.status,
        entered_at: row.entered_at,
    });
    let first = line.waiting.first().copied().map(row).transpose()?.flatten();
    Ok(LaneLine {
        pipeline: pipeline.clone(),
        lane,
        blocker,
        first: first.as_ref().map(|row| row.id),
        first_created_at: first.map(|row| row.created_at),
    })
}
