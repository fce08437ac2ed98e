//! One process for all tasks: a task a line on stdin, an answer a line on stdout.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::{Failure, Outcome, Task};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use wire::submission::Progress;

use super::answer::{self, Said};
use super::group::{Pipes, Started};
use super::stderr::LastWords;
use super::{ANSWER_BYTES_MAX, Program, line};

/// The time the process may take to end once its stdin is closed.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// After a death without an answer in between, the pause before the next start; doubled with each up to the maximum.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

type Answer = Result<Outcome, Failure>;

/// The tasks that one process has, by their tokens; none once it has ended.
type Asked = Arc<Mutex<Option<BTreeMap<String, Told>>>>;

/// The ways in which a task hears of what the program says about it.
#[derive(Debug)]
struct Told {
    answer: oneshot::Sender<Answer>,
    /// The newest that it said of how far the task has come.
    progress: watch::Sender<Option<Progress>>,
}

/// A program that is started when there is a task for it, and again when it has died.
#[derive(Debug)]
pub(crate) struct Lines {
    program: Arc<Program>,
    process: tokio::sync::Mutex<Option<Process>>,
    /// Deaths since the last answer.
    deaths: Arc<Mutex<u32>>,
    /// Set when nobody waits for answers any more: its tasks are about to be given back.
    is_given_up: AtomicBool,
}

#[derive(Debug)]
struct Process {
    asked: Asked,
    says: mpsc::UnboundedSender<Vec<u8>>,
    runs: JoinHandle<()>,
}

impl Lines {
    pub(crate) fn new(program: Arc<Program>) -> Lines {
        let (process, deaths) = (tokio::sync::Mutex::default(), Arc::default());
        Lines { program, process, deaths, is_given_up: AtomicBool::new(false) }
    }

    /// Asks the process about one task. Dropped when the lease is lost: the process is told to leave it.
    pub(crate) async fn ask(&self, task: &Task) -> Answer {
        let mut asked = self.hand_over(task).await?;
        let mut revision = task.payload_revision;
        loop {
            tokio::select! {
                answer = &mut asked.answer => {
                    asked.is_open = false;
                    if self.is_given_up.load(Ordering::SeqCst) {
                        // It was killed, which says nothing about the task.
                        return std::future::pending().await;
                    }
                    return answer.unwrap_or_else(|_| Err(Failure::new("stopped", "the program was stopped")));
                }
                Ok(()) = asked.progress.changed() => {
                    let newest = asked.progress.borrow_and_update().clone();
                    newest.into_iter().for_each(|progress| task.report(progress));
                }
                newest = task.amended_after(revision) => {
                    revision = newest;
                    asked.tell(&json!({ "token": task.token, "notice": "amended", "payload_revision": newest }));
                }
            }
        }
    }

    /// Closes the program's stdin and waits a little for its end.
    pub(crate) async fn end(&self) {
        let Some(Process { says, mut runs, .. }) = self.process.lock().await.take() else { return };
        drop(says);
        if tokio::time::timeout(END_PATIENCE, &mut runs).await.is_err() {
            tracing::warn!("the program does not end by itself; it is killed");
            runs.abort();
            let _ = runs.await;
        }
    }

    /// Kills the program: whoever gets its tasks next must not find it at them.
    pub(crate) async fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
        let Some(Process { runs, .. }) = self.process.lock().await.take() else { return };
        runs.abort();
        let _ = runs.await;
    }

    /// To the process that runs, or to a new one.
    async fn hand_over(&self, task: &Task) -> Result<Asking, Failure> {
        let text = line(&**task)?;
        let mut process = self.process.lock().await;
        loop {
            if let Some(asking) = process.as_ref().and_then(|process| process.ask(&task.token)) {
                asking.says.send(text).ok();
                return Ok(asking);
            }
            let deaths = *lock(&self.deaths);
            if deaths > 0 {
                let pause = PAUSE.saturating_mul(1_u32 << deaths.min(16)).min(PAUSE_MAX);
                tracing::info!(?pause, "starting the program again");
                tokio::time::sleep(pause).await;
            }
            *process = Some(self.start()?);
        }
    }

    fn start(&self) -> Result<Process, Failure> {
        let mut started = self.program.start(&[])?;
        let Pipes { stdin, stdout, stderr } = started.pipes();
        let last_words = LastWords::of(stderr);
        let asked: Asked = Arc::new(Mutex::new(Some(BTreeMap::new())));
        let (says, hears) = mpsc::unbounded_channel();
        let runs = Running { started, last_words, asked: asked.clone(), deaths: self.deaths.clone() };
        let runs = tokio::spawn(runs.run(stdin, hears, stdout));
        Ok(Process { asked, says, runs })
    }
}

