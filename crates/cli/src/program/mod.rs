//! Somebody else's program as a worker: started, spoken to in JSON, and ended with everything it started.

mod answer;
mod group;
mod lines;
mod once;
mod stderr;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Stdio;

use client::Failure;
use serde::Serialize;
use tokio::process::Command;

use crate::remote::TOKEN_VARIABLE;
use group::Started;

pub(crate) use lines::Lines;
pub(crate) use once::once;

/// More than any answer may have: a body that settles tasks has at most 4 MB.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// The variables in which programs look for the trace they are part of.
const TRACE_PARENT: &str = "TRACEPARENT";
const TRACE_STATE: &str = "TRACESTATE";

#[derive(Debug)]
pub(crate) struct Program {
    path: OsString,
    arguments: Vec<OsString>,
}

impl Program {
    /// Says at once where there is no such program: else every task would fail.
    pub(crate) fn new(command: &[OsString]) -> Result<Program, String> {
        let [path, arguments @ ..] = command else {
            return Err("name the program after `--`".to_owned());
        };
        if !is_there(path) {
            return Err(format!("there is no program `{}`", path.to_string_lossy()));
        }
        Ok(Program { path: path.clone(), arguments: arguments.to_vec() })
    }

    /// With what a program that goes on with a trace finds in its environment.
    fn start(&self, environment: &[(&str, &str)]) -> Result<Started, Failure> {
        let mut command = Command::new(&self.path);
        // This worker's own trace is none of the program's business.
        command.env_remove(TRACE_PARENT).env_remove(TRACE_STATE).envs(environment.iter().copied());
        command.args(&self.arguments).env_remove(TOKEN_VARIABLE);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started::new(&mut command).map_err(|error| self.cannot_start(&error))
    }

    fn cannot_start(&self, error: &io::Error) -> Failure {
        Failure::new("cannot-start", format!("`{}`: {error}", self.path.to_string_lossy()))
    }
}

/// One line of JSON.
fn line<T: Serialize>(document: &T) -> Result<Vec<u8>, Failure> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    Ok(line)
}

fn is_there(path: &OsStr) -> bool {
    if Path::new(path).components().count() > 1 {
        return Path::new(path).is_file();
    }
    env::var_os("PATH").is_some_and(|all| env::split_paths(&all).any(|folder| folder.join(path).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_known_before_any_task_is_taken() {
        let named = |name: &str| Program::new(&[name.into()]).err();
        assert_eq!(named("sh"), None);
        assert_eq!(named("no-such-program"), Some("there is no program `no-such-program`".to_owned()));
        assert_eq!(named("./no-such-program"), Some("there is no program `./no-such-program`".to_owned()));
        assert!(Program::new(&[]).is_err());
    }
}
