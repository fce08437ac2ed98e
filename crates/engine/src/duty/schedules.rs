use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::admit::{Application, Door, admit};
use model::pipeline::Schedule;
use model::schema::Fuel;
use model::{Caller, Pipeline, Role};

use super::{Duty, Look, Pass};
use crate::core::{Ask, Due, Scheduled, Schedules as Served, Tick};
use crate::registry;

/// Submits what pipelines ask for by the clock.
///
/// The last of the times that were missed while nothing ran is served, and the others are not: a nightly report is
/// wanted once after a week's outage, not seven times.
#[derive(Debug, Default)]
pub struct Schedules;

impl Duty for Schedules {
    fn name(&self) -> &'static str {
        "schedules"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let mut pass = Pass::default();
        if look.doubtful {
            // A time that was served is served for ever: once the clock is right again, nothing would come until then.
            return Ok(pass);
        }
        let scheduled: Vec<_> =
            look.versions.all().filter(|pipeline| !pipeline.schedules.is_empty()).collect();
        if scheduled.is_empty() {
            return Ok(pass);
        }
        let served: BTreeMap<_, _> = registry::readable::<Served>(look.store)?.into_iter().collect();
        for pipeline in scheduled {
            for schedule in &pipeline.schedules {
                let name = format!("{}/{}", pipeline.name, schedule.id);
                let last = served.get(&name).cloned();
                let tick = due(look, pipeline, schedule, last);
                pass.inputs.extend(tick.map(|tick| Ask::Tick(Box::new(tick)).into()));
            }
        }
        Ok(pass)
    }
}

fn due(
    look: Look<'_>,
    pipeline: &Arc<Pipeline>,
    schedule: &Schedule,
    last: Option<Scheduled>,
) -> Option<Tick> {
    let tick = |at, due| Tick { pipeline: pipeline.name.clone(), schedule: schedule.id.clone(), at, due };
    // A schedule begins when it is first seen: what it would have done before is nobody's wish.
    let Some(last) = last else { return Some(tick(look.now, Due::Begin)) };
    let at = schedule.cron.until(look.now).filter(|at| *at > last.at)?;
    let application = Application {
        caller: Caller::new("schedule", Role::Admin),
        payload: schedule.payload.clone(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: Door::Schedule,
    };
    match admit(pipeline, application, &mut Fuel::shared()) {
        Ok(admission) => Some(tick(at, Due::Submit(admission.by_clock().into()))),
        Err(refusal) => {
            tracing::warn!(
                pipeline = &*pipeline.name,
                code = refusal.code.as_str(),
                "a scheduled submission was not admitted: {refusal}"
            );
            Some(tick(at, Due::Refused(refusal.message)))
        }
    }
}
