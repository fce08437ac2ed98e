use std::path::PathBuf;

use anyhow::Context as _;
use bench::{Plan, Workload};
use clap::Args;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};

/// Measure this machine: what is done in a second, beside what disk and store can do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost bench                        every workload, with half a million waiting
  milepost bench --only W1,W3           some of them
  milepost bench --backlog 5000000      with five million waiting; takes a while and 10 GB
  milepost bench --quick                a tenth of everything, to see that it works

W1 submit · W2 one task, each finish a call · W3 five tasks, many a call · W4 from submit to start · W5 W3 in lanes ·
W6 W2 with much waiting · W7 restart after kill -9 · W8 what people look at ·
W9 100,000 services with a batch each, and one with 10,000.
Everything acknowledged is on disk. Only an optimised build says anything: build with --release.")]
pub(crate) struct Bench {
    /// The workloads to run, such as W1,W3
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workload)]
    only: Vec<Workload>,

    /// A folder on the disk to be measured
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Number of submissions that wait in W6, W7 and W8
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    backlog: usize,

    /// A PostgreSQL to measure, too, as postgres://.. [env: MILEPOST_BENCH_POSTGRES]
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,

    /// A tenth of everything
    #[arg(long)]
    quick: bool,

    /// Write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn workload(code: &str) -> Result<Workload, String> {
    Workload::named(code).ok_or_else(|| "no such workload; there are W1 to W9".to_owned())
}

impl Bench {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        if cfg!(debug_assertions) {
            say!("this is no optimised build: the figures say little; build with --release");
        }
        if !self.folder.is_dir() {
            return Err(Stop::usage(format!("{} is no folder", self.folder.display())).into());
        }
        let workloads = if self.only.is_empty() { Workload::ALL.to_vec() } else { self.only.clone() };
        let plan = Plan {
            workloads: workloads.into_iter().collect(),
            folder: self.folder.clone(),
            binary: std::env::current_exe().context("cannot find this program to start a server")?,
            backlog: self.backlog,
            postgres: self.postgres.clone().or_else(|| std::env::var("MILEPOST_BENCH_POSTGRES").ok()),
            quick: self.quick,
        };
        let report = bench::run(&plan, &mut |line| say!("{line}"))?;
        let text = serde_json::to_string_pretty(&report)?;
        if let Some(file) = &self.json {
            std::fs::write(file, &text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        match format {
            Format::Table => output::print(&report.to_string())?,
            Format::Json => output::print(&text)?,
        }
        Ok(Exit::Fine)
    }
}
