//! A process for each task: the task on stdin, the answer on stdout.

use client::{Failure, Outcome, Task};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};

use super::answer::{self, Said};
use super::group::Pipes;
use super::stderr::LastWords;
use super::{ANSWER_BYTES_MAX, Program, TRACE_PARENT, TRACE_STATE, line};

/// Runs the program for one task. Dropped when the lease is lost, which kills the program.
pub(crate) async fn once(program: &Program, task: &Task) -> Result<Outcome, Failure> {
    let trace = [(TRACE_PARENT, &task.traceparent), (TRACE_STATE, &task.tracestate)];
    let trace: Vec<_> = trace.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    let mut started = program.start(&trace)?;
    let task = line(&**task)?;
    let Pipes { stdin, stdout, stderr } = started.pipes();
    let last_words = LastWords::of(stderr);
    let reading = tokio::spawn(read(stdout));
    // At the same time, for a program may end before it has read everything.
    let (_, status) = tokio::join!(write(stdin, &task), started.ended());
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

/// Everything the program says; none where that is too much. The program is not listened to any longer then, which ends
/// it unless it does not mind.
async fn read(stdout: ChildStdout) -> Option<Vec<u8>> {
    let mut said = Vec::new();
    let _ = stdout.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut said).await;
    u64::try_from(said.len()).is_ok_and(|length| length <= ANSWER_BYTES_MAX).then_some(said)
}
