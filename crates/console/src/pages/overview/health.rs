//! The health of what stands below the pipelines: the engine, the store, the audit log.

use wire::Millis;
use wire::api::{FiguresView, StatsView};

use crate::ask::Visit;
use crate::look::{Eye, span};
use crate::parts::{bytes, number};

/// A backup that is older is worth a look.
const BACKUP_OLD: Millis = Millis::from_secs(2 * 86_400);

/// A fact about the server, and where to read more.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) tone: &'static str,
    pub(super) to: &'static str,
}

impl Fact {
    fn new(name: &'static str, text: impl Into<String>, tone: &'static str, to: &'static str) -> Fact {
        Fact { name, text: text.into(), tone, to }
    }
}

pub(super) async fn health(visit: &Visit, eye: &Eye, stats: &StatsView, figures: &FiguresView) -> Vec<Fact> {
    let tone = if stats.condition == "running" { "good" } else { "dead" };
    let mut facts = vec![Fact::new("Engine", stats.condition.clone(), tone, "/console/servers")];
    facts.extend(chores(stats));
    if let Some(doubt) = visit.app.clock().doubt {
        facts.push(Fact::new("Clock", doubt, "dead", "/console/servers"));
    }
    if let Some(size) = figures.store.as_ref().and_then(|store| store.bytes) {
        facts.push(Fact::new("Store", bytes(size), "good", "/console/servers"));
    }
    if let Some(store) = &figures.store {
        let (text, tone) = match store.backup_ago {
            Some(ago) => (format!("{} ago", span(ago)), if ago > BACKUP_OLD { "warn" } else { "good" }),
            None => ("none that the server knows of".to_owned(), ""),
        };
        facts.push(Fact::new("Backup", text, tone, "/console/servers"));
    }
    if let Some(last) = stats.last_event {
        facts.push(Fact::new("Events", number(last), "good", "/console/tail"));
    }
    match visit.app.log_standing().await {
        Ok(log) => {
            let tone = if log.standing == "running" { "good" } else { "dead" };
            facts.push(Fact::new(
                "Audit log",
                format!("{} leaves", number(log.size)),
                tone,
                "/console/audit",
            ));
            let signed = log.checkpoint_at.map(|at| eye.when(at).relative);
            let tone = if signed.is_some() { tone } else { "warn" };
            let signed = signed.unwrap_or_else(|| "not signed yet".to_owned());
            facts.push(Fact::new("Checkpoint", signed, tone, "/console/audit"));
        }
        Err(_) => facts.push(Fact::new("Audit log", "none", "", "/console/audit")),
    }
    facts
}

fn chores(stats: &StatsView) -> Option<Fact> {
    let late: Vec<String> =
        stats.duties.iter().filter(|duty| duty.overdue).map(|duty| duty.name.to_string()).collect();
    let last = stats.duties.iter().filter_map(|duty| duty.last_good_ago).max();
    (!stats.duties.is_empty()).then(|| match (late.is_empty(), last) {
        (true, Some(last)) => {
            let text = format!("{} run, each within {}", stats.duties.len(), span(last));
            Fact::new("Chores", text, "good", "/console/servers")
        }
        (true, None) => Fact::new("Chores", "none has run yet", "", "/console/servers"),
        (false, _) => Fact::new("Chores", format!("late: {}", late.join(", ")), "warn", "/console/servers"),
    })
}
