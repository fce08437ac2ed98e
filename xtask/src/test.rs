//! `cargo xtask test`: everything from a fresh machine to the totals line.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::needs;
use crate::postgres::{self, Postgres};
use crate::tally::Tally;

/// The last line printed is always the totals, even when nothing could be built.
pub(crate) fn run(root: &Path, filter: &[String]) -> ExitCode {
    let mut tally = Tally::default();
    let ran = prepare(root).and_then(|()| run_tests(root, filter, &mut tally));
    if let Err(error) = &ran {
        eprintln!("{error:#}");
    }
    if tally.any_failed() {
        println!("\nfailed tests:");
        tally.failures().iter().for_each(|name| println!("    {name}"));
    }
    println!("\n{tally}");
    if ran.is_ok() && !tally.any_failed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The build is a step of its own so that its progress goes straight to the terminal.
fn prepare(root: &Path) -> Result<()> {
    needs::provide(needs::NEEDS)?;
    let built = cargo_test(root).arg("--no-run").status().context("cannot start cargo")?;
    ensure!(built.success(), "the tests do not build: no test ran");
    Ok(())
}

fn run_tests(root: &Path, filter: &[String], tally: &mut Tally) -> Result<()> {
    let server = Postgres::start()?;
    let mut command = cargo_test(root);
    if let Some(server) = &server {
        command.env(postgres::ADDRESS, server.address());
    }
    command.args(["--no-fail-fast", "--"]).args(filter);
    // The tally reads cargo's plain headings, whatever the machine's settings are.
    command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_QUIET", "false");
    let status = stream(command, |line| tally.read(line))?;
    tally.finish();
    if !status.success() && !tally.any_failed() {
        bail!("cargo test failed ({status}) without a failed test: its output above says why");
    }
    ensure!(tally.any_ran(), "no test ran: check the filter {filter:?}");
    server.map_or(Ok(()), |server| server.check_log())
}

/// One selection of packages and features for every build, so that nothing is compiled twice.
fn cargo_test(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["test", "--workspace"]).stdin(Stdio::null());
    // `cargo run` describes xtask in these variables; build scripts that watch them would run anew.
    let inherited = env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    }) {
        command.env_remove(name);
    }
    command
}

/// Passes the output of `command` on, both streams in order, and shows each line to `read`.
///
/// The end is a mark written after the command has ended, not the end of the pipe: a process that a
/// test left behind holds the pipe open and would hang the run.
fn stream(mut command: Command, mut read: impl FnMut(&str)) -> Result<ExitStatus> {
    const END: &[u8] = b"\x04end of output\n";
    let (output, mut input) = io::pipe().context("cannot make a pipe")?;
    command.stdout(input.try_clone()?).stderr(input.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let ended = thread::spawn(move || {
        let status = child.wait();
        input.write_all(END).and(status)
    });
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        output.read_until(b'\n', &mut line)?;
        let (text, last) = match line.strip_suffix(END) {
            Some(text) => (text, true),
            None => (line.as_slice(), line.is_empty()),
        };
        if !text.is_empty() {
            let text = String::from_utf8_lossy(text);
            print!("{text}");
            read(text.trim_end());
        }
        if last {
            break;
        }
    }
    ended.join().expect("the waiting thread does not panic").context("cannot wait for the command")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    #[test]
    fn both_streams_arrive_in_order_with_the_status() {
        let mut lines = Vec::new();
        let script = "echo one; echo two >&2; printf three; exit 7";
        let status = stream(shell(script), |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["one", "two", "three"]);
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn a_process_left_behind_does_not_hold_up_the_run() {
        let (open_until_dropped, _keep) = io::pipe().unwrap();
        let mut command = shell("exec 3<&0; cat <&3 & echo done");
        command.stdin(open_until_dropped);
        let mut lines = Vec::new();
        stream(command, |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["done"]);
    }

    #[test]
    fn nested_cargo_does_not_see_the_variables_of_this_package() {
        let command = cargo_test(Path::new("."));
        let removed = |name: &str| command.get_envs().any(|(key, value)| key == name && value.is_none());
        assert!(removed("CARGO_PKG_NAME") && removed("CARGO_MANIFEST_DIR"));
    }
}
