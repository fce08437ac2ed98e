//! The flow of the last minutes, as pages show it: how much comes and goes, minute by minute.

use std::fmt::Write as _;

use wire::Time;
use wire::api::{EdgeView, FiguresView};

/// The minutes that a rate is taken over, the one under way included.
const RATE_MINUTES: usize = 5;
/// The minutes that a sparkline shows.
const SHOWN_MINUTES: usize = 30;
/// The sparkline's columns, and its line between what came and what went.
const COLUMN: usize = 6;
const MIDDLE: u64 = 22;
const UP: u64 = 21;
const DOWN: u64 = 15;

/// The numbers that came into a pipeline and that ended in it, by minutes: the oldest first, the last is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) came: Vec<u64>,
    pub(crate) went: Vec<u64>,
}

/// A drawing of a flow: two paths, and what they say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spark {
    pub(crate) came: String,
    pub(crate) went: String,
    pub(crate) about: String,
}

impl Flow {
    /// Adds up what entered a pipeline and what entered one of its ends.
    pub(crate) fn of(figures: &FiguresView, pipeline: &str, is_final: impl Fn(&str) -> bool) -> Flow {
        let mut flow = Flow::default();
        for edge in figures.flow.edges.iter().filter(|edge| *edge.pipeline == *pipeline) {
            if edge.from.is_none() {
                add(&mut flow.came, &edge.minutes);
            }
            if is_final(&edge.to) && !edge.from.as_deref().is_some_and(&is_final) {
                add(&mut flow.went, &edge.minutes);
            }
        }
        flow
    }

    /// Draws the last half hour: what came upwards, what went downwards.
    pub(crate) fn spark(&self) -> Spark {
        let (came, went) = (last(&self.came, SHOWN_MINUTES), last(&self.went, SHOWN_MINUTES));
        let most = came.iter().chain(went).copied().max().unwrap_or(0);
        let sum = |counts: &[u64]| crate::parts::number(counts.iter().sum());
        Spark {
            came: columns(came, most, UP, '-'),
            went: columns(went, most, DOWN, ' '),
            about: format!("In the last half hour {} came in and {} ended", sum(came), sum(went)),
        }
    }
}

fn add(sum: &mut Vec<u64>, minutes: &[u64]) {
    sum.resize(sum.len().max(minutes.len()), 0);
    sum.iter_mut().zip(minutes).for_each(|(sum, count)| *sum += count);
}

fn last(counts: &[u64], most: usize) -> &[u64] {
    &counts[counts.len().saturating_sub(most)..]
}

/// Writes a column for each minute in which something happened. The least of it can be seen.
fn columns(counts: &[u64], most: u64, height_max: u64, sign: char) -> String {
    let first = SHOWN_MINUTES - counts.len();
    let mut path = String::new();
    for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (u128::from(*count) * u128::from(height_max) / u128::from(most.max(1))).max(2);
        let back = if sign == '-' { "" } else { "-" };
        let (x, width) = ((first + at) * COLUMN, COLUMN - 1);
        let _ = write!(path, "M{x} {MIDDLE}v{}{height}h{width}v{back}{height}z", sign.to_string().trim());
    }
    path
}

/// Returns how much of the minute under way is over.
pub(crate) fn under_way(figures: &FiguresView, now: Time) -> f64 {
    let minutes = now.millis().saturating_sub(figures.flow.since.millis()).rem_euclid(60_000);
    minutes as f64 / 60_000.0
}

/// Returns how many a minute there were lately. What began a moment ago is not taken for rare.
pub(crate) fn per_minute(minutes: &[u64], under_way: f64) -> f64 {
    let began = minutes.iter().position(|count| *count > 0);
    let Some(began) = began else { return 0.0 };
    let counted = RATE_MINUTES.min(minutes.len() - began);
    let sum: u64 = last(minutes, counted).iter().sum();
    sum as f64 / ((counted - 1) as f64 + under_way).max(1.0)
}

/// Writes a rate: measured over minutes, so that more digits would say nothing.
pub(crate) fn shown(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        ..0.1 => "< 0.1".to_owned(),
        ..100.0 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// Returns the rates along the edges of a pipeline: those where something moved.
pub(crate) fn rates<'f>(
    figures: &'f FiguresView,
    pipeline: &'f str,
    under_way: f64,
) -> impl Iterator<Item = (&'f EdgeView, f64)> {
    let mine = figures.flow.edges.iter().filter(move |edge| *edge.pipeline == *pipeline);
    mine.map(move |edge| (edge, per_minute(&edge.minutes, under_way))).filter(|(_, rate)| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(last: &[u64]) -> Vec<u64> {
        let mut all = vec![0; 180 - last.len()];
        all.extend(last);
        all
    }

    #[test]
    fn a_rate_is_of_the_last_minutes_and_of_no_more_than_there_were() {
        assert_eq!(per_minute(&minutes(&[]), 0.5), 0.0);
        assert_eq!(per_minute(&minutes(&[6]), 0.5), 6.0, "half a minute is not taken for a whole one");
        assert_eq!(per_minute(&minutes(&[3, 6]), 0.5), 6.0);
        assert_eq!(
            per_minute(&minutes(&[900, 1, 1, 1, 1, 0]), 0.0),
            1.0,
            "what is longer ago does not count"
        );
        assert_eq!(per_minute(&minutes(&[900, 0, 0, 0, 0, 0]), 0.5), 0.0);
        assert_eq!((shown(0.04), shown(3.25), shown(1234.5)), ("< 0.1".into(), "3.2".into(), "1234".into()));
    }

    #[test]
    fn a_sparkline_shows_what_came_above_and_what_went_below() {
        let flow = Flow { came: minutes(&[4, 0, 2]), went: minutes(&[1]) };
        let spark = flow.spark();
        assert_eq!(spark.came, "M162 22v-21h5v21zM174 22v-10h5v10z");
        assert_eq!(spark.went, "M174 22v3h5v-3z");
        assert!(Flow::default().spark().came.is_empty());
    }
}
