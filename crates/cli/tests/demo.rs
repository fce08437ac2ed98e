//! The first minute of a new user.

mod common;

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use common::{milepost, run};

#[test]
fn demo_shows_every_way_through_the_pipeline() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0"]).ends(0);
    for (skill, state, trigger) in [
        ("postgres-basics", "PUBLISHED", "vendor-auto-verify"),
        ("commit-notes", "PUBLISHED", "tier2-pass"),
        ("log-reader", "NEEDS_REVIEW", "tier2-concerns"),
        ("server-admin", "NEEDS_REVIEW", "tier2-high-privilege"),
        ("seo-spam", "REJECTED", "tier2-fail"),
        ("wallet-drainer", "TIER1_FAILED", "tier1-fail"),
    ] {
        let line = said.stdout.lines().find(|line| line.starts_with(skill)).expect(&said.stdout);
        assert!(line.contains(state) && line.contains(trigger), "{line}");
    }
    assert_eq!(said.stderr, "");
}

#[test]
fn demo_speaks_json() {
    let said = run(&["demo", "--once", "--listen", "127.0.0.1:0", "-o", "json"]).ends(0);
    let statuses: Vec<_> =
        said.json().as_array().expect("a list").iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["succeeded", "succeeded", "open", "open", "failed", "failed"]);
}

#[test]
fn demo_takes_a_free_port_when_its_own_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = run(&["demo", "--once", "--listen", &address]).ends(0);
    assert!(said.stderr.contains(&format!("{address} is taken")), "{}", said.stderr);
    assert!(said.stdout.contains("http://127.0.0.1:") && !said.stdout.contains(&address), "{}", said.stdout);
}

/// Runs the demo, pastes what it says to try, and gives it Ctrl-C.
#[cfg(unix)]
#[test]
fn commands_that_the_demo_prints_work_when_pasted() {
    let mut demo =
        milepost(&["demo", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(demo.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let told: Vec<String> = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let commands: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix("  milepost ")).collect();
    let mut codes = Vec::new();
    for command in &commands {
        let pasted = format!("\"$0\" {command}");
        let program = env!("CARGO_BIN_EXE_milepost");
        let said = std::process::Command::new("sh").args(["-c", &pasted, program]).output().expect("sh runs");
        codes.push(said.status.code());
    }
    // Approving before escalating is refused, as the demo says.
    assert_eq!(codes, [0, 0, 4, 0, 0, 0].map(Some), "{commands:#?}");
    let stopped = std::process::Command::new("kill").args(["-INT", &demo.id().to_string()]).status();
    assert!(stopped.expect("kill runs").success());
    assert_eq!(demo.wait().expect("it ends").code(), Some(0));
}
