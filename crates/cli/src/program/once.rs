//! A process for each task: the task on stdin, the answer on stdout.

use client::{Failure, Outcome, Task};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Take};
use tokio::process::{ChildStdin, ChildStdout};
use wire::submission::Progress;

use super::answer::{self, Said};
use super::group::Pipes;
use super::stderr::LastWords;
use super::{ANSWER_BYTES_MAX, Program, TRACE_PARENT, TRACE_STATE, line};

/// Runs the program for one task. Dropped when the lease is lost, which kills the program.
pub(crate) async fn once(program: &Program, task: &Task) -> Result<Outcome, Failure> {
    let trace = [(TRACE_PARENT, &task.traceparent), (TRACE_STATE, &task.tracestate)];
    let trace: Vec<_> = trace.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    let mut started = program.start(&trace)?;
    let text = line(&**task)?;
    let Pipes { stdin, stdout, stderr } = started.pipes();
    let last_words = LastWords::of(stderr);
    let telling = task.clone();
    let reading = tokio::spawn(read(stdout, move |progress| telling.report(progress)));
    // At the same time, for a program may end before it has read everything.
    let (_, status) = tokio::join!(write(stdin, &text), started.ended());
    let (status, said) = (status?, reading.await?);
    let Some(said) = said else {
        return Err(answer::invalid(&format!("it is over {ANSWER_BYTES_MAX} bytes")));
    };
    match Said::read(&said) {
        Ok(said) => said.answer(),
        Err(why) if status.success() && !said.trim_ascii().is_empty() => Err(answer::invalid(&why)),
        Err(_) => Err(answer::ended(status, &last_words.said().await)),
    }
}

async fn write(mut stdin: ChildStdin, task: &[u8]) {
    // A program that does not care what the task is need not read it.
    let _ = stdin.write_all(task).await;
}

/// Reads the program's answer; none where that is too much. Lines before it that say how far the task has come are `told`. A
/// program that says too much is not listened to any longer, which ends it unless it does not mind.
async fn read(stdout: ChildStdout, told: impl Fn(Progress)) -> Option<Vec<u8>> {
    let mut lines = BufReader::new(stdout);
    let mut said = Vec::new();
    loop {
        said.clear();
        let length = lines_of(&mut lines).read_until(b'\n', &mut said).await.unwrap_or_default();
        match Said::progress_of(&said) {
            Some(progress) => told(progress),
            // A blank line says nothing, and the answer may have many lines.
            None if length > 0 && said.trim_ascii().is_empty() => {}
            None => break,
        }
    }
    let left = (ANSWER_BYTES_MAX + 1).saturating_sub(said.len() as u64);
    let _ = lines.take(left).read_to_end(&mut said).await;
    u64::try_from(said.len()).is_ok_and(|length| length <= ANSWER_BYTES_MAX).then_some(said)
}

/// Bounds the next line: one that is longer is no answer, and the rest of it counts as well.
fn lines_of(lines: &mut BufReader<ChildStdout>) -> Take<&mut BufReader<ChildStdout>> {
    lines.take(ANSWER_BYTES_MAX + 1)
}
