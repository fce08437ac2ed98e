//! A running server, asked from anywhere.

use client::{Client, Filter, Page};
use model::{Millis, Status, Time};
use wire::api::{AuditView, ClockView, StatsView, TokenList};

use super::Check;
use super::operators::operators;

const TOKEN_ENDS_SOON: Millis = Millis::from_secs(14 * 24 * 3_600);
const TOKEN_UNUSED: Millis = Millis::from_secs(30 * 24 * 3_600);
/// A worker that polls asks again within half a minute.
const POLLED_LATELY: u64 = 120_000;
const UNPUBLISHED_MANY: u64 = 10_000;
/// Places with work that are asked about.
const PLACES_MAX: usize = 50;

pub(crate) async fn server(client: &Client) -> Vec<Check> {
    let stats = match client.stats().await {
        Ok(stats) => stats,
        Err(error) => {
            let next = "start it, or name it with --server; a token with any role is enough to ask";
            return vec![Check::wrong("server", error.to_string(), next)];
        }
    };
    let mut checks = vec![condition(&stats)];
    checks.extend(duties(&stats));
    checks.push(clock(client).await);
    checks.push(dead(&stats));
    checks.extend(operators(client).await);
    checks.push(investigations(&stats));
    checks.push(overdue(client).await);
    checks.extend(log(client).await);
    checks.push(tokens(client).await);
    checks.push(workers(client, &stats).await);
    checks
}

fn condition(stats: &StatsView) -> Check {
    match stats.condition.as_str() {
        "running" => match stats.last_event {
            Some(last) => Check::fine("server", format!("it runs; the last event is {last}")),
            None => Check::fine("server", "it runs; this token is for a part of it"),
        },
        other => Check::wrong("server", format!("it is {other}"), "look at its log, and at its store"),
    }
}

fn duties(stats: &StatsView) -> Vec<Check> {
    let stuck = stats.duties.iter().filter(|duty| duty.elsewhere.is_none() && duty.overdue);
    let mut checks: Vec<_> = stuck
        .map(|duty| {
            let ago = duty.last_good_ago.map_or("never".to_owned(), |ago| format!("{ago} ago"));
            let why = duty.last_error.as_deref().unwrap_or("no error was told");
            Check::wrong(
                "duties",
                format!("{} ended well {ago}: {why}", duty.name),
                "look at the server's log",
            )
        })
        .collect();
    if checks.is_empty() {
        checks.push(Check::fine("duties", format!("all {} are done", stats.duties.len())));
    }
    checks
}

async fn clock(client: &Client) -> Check {
    const CHECK: &str = "server clock";
    match client.clock().await {
        Ok(ClockView { doubt: None, now, .. }) => {
            Check::fine(CHECK, format!("it says {now} and is believed"))
        }
        Ok(ClockView { doubt: Some(doubt), .. }) => {
            Check::wrong(CHECK, doubt, "set it right and start the server again, or `milepost clock confirm`")
        }
        Err(error) => Check::warning(CHECK, error.to_string(), "use the same release for both"),
    }
}

fn dead(stats: &StatsView) -> Check {
    let count: u64 =
        stats.counts.iter().filter(|place| place.status == Status::Dead).map(|place| place.count).sum();
    match count {
        0 => Check::fine("dead letters", "there are none"),
        _ => Check::warning(
            "dead letters",
            format!("{count} are dead"),
            "see `milepost dead list`, then redrive",
        ),
    }
}

fn investigations(stats: &StatsView) -> Check {
    const CHECK: &str = "investigations";
    match stats.investigations.iter().map(|ends| ends.open).sum() {
        0_u64 => Check::fine(CHECK, "there is nothing to look into"),
        open => Check::warning(
            CHECK,
            format!("somebody should look into how {open} ended"),
            "see `milepost investigations list`, then acknowledge them",
        ),
    }
}

async fn overdue(client: &Client) -> Check {
    match client.overdue(None, Some(100), None).await {
        Ok(page) if page.submissions.is_empty() => Check::fine("service levels", "nothing open is late"),
        Ok(page) => {
            let more = if page.next.is_some() { "more than " } else { "" };
            let found = format!("{more}{} are late", page.submissions.len());
            Check::warning("service levels", found, "see `milepost overdue`")
        }
        Err(error) => Check::warning("service levels", error.to_string(), "ask with another token"),
    }
}

async fn log(client: &Client) -> Vec<Check> {
    const CHECK: &str = "audit log";
    let view: AuditView = match client.audit_status().await {
        Ok(view) => match serde_json::from_str(view.as_str()) {
            Ok(view) => view,
            Err(error) => {
                return vec![Check::warning(CHECK, error.to_string(), "use the same release for both")];
            }
        },
        Err(error) => {
            let next = "over PostgreSQL, give all servers one key with --audit-key";
            return vec![Check::warning(CHECK, error.to_string(), next)];
        }
    };
    let reason = view.reason.clone().unwrap_or_default();
    let unpublished = view.unpublished.unwrap_or_default();
    let mut checks = vec![match view.standing.as_str() {
        "running" if unpublished > UNPUBLISHED_MANY => {
            let found = format!("{unpublished} leaves wait for a checkpoint");
            Check::warning(CHECK, found, "look again in a minute; if it grows, look at the server's log")
        }
        "running" => Check::fine(CHECK, format!("{} leaves are under the checkpoint", view.size)),
        "refused" => Check::wrong(CHECK, reason, "find out why; then `milepost audit fork --reason TEXT`"),
        _ => Check::wrong(CHECK, reason, "look at the server's log"),
    }];
    for witness in &view.witnesses {
        if let Some(missing) = &witness.missing {
            let found = format!("{} does not cosign: {missing}", witness.name);
            checks.push(Check::warning("witness", found, "ask whoever runs it"));
        }
    }
    if view.witnesses.is_empty() {
        checks.push(Check::fine("witness", "none is asked: `serve --witness-policy` would"));
    }
    checks
}

