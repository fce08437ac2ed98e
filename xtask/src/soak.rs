//! `cargo xtask soak`: the simulation on seeds nobody has seen, over every store in turn.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use crate::postgres::{self, Postgres};

pub(crate) fn run(root: &Path, minutes: u64) -> Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(&cargo);
    build.current_dir(root).args(["build", "--release", "--locked", "-p", "milepost-cli"]);
    ensure!(build.status().context("cannot start cargo")?.success(), "the optimised build failed");
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let milepost = target.join("release").join("milepost");
    let server = Postgres::start()?;
    let address = match &server {
        Some(server) => server.address(),
        None => env::var(postgres::ADDRESS).context("the address of the PostgreSQL server is no text")?,
    };
    let start = unseen()?;
    println!("the first seed is {start}");
    let mut failed = Vec::new();
    for (name, store) in [("memory", "memory"), ("sqlite", "sqlite"), ("postgres", &*address)] {
        println!("\n{name}:");
        let mut torture = Command::new(&milepost);
        torture.current_dir(root).stdin(Stdio::null());
        torture.args(arguments(start, minutes, store));
        let status = torture.status().context("cannot start milepost")?;
        match status.code() {
            Some(0) => {}
            Some(1) => failed.push(name),
            _ => bail!("the simulation on {name} could not be run ({status})"),
        }
    }
    if let Some(server) = &server {
        server.check_log()?;
    }
    if failed.is_empty() {
        println!("\nfrom seed {start} on, every seed is fine on every store");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nfrom seed {start} on, seeds failed on {}; the tables above name them", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// Each store has a third of the time.
fn arguments(start: u64, minutes: u64, store: &str) -> [String; 7] {
    let seconds = (minutes * 60 / 3).max(1);
    let (start, span) = (start.to_string(), format!("{seconds}s"));
    ["torture", "--seed", &start, "--for", &span, "--store", store].map(str::to_owned)
}

/// A seed far above those of the tests, another one every second, with room for many below the next.
fn unseen() -> Result<u64> {
    #[allow(clippy::disallowed_methods, reason = "chance comes from the clock here, and the seed is printed")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    Ok(now.as_secs() * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_has_a_third_of_the_time_from_the_same_seed_on() {
        let words = arguments(7_000, 10, "sqlite");
        assert_eq!(words.join(" "), "torture --seed 7000 --for 200s --store sqlite");
    }

    #[test]
    fn a_soak_begins_where_no_test_and_no_soak_before_it_ran() {
        // Whoever runs the tests has a clock after 2020.
        assert!(unseen().unwrap() > 1_577_836_800_000);
    }
}
