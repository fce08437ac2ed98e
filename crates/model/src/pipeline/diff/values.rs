//! Values as a person would write them.

use std::fmt::Write as _;

use crate::Name;
use crate::pipeline::{After, Backoff, Clock, Every, Leg, Metric, OnDead, RetryRule, Sla, Times};

pub(super) fn words(names: &[Name]) -> String {
    names.iter().map(|name| &**name).collect::<Vec<_>>().join(", ")
}

pub(super) fn after(after: &After) -> String {
    match after {
        After::Fixed(span) => span.to_string(),
        After::Computed(expr) => expr.source().to_owned(),
    }
}

pub(super) fn clock(clock: &Clock) -> String {
    match clock {
        Clock::For(span) => span.to_string(),
        Clock::Until(time) => format!("until {time}"),
        Clock::Computed(expr) => expr.source().to_owned(),
    }
}

pub(super) fn on_dead(on_dead: OnDead) -> &'static str {
    match on_dead {
        OnDead::Free => "free",
        OnDead::Block => "block",
    }
}

/// Describes how often is tried again: `3 times after 30s, exponential, at most 1h`.
pub(super) fn rule(rule: &RetryRule) -> String {
    let mut text = match rule.times {
        Times::AtMost(0) => return "never".to_owned(),
        Times::AtMost(1) => "once".to_owned(),
        Times::AtMost(times) => format!("{times} times"),
        Times::Forever => "forever".to_owned(),
    };
    let delay = match &rule.delay {
        Every::Same(span) => span.to_string(),
        Every::Each(spans) => spans.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    let _ = write!(text, " after {delay}");
    match rule.backoff {
        Backoff::Constant => {}
        Backoff::Linear => text.push_str(", linear"),
        Backoff::Exponential => text.push_str(", exponential"),
    }
    if let Some(max) = rule.max {
        let _ = write!(text, ", at most {max}");
    }
    if rule.jitter > 0.0 {
        let _ = write!(text, ", jitter {}", rule.jitter);
    }
    text
}

pub(super) fn sla(sla: &Sla) -> String {
    let missed = sla.missed.as_ref().map(|missed| {
        let to = missed.edge.iter().flat_map(|edge| edge.targets()).map(|to| format!("moves to {to}"));
        let tells = (!missed.notify.is_empty()).then(|| format!("tells {}", words(&missed.notify)));
        format!("missed: {}", to.chain(tells).collect::<Vec<_>>().join(" and "))
    });
    let parts = [
        sla.target.as_ref().map(|target| format!("target {target}")),
        sla.p95.as_ref().map(|p95| format!("p95 {p95}")),
        sla.calendar.as_ref().map(|calendar| format!("calendar {calendar}")),
        missed,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) fn leg(leg: &Leg) -> String {
    let parts = [("from", &leg.from), ("to", &leg.to), ("not via", &leg.not_via)];
    let named = parts.iter().filter(|(_, states)| !states.is_empty());
    let named = named.map(|(word, states)| format!("{word} {}", words(states)));
    named.chain([sla(&leg.sla)]).collect::<Vec<_>>().join(", ")
}

pub(super) fn metric(metric: &Metric) -> String {
    let kind = metric.kind.as_str();
    let series = metric.series.iter().map(|series| {
        let mut text = format!("{kind} of {}", series.of.as_str());
        if !series.states.is_empty() {
            let _ = write!(text, " in {}", words(&series.states));
        }
        for (label, value) in &series.labels {
            let _ = write!(text, ", {label} {value}");
        }
        text
    });
    series.collect::<Vec<_>>().join("; ")
}
