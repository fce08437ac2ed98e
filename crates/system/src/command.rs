//! Commands of a system: `milepost NAME COMMAND ..`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use clap::{ArgMatches, Args};
use client::Client;
use serde::Serialize;

use crate::exit::{Exit, Stop};

/// A command of a system. Its arguments are a type that derives [`clap::Args`], whose documentation is the command's help.
#[derive(Clone)]
pub struct Command {
    /// The command's name, arguments and help.
    pub clap: clap::Command,
    /// Set if the command asks a server: it takes `--server`, `--token` and what else says where that is.
    pub asks: bool,
    run: Runner,
}

type Runner = Arc<
    dyn Fn(&ArgMatches, Option<Client>) -> Pin<Box<dyn Future<Output = Result<Shown, Failed>>>> + Send + Sync,
>;

/// An error of a command. A [`Stop`] says how to end; a refusal of the server ends as one of the program's own commands
/// does; any other is a negative outcome.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Command {
    /// Makes a command that needs no server.
    pub fn new<A: Args, F>(name: &'static str, run: impl Fn(A) -> F + Send + Sync + 'static) -> Command
    where
        F: Future<Output = Result<Shown, Failed>> + 'static,
    {
        Command::of::<A>(name, false, move |args, _| Box::pin(run(args)))
    }

    /// Makes a command that asks the server.
    pub fn asking<A: Args, F>(
        name: &'static str,
        run: impl Fn(A, Client) -> F + Send + Sync + 'static,
    ) -> Command
    where
        F: Future<Output = Result<Shown, Failed>> + 'static,
    {
        Command::of::<A>(name, true, move |args, client| {
            Box::pin(run(args, client.expect("whoever runs a command that asks brings a client")))
        })
    }

    fn of<A: Args>(
        name: &'static str,
        asks: bool,
        run: impl Fn(A, Option<Client>) -> Pin<Box<dyn Future<Output = Result<Shown, Failed>>>>
        + Send
        + Sync
        + 'static,
    ) -> Command {
        let run: Runner = Arc::new(move |matches, client| match A::from_arg_matches(matches) {
            Ok(args) => run(args, client),
            Err(error) => Box::pin(async move { Err(Stop::usage(error.to_string()).into()) }),
        });
        Command { clap: A::augment_args(clap::Command::new(name)), asks, run }
    }

    /// Runs the command. One that asks a server must be given a client.
    pub async fn run(&self, matches: &ArgMatches, client: Option<Client>) -> Result<Shown, Failed> {
        (self.run)(matches, client).await
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command({}, asks: {})", self.clap.get_name(), self.asks)
    }
}

/// The answer of a command, as text for people and as JSON for `-o json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub json: String,
    /// The answer as SARIF for `-o sarif`, of commands that look for faults.
    pub sarif: Option<String>,
    pub exit: Exit,
}

impl Shown {
    /// Makes an answer. The text is printed as it is: let [`crate::Table`] or [`crate::plain`] make text of others harmless.
    ///
    /// # Panics
    /// When the document has keys that are no texts.
    #[must_use]
    pub fn new(text: impl Into<String>, json: &impl Serialize) -> Shown {
        let json = serde_json::to_string(json).expect("a document has only string keys");
        Shown { text: text.into(), json, sarif: None, exit: Exit::Fine }
    }

    /// Adds the answer as SARIF.
    ///
    /// # Panics
    /// When the document has keys that are no texts.
    #[must_use]
    pub fn sarif(self, document: &impl Serialize) -> Shown {
        let sarif = serde_json::to_string(document).expect("a document has only string keys");
        Shown { sarif: Some(sarif), ..self }
    }

    /// Ends the command in another way than well, such as [`Exit::Negative`] where the answer is no.
    #[must_use]
    pub fn exit(self, exit: Exit) -> Shown {
        Shown { exit, ..self }
    }
}
