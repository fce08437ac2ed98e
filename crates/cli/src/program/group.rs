//! A process that ends together with everything it started.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A process at the head of a group of its own. The whole group is killed when this is dropped: a shell script's children
/// must not go on with a task that is somebody else's now.
#[derive(Debug)]
pub(super) struct Started {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Started {
    pub(super) fn new(command: &mut Command) -> io::Result<Started> {
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        Ok(Started {
            #[cfg(unix)]
            group: child.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)),
            child,
        })
    }

    pub(super) fn pipes(&mut self) -> Pipes {
        let Child { stdin, stdout, stderr, .. } = &mut self.child;
        match (stdin.take(), stdout.take(), stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => unreachable!("a program is started with pipes, and they are taken once"),
        }
    }

    /// Waits for the end of the process, and ends what it has left behind, which would hold its pipes open.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.kill();
        status
    }

    pub(super) fn kill(&self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            // There may be nobody left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}
