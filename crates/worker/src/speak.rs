//! The lines a worker writes into the log: what it serves, how each task ended, and which of its tasks nobody has.

use std::time::Duration;

use wire::api::TaskView;

use crate::answer::{Failure, Kind, Outcome};
use crate::worker::Worker;

/// The level at which a worker writes what its users want to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Every task at `info`, failures at `warn`.
    Plain,
    /// All of it at `debug`: for workers inside of a server, which shows their tasks itself.
    Low,
}

/// Writes a line at `debug` where the voice is low, else at the level that is named.
macro_rules! say {
    ($voice:expr, $level:ident, $($line:tt)+) => {
        match $voice {
            Voice::Plain => tracing::$level!($($line)+),
            Voice::Low => tracing::debug!($($line)+),
        }
    };
}

impl Worker {
    pub(crate) fn say_what_it_serves(&self) {
        let tasks: Vec<&str> = self.handlers.keys().map(String::as_str).collect();
        let labels = self.labels.iter().flatten().map(|(name, value)| format!("{name}={value}"));
        say!(
            self.voice,
            info,
            worker = self.name,
            server = self.source.name(),
            tasks = tasks.join(", "),
            pipelines = self.pipelines.as_ref().map(|names| names.join(", ")),
            labels = self.labels.is_some().then(|| labels.collect::<Vec<_>>().join(", ")),
            at_a_time = self.concurrency,
            "the worker begins"
        );
    }

    /// Says which tasks no pipeline has, and which of them one has now, where that is news.
    pub(crate) fn say_what_nobody_has(&self, before: &mut Vec<String>, unknown: Vec<String>) {
        for task in unknown.iter().filter(|task| !before.contains(*task)) {
            say!(
                self.voice,
                warn,
                worker = self.name,
                task,
                "no pipeline has this task: nothing will come of waiting for it until one is applied; is the name right?"
            );
        }
        for task in before.iter().filter(|task| !unknown.contains(*task)) {
            say!(self.voice, info, worker = self.name, task, "there is a pipeline with this task now");
        }
        *before = unknown;
    }
}

/// A task as it is named in a line of the log. Its token is not: whoever has it can settle the task.
#[derive(Debug)]
pub(crate) struct About {
    task: String,
    submission: String,
    attempt: u32,
    voice: Voice,
}

impl About {
    pub(crate) fn new(task: &TaskView, voice: Voice) -> About {
        let (name, submission) = (task.task.to_string(), task.submission.to_string());
        About { task: name, submission, attempt: task.attempt, voice }
    }

    pub(crate) fn say_how_it_ended(&self, took: Duration, answer: &Result<Outcome, Failure>) {
        let About { task, submission, attempt, voice } = self;
        match answer {
            Ok(Outcome(Kind::Finished { outcome, .. })) => {
                say!(voice, info, task, submission, attempt, outcome, ?took, "a task has ended");
            }
            Ok(Outcome(Kind::Snoozed(span))) => {
                say!(voice, info, task, submission, attempt, snooze = %span, ?took, "a task was put off");
            }
            Err(failure) => {
                say!(voice, warn, task, submission, attempt, %failure, ?took, "a task has failed");
            }
        }
    }

    pub(crate) fn say_it_was_given_back(&self, took: Duration) {
        let About { task, submission, attempt, voice } = self;
        say!(voice, info, task, submission, attempt, ?took, "a task was given back");
    }
}
