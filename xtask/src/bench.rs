//! `cargo xtask bench`: an optimised build, measured on this machine, over SQLite and a PostgreSQL of its own.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::postgres::Postgres;

/// Figures of the last run, beside the build they are of.
const FIGURES: &str = "bench.json";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(&cargo);
    build.current_dir(root).args(["build", "--release", "--locked", "-p", "milepost-cli"]);
    ensure!(build.status().context("cannot start cargo")?.success(), "the optimised build failed");
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let figures = target.join(FIGURES);
    let mut bench = Command::new(target.join("release").join("milepost"));
    bench.current_dir(root).arg("bench").arg("--folder").arg(&target).arg("--json").arg(&figures);
    let server = Postgres::start()?;
    if let Some(server) = &server {
        bench.env("MILEPOST_BENCH_POSTGRES", server.address());
    }
    let status = bench.args(arguments).stdin(Stdio::null()).status().context("cannot start milepost")?;
    ensure!(status.success(), "the measurement failed ({status})");
    eprintln!("figures: {}", figures.display());
    Ok(ExitCode::SUCCESS)
}