impl Process {
    /// None where it has ended.
    fn ask(&self, token: &str) -> Option<Asking> {
        let ((answers, answer), (tells, progress)) = (oneshot::channel(), watch::channel(None));
        let told = Told { answer: answers, progress: tells };
        lock(&self.asked).as_mut()?.insert(token.to_owned(), told);
        let (asked, says) = (self.asked.clone(), self.says.clone());
        Some(Asking { token: token.to_owned(), asked, says, answer, progress, is_open: true })
    }
}

/// A task that the process has.
struct Asking {
    token: String,
    asked: Asked,
    says: mpsc::UnboundedSender<Vec<u8>>,
    answer: oneshot::Receiver<Answer>,
    progress: watch::Receiver<Option<Progress>>,
    is_open: bool,
}

impl Asking {
    fn tell(&self, notice: &serde_json::Value) {
        // Where the process has ended, its end is the answer.
        self.says.send(format!("{notice}\n").into_bytes()).ok();
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if self.is_open {
            if let Some(asked) = lock(&self.asked).as_mut() {
                asked.remove(&self.token);
            }
            self.tell(&json!({ "token": self.token, "notice": "lost" }));
        }
    }
}

/// One life of the process.
struct Running {
    started: Started,
    last_words: LastWords,
    asked: Asked,
    deaths: Arc<Mutex<u32>>,
}

impl Running {
    async fn run(mut self, stdin: ChildStdin, hears: mpsc::UnboundedReceiver<Vec<u8>>, stdout: ChildStdout) {
        let writing = tokio::spawn(write(stdin, hears));
        let mut lines = BufReader::new(stdout);
        while let Some(said) = next_line(&mut lines).await {
            self.hear(&said);
        }
        // It has closed its stdout or said too much: either way it has nothing more to say.
        let ended = tokio::time::timeout(END_PATIENCE, self.started.ended()).await;
        if ended.is_err() {
            self.started.kill();
        }
        let status = match ended {
            Ok(status) => status,
            Err(_) => self.started.ended().await,
        };
        writing.abort();
        let left = lock(&self.asked).take().unwrap_or_default();
        if left.is_empty() && status.as_ref().is_ok_and(|status| status.success()) {
            return;
        }
        *lock(&self.deaths) += 1;
        let failure = match status {
            Ok(status) => answer::ended(status, &self.last_words.said().await),
            Err(error) => error.into(),
        };
        tracing::warn!(%failure, tasks = left.len(), "the program has ended");
        for (_, told) in left {
            let _ = told.answer.send(Err(failure.clone()));
        }
    }

    fn hear(&self, said: &[u8]) {
        let (token, answer) = match Said::read(said) {
            Ok(mut said) => match (said.token.take(), said.progress.take()) {
                (Some(token), Some(progress)) => return self.pass_on(&token, progress),
                (Some(token), None) => (token, said.answer()),
                (None, _) => return tracing::error!("the program gave an answer without a token"),
            },
            Err(why) => match token_of(said) {
                Some(token) => (token, Err(answer::invalid(&why))),
                None => return tracing::error!(why, "the program said something that is no answer"),
            },
        };
        let answers = lock(&self.asked).as_mut().and_then(|asked| asked.remove(&token));
        match answers {
            Some(told) => {
                *lock(&self.deaths) = 0;
                let _ = told.answer.send(answer);
            }
            None => tracing::warn!("the program gave an answer to a task it does not have (any more)"),
        }
    }
}

impl Running {
    /// Passes on how far a task has come. A task that the program does not have any more has no use for it.
    fn pass_on(&self, token: &str, progress: Progress) {
        if let Some(told) = lock(&self.asked).as_ref().and_then(|asked| asked.get(token)) {
            told.progress.send_replace(Some(progress));
        }
    }
}

fn token_of(said: &[u8]) -> Option<String> {
    let said: serde_json::Value = serde_json::from_slice(said).ok()?;
    said["token"].as_str().map(str::to_owned)
}

async fn write(mut stdin: ChildStdin, mut hears: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = hears.recv().await {
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// None at the end, and where a line is too long.
async fn next_line(lines: &mut BufReader<ChildStdout>) -> Option<Vec<u8>> {
    loop {
        let mut line = Vec::new();
        lines.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).await.ok()?;
        match line.pop() {
            Some(b'\n') if line.trim_ascii().is_empty() => {}
            Some(b'\n') => return Some(line),
            Some(_) => {
                tracing::error!("the program said a line without an end");
                return None;
            }
            None => return None,
        }
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