async fn tokens(client: &Client) -> Check {
    const CHECK: &str = "tokens";
    match client.tokens().await {
        Ok(list) => judged(&list, engine::clock::wall()),
        Err(_) => Check::fine(CHECK, "not looked at: that needs an admin's token without a scope"),
    }
}

fn judged(list: &TokenList, now: Time) -> Check {
    const CHECK: &str = "tokens";
    if list.tokens.is_empty() {
        return Check::warning(
            CHECK,
            "there is none: everybody on this machine may do everything",
            "make the first with `milepost tokens create NAME --role admin`",
        );
    }
    let names = |wanted: &dyn Fn(&wire::api::TokenView) -> bool| {
        let found = list.tokens.iter().filter(|token| wanted(token));
        found.map(|token| token.subject.to_string()).take(5).collect::<Vec<_>>().join(", ")
    };
    let soon = names(&|token| token.expires_at.is_some_and(|at| at > now && at <= now.plus(TOKEN_ENDS_SOON)));
    if !soon.is_empty() {
        let found = format!("these end within {TOKEN_ENDS_SOON}: {soon}");
        return Check::warning(CHECK, found, "rotate them with `milepost tokens rotate ID`");
    }
    let unused = names(&|token| token.last_used_at.is_none() && token.created_at.plus(TOKEN_UNUSED) <= now);
    match unused.is_empty() {
        true => Check::fine(CHECK, format!("{} are known", list.tokens.len())),
        false => Check::warning(CHECK, format!("never used: {unused}"), "revoke what nobody needs"),
    }
}

/// For each place where work waits: whether somebody asks for it.
async fn workers(client: &Client, stats: &StatsView) -> Check {
    const CHECK: &str = "workers";
    let mut missing = Vec::new();
    let open = stats.counts.iter().filter(|place| place.status == Status::Open && place.count > 0);
    for place in open.take(PLACES_MAX) {
        let filter = Filter {
            pipeline: Some(place.pipeline.to_string()),
            state: Some(place.state.to_string()),
            status: Some(Status::Open),
            ..Filter::default()
        };
        let one = Page { limit: Some(1), ..Page::default() };
        let Ok(found) = client.submissions(&filter, &one).await else { continue };
        let Some(first) = found.submissions.first() else { continue };
        let Ok(why) = client.why(first.id).await else { continue };
        for reason in why.reasons.iter().filter(|reason| reason.code == "worker") {
            let ago = reason.details.get("polled_ago");
            let ago = ago.and_then(|ago| serde_json::from_value::<Millis>(ago.clone()).ok());
            if ago.is_none_or(|ago| ago.millis() > POLLED_LATELY)
                && let Some(task) = reason.details.get("task").and_then(|task| task.as_str())
            {
                missing.push(task.to_owned());
            }
        }
    }
    missing.sort();
    missing.dedup();
    match missing.is_empty() {
        true => Check::fine(CHECK, "somebody asks for all that waits"),
        false => Check::wrong(
            CHECK,
            format!("work waits and nobody has asked this server for it lately: {}", missing.join(", ")),
            "start workers for these tasks, or look why they do not poll",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn list(tokens: serde_json::Value) -> TokenList {
        serde_json::from_value(serde_json::json!({ "tokens": tokens })).expect("a list of tokens")
    }

    #[test]
    fn tokens_that_end_soon_or_are_never_used_are_named() {
        let now: Time = "2026-11-16T00:00:00.000Z".parse().expect("a time");
        let token = |subject: &str, ends: Option<&str>, used: Option<&str>| {
            serde_json::json!({
                "id": "x", "subject": subject, "role": "worker", "created_at": "2026-01-01T00:00:00.000Z",
                "expires_at": ends, "last_used_at": used, "pipelines": null, "labels": {},
            })
        };
        let used = Some("2026-11-15T00:00:00.000Z");
        assert_eq!(judged(&list(serde_json::json!([])), now).verdict, Verdict::Warning);
        let fine = list(serde_json::json!([
            token("a", None, used),
            token("b", Some("2027-06-01T00:00:00.000Z"), used)
        ]));
        assert_eq!(judged(&fine, now).verdict, Verdict::Fine);
        let soon =
            judged(&list(serde_json::json!([token("c", Some("2026-11-20T00:00:00.000Z"), used)])), now);
        assert!(soon.verdict == Verdict::Warning && soon.found.contains("end within"), "{soon:?}");
        let unused = judged(&list(serde_json::json!([token("d", None, None)])), now);
        assert!(unused.verdict == Verdict::Warning && unused.found.contains("never used: d"), "{unused:?}");
    }
}
