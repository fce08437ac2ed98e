use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use client::Task;
use model::Millis;

use super::list::read_label;
use crate::exit::{Exit, Stop};
use crate::logging::{self, LogFormat};
use crate::program::{Lines, Program, once};
use crate::remote::{ServerArgs, block_on};
use crate::signals::Signals;

/// Do the work of tasks
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(Run),
}

impl Worker {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let Verb::Run(run) = &self.verb;
        run.run()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// A process for each task: the task on stdin, the answer on stdout
    #[default]
    Once,
    /// One process for all: a task a line on stdin, an answer a line on stdout
    Lines,
}

/// Let a program do the work of tasks
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost worker run --task report.send -- ./send.sh
  milepost worker run --task report.send --max 8 --mode lines -- python3 send.py

The program gets the task as JSON and answers with one of
  {\"outcome\": \"sent\", \"output\": {..}, \"result\": .., \"children\": [..]}
  {\"error\": {\"code\": \"smtp\", \"message\": \"no route\", \"retryable\": true}}
  {\"snooze\": \"30s\"}
Before its answer it may say how far it is, on lines of their own: {\"progress\": {\"done\": 3, \"total\": 10, \"line\": \"c.nc\"}}
A program that ends with an exit code and without an answer has failed; its last words on stderr are the message.
With --mode lines each answer also has the \"token\" of its task. MILEPOST_TOKEN is not passed on.
SIGTERM and Ctrl-C end it in good order: nothing more is taken, and what was begun is finished.")]
struct Run {
    /// Take tasks of this name; may be given several times
    #[arg(long = "task", value_name = "NAME", required = true)]
    tasks: Vec<String>,

    /// Number of tasks at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    max: u16,

    /// Protocol between the worker and the program
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,

    /// The name that leases and events show; the machine's and the process's number unless given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only tasks of this pipeline; may be given several times
    #[arg(long = "pipeline", value_name = "NAME")]
    pipelines: Vec<String>,

    /// Only tasks of submissions with this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// Time that running tasks have to end when the worker is asked to stop
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    grace: Millis,

    /// Format of the logs: for people, or one JSON object a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,

    #[command(flatten)]
    server: ServerArgs,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

impl Run {
    fn run(&self) -> anyhow::Result<Exit> {
        let program = Program::new(&self.command).map_err(Stop::usage)?;
        logging::start(self.log_format, "info")?;
        block_on(self.work(program))?;
        Ok(Exit::Fine)
    }

    async fn work(&self, program: Program) -> anyhow::Result<()> {
        let signals = Signals::listen()?;
        let stop = async {
            signals.asked_to_stop().await;
            tracing::info!("stopping: nothing more is taken");
        };
        let program = Arc::new(program);
        match self.mode {
            Mode::Once => {
                let worker = self.tasks.iter().fold(self.worker()?, |worker, name| {
                    let program = program.clone();
                    worker.task(name, move |task: Task| {
                        let program = program.clone();
                        async move { once(&program, &task).await }
                    })
                });
                worker.run(stop).await?;
            }
            Mode::Lines => {
                let lines = Arc::new(Lines::new(program));
                let worker = self.tasks.iter().fold(self.worker()?, |worker, name| {
                    let lines = lines.clone();
                    worker.task(name, move |task: Task| {
                        let lines = lines.clone();
                        async move { lines.ask(&task).await }
                    })
                });
                let over = lines.clone();
                let worker = worker.before_giving_back(move || {
                    let lines = over.clone();
                    async move { lines.give_up().await }
                });
                let ran = worker.run(stop).await;
                lines.end().await;
                ran?;
            }
        }
        Ok(())
    }

    fn worker(&self) -> anyhow::Result<client::Worker> {
        let name = self.name.clone().unwrap_or_else(own_name);
        let mut worker = client::Worker::new(self.server.client()?, name)
            .concurrency(usize::from(self.max))
            .grace(Duration::from(self.grace));
        if !self.pipelines.is_empty() {
            worker = worker.pipelines(&self.pipelines);
        }
        for (name, value) in &self.labels {
            worker = worker.label(name, value);
        }
        Ok(worker)
    }
}

pub(crate) fn own_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = if machine.trim().is_empty() { "worker" } else { machine.trim() };
    format!("{machine}-{}", std::process::id())
}
