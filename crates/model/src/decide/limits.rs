//! Limits: at most so many leased at once per value of a label.
//!
//! A limit of five is five slots, and two leases never have the same one: the store sees to that as it does for keys.
//! A submission that finds none free waits beside the queue under the limit's name and its own task's: a task without
//! workers must not keep the slot from one that has some.

use std::collections::{BTreeMap, BTreeSet};

use crate::Name;
use crate::context::Context;
use crate::owed::{Effect, Owed, Recipient};
use crate::pipeline::Pipeline;
use crate::submission::{Slot, Submission, Wait};

impl Pipeline {
    /// The limits a submission counts under while it is leased: labels and their values.
    pub fn limits_of<'a>(&'a self, row: &'a Submission) -> impl Iterator<Item = (&'a Name, &'a Name)> {
        self.limits.keys().filter_map(|label| row.labels.get_key_value(label))
    }

    /// The limit that keeps a submission out of its queue: its label, value and how many it lets through.
    #[must_use]
    pub fn limit_that_parks<'a>(&'a self, row: &'a Submission) -> Option<(&'a Name, &'a Name, u32)> {
        let (Some(parked), Wait::Worker { task, .. }) = (&row.parked, &row.wait) else { return None };
        let (label, value) =
            self.limits_of(row).find(|(label, value)| aside(self, (label, value), task) == *parked)?;
        Some((label, value, self.limits[label]))
    }
}

pub(super) enum Full {
    /// Wait under this name.
    Aside(Name),
    /// Nobody looked at the limit; the next claim will.
    Unseen,
}

/// The slots a lease takes.
pub(super) fn slots(pipeline: &Pipeline, row: &Submission, context: &Context) -> Result<Vec<Slot>, Full> {
    let mut slots = Vec::new();
    for (label, value) in pipeline.limits_of(row) {
        let taken = context.slots.get(label).ok_or(Full::Unseen)?;
        let free = (0..pipeline.limits[label]).find(|no| !taken.contains(no));
        let no = free.ok_or_else(|| Full::Aside(aside(pipeline, (label, value), wanted(row))))?;
        slots.push(Slot { label: label.clone(), value: value.clone(), no });
    }
    Ok(slots)
}

/// Lists what a change means for those beside the queue: whoever gives back a slot, or leaves the queue without taking
/// one, lets the first of them back in.
pub(super) fn freed(pipeline: &Pipeline, before: &Submission, after: &Submission) -> Vec<Owed> {
    let slots = before.lease().map_or(&[][..], |lease| &lease.slots);
    if pipeline.limits.is_empty() && slots.is_empty() {
        return Vec::new();
    }
    let mut free: BTreeSet<(Name, Name)> = BTreeSet::new();
    let pair = |label: &Name, value: &Name| (label.clone(), value.clone());
    if before.lease().map(|lease| lease.no) != after.lease().map(|lease| lease.no) {
        free.extend(slots.iter().map(|slot| pair(&slot.label, &slot.value)));
    }
    if queue(before).is_some() && queue(before) != queue(after) && after.lease().is_none() {
        free.extend(pipeline.limits_of(before).map(|(label, value)| pair(label, value)));
        if let Some((label, value, _)) = pipeline.limit_that_parks(after) {
            free.remove(&pair(label, value));
        }
    }
    // It may just have been its turn, and went elsewhere instead.
    if let Some((label, value, _)) = pipeline.limit_that_parks(before)
        && before.parked != after.parked
        && queue(after).is_none()
    {
        free.insert(pair(label, value));
    }
    let tasks: BTreeSet<&Name> = pipeline.tasks().map(|task| &task.name).collect();
    let names = free
        .iter()
        .flat_map(|(label, value)| tasks.iter().map(move |task| aside(pipeline, (label, value), task)));
    names.map(|name| Owed { to: Recipient::FirstParked(name), effect: Effect::Freed }).collect()
}

/// The queue a submission stands in: that of its task, for its limits.
fn queue(row: &Submission) -> Option<(&Name, &BTreeMap<Name, Name>)> {
    match &row.wait {
        Wait::Worker { task, .. } if row.parked.is_none() => Some((task, &row.labels)),
        _ => None,
    }
}

fn wanted(row: &Submission) -> &str {
    match &row.wait {
        Wait::Worker { task, .. } => task,
        _ => "",
    }
}

/// Returns the name under which those wait that a limit keeps out.
fn aside(pipeline: &Pipeline, (label, value): (&Name, &Name), task: &str) -> Name {
    format!("limit {} {label}={value} {task}", pipeline.name).into()
}
