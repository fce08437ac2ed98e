//! Errors as people read them: what is wrong, the code to look up, and what to do next.

use client::Error;
use model::schema::Schema;
use serde_json::Value;
use wire::api::Problem;

use crate::exit::{Exit, Stop};
use crate::logging;
use crate::output::{plain, say};
use crate::remote::program;

/// Says what went wrong on stderr, and gives the exit for it.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        say_error(&stop.message);
        say_next(stop.next.as_deref());
        return stop.exit;
    }
    match error.downcast_ref::<Error>() {
        Some(Error::Problem(problem)) => refused(problem),
        Some(error @ Error::Unreachable { .. }) => {
            say_error(&error.to_string());
            say_next(Some("start a server with `milepost serve`, or say where it is with --server"));
            Exit::Unreachable
        }
        Some(error @ Error::Scheme { .. }) => {
            say_error(&error.to_string());
            say_next(Some("say so with --server or MILEPOST_SERVER"));
            Exit::Unreachable
        }
        Some(error @ (Error::Protocol(_) | Error::TooLarge { .. })) => {
            say_error(&error.to_string());
            say_next(Some("check the address given with --server, and the server's version"));
            Exit::Unreachable
        }
        Some(error @ Error::Setup(_)) => {
            say_error(&error.to_string());
            Exit::Usage
        }
        None => {
            say_error(&format!("{error:#}"));
            Exit::Negative
        }
    }
}

/// Says the same as one line of a log of objects, for a server whose log is read by programs.
pub(crate) fn report_as_log(error: &anyhow::Error) -> Exit {
    let stop = error.downcast_ref::<Stop>();
    let next = stop.and_then(|stop| stop.next.as_deref());
    say!("{}", logging::json_line("ERROR", &format!("{error:#}"), next));
    stop.map_or(Exit::Negative, |stop| stop.exit)
}

fn say_error(message: &str) {
    // A report about a file brings its own heading.
    if message.starts_with("error[") { say!("{message}") } else { say!("error: {message}") }
}

fn say_next(next: Option<&str>) {
    if let Some(next) = next {
        say!("  next: {next}");
    }
}

fn refused(problem: &Problem) -> Exit {
    if let Some(rendered) = problem.more.get("rendered").and_then(Value::as_str) {
        say!("{}", rendered.trim_end());
    }
    say_error(&format!("{} ({})", plain(&problem.detail), problem.code));
    for name in ["actions", "states", "outcomes", "fields"] {
        let list = words(problem, name);
        // The sentence may have named them already.
        if !list.is_empty() && !problem.detail.contains(&list.join(", ")) {
            say!("  {name}: {}", plain(&list.join(", ")));
        }
    }
    for violation in problem.more.get("violations").and_then(Value::as_array).into_iter().flatten().skip(1) {
        let text = |name: &str| plain(violation.get(name).and_then(Value::as_str).unwrap_or_default());
        let (message, path) = (text("message"), text("path"));
        let at = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
        say!("  also: {message}{at}");
    }
    let violations = problem.more.get("violations").and_then(Value::as_array).map_or(0, Vec::len);
    if violations >= Schema::VIOLATIONS_MAX {
        say!("  only the first {violations} are told; there may be more");
    }
    say_next(next(problem).as_deref());
    exit(problem)
}

fn exit(problem: &Problem) -> Exit {
    match problem.status {
        404 => Exit::NotFound,
        401 | 403 => Exit::Auth,
        400..500 => Exit::Refused,
        _ => Exit::Unreachable,
    }
}

fn next(problem: &Problem) -> Option<String> {
    let program = program();
    Some(match &*problem.code {
        "unknown-submission" => format!("`{program} list` shows what there is"),
        "unknown-pipeline" => format!("`{program} apply FILE` brings a pipeline into force"),
        "action-not-allowed" => match words(problem, "actions").first() {
            Some(action) => format!("`{program} act ID {action}` is one of those it has"),
            None => format!("`{program} show ID` shows where it is and how it got there"),
        },
        "unauthorized" => "give your token with --token or MILEPOST_TOKEN".to_owned(),
        "role-required" => "use a token with the right for this: --token or MILEPOST_TOKEN".to_owned(),
        "reason-required" => "say why with --reason".to_owned(),
        "pick-required" => "say which with --to".to_owned(),
        "schema-violation" => "correct the document and send it again".to_owned(),
        "version-exists" | "version-outdated" => "raise `version` in the file and apply it again".to_owned(),
        "duplicate-key" | "key-conflict" => {
            let id = problem.more.get("submission").and_then(Value::as_str).unwrap_or("ID");
            format!("`{program} show {id}` shows the one that is open")
        }
        "not-dead" => format!("`{program} why ID` says what it waits for"),
        "unknown-version" => format!("`{program} apply FILE` brings a version into force"),
        "unknown-operation" => format!("`{program} operations` shows those of the last 30 days"),
        "operation-over" => format!("`{program} operations show ID` shows how it ended"),
        "self-approval" => "let somebody else do it".to_owned(),
        "unknown-token" => format!("`{program} tokens list` shows those there are"),
        "unknown-hold" => format!("`{program} holds` shows those in force"),
        "feed-retired" => "leave out --after to begin with what there is".to_owned(),
        "key-mismatch" => "leave out --key".to_owned(),
        "revision-mismatch" | "guard-not-met" => format!("`{program} show ID` shows how it is now"),
        "outcome-unknown" => "look before you repeat: it may have been done".to_owned(),
        _ if problem.status == 503 => "try again in a moment".to_owned(),
        _ => return None,
    })
}

fn words(problem: &Problem, name: &str) -> Vec<String> {
    let list = problem.more.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}
