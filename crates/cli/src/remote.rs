//! The common parts of the commands that ask a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use client::{Client, Rest, Waited};
use model::{Json, Millis, Status, SubmissionId};
use wire::api::SubmissionView;

use crate::exit::{Exit, Stop};
use crate::output::say;
use crate::settings::Given;

pub(crate) const SERVER: &str = "http://127.0.0.1:8080";
pub(crate) const TOKEN_VARIABLE: &str = "MILEPOST_TOKEN";

#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "MILEPOST_SERVER", hide_env_values = true, default_value = SERVER, value_name = "URL")]
    server: String,

    #[command(flatten)]
    access: AccessArgs,
}

/// The credentials that a server is shown, and those it has to show.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct AccessArgs {
    /// The token that says who you are
    #[arg(long, env = TOKEN_VARIABLE, hide_env_values = true)]
    token: Option<String>,

    /// The file that holds the token, for when it is not given
    #[arg(long, env = "MILEPOST_TOKEN_FILE", hide_env_values = true, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The authority (PEM) that a server's certificate must be from, in place of those the machine trusts
    #[arg(long, env = "MILEPOST_CA", hide_env_values = true, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl AccessArgs {
    /// A flag counts more than a variable, and the token more than its file.
    fn token(&self) -> Result<Option<String>, Stop> {
        let given = Given::new(std::env::args_os());
        let is_file_given = given.has("token-file") && !given.has("token");
        match self.token.clone().filter(|token| !token.is_empty() && !is_file_given) {
            Some(token) => Ok(Some(token)),
            None => self.token_file.as_deref().map(token_of).transpose(),
        }
    }

    fn client(&self, url: &str, token: Option<String>) -> anyhow::Result<Client> {
        let read = |path: &PathBuf| {
            std::fs::read(path)
                .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))
        };
        let ca = self.ca.as_ref().map(read).transpose()?;
        Ok(Client::trusting(url, token, ca.as_deref())?)
    }

    /// A client for a log that anybody may look at. A token of the environment is not shown to it if the environment says that
    /// it is another server's.
    pub(crate) fn client_of_log(&self, url: &str) -> anyhow::Result<Client> {
        let given = Given::new(std::env::args_os());
        let is_given = given.has("token") || given.has("token-file");
        let server = std::env::var("MILEPOST_SERVER").ok().filter(|server| !server.is_empty());
        let is_same = server.is_none_or(|server| server.trim_end_matches('/') == url.trim_end_matches('/'));
        let token = if is_given || is_same { self.token()? } else { None };
        self.client(url, token)
    }
}

impl ServerArgs {
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.access.client(&self.server, self.access.token()?)
    }

    /// Returns the option to append to a command so that it asks the same server.
    pub(crate) fn same_server(&self) -> String {
        server_option(&self.server)
    }
}

fn token_of(file: &Path) -> Result<String, Stop> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Stop::usage(format!("cannot read the token in {}: {error}", file.display())))?;
    match text.trim() {
        "" => Err(Stop::usage(format!("{} holds no token", file.display()))),
        token => Ok(token.to_owned()),
    }
}

/// The option that leads to a server, empty for the one that is asked anyway.
pub(crate) fn server_option(server: &str) -> String {
    match server.trim_end_matches('/') {
        SERVER => String::new(),
        other => format!(" --server {}", wire::address::shown(other)),
    }
}

/// Returns what somebody types to run this program again.
pub(crate) fn program() -> &'static str {
    // `cargo run` sets it, and then the binary is on nobody's path.
    if std::env::var_os("CARGO").is_some() { "cargo run -q --" } else { "milepost" }
}

/// Runs something that waits for a server.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Makes a call safe to repeat.
pub(crate) fn idempotency_key() -> String {
    engine::clock::entropy::<16>().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn read_id(text: &str) -> Result<SubmissionId, String> {
    text.parse().map_err(|_| "a submission's id looks like 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57".to_owned())
}

/// Reads a JSON document given as text, or from a file, or from stdin (`-`).
pub(crate) fn document(text: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<Json>> {
    let (from, bytes) = match (text, file) {
        (Some(text), _) => ("--data".to_owned(), text.as_bytes().to_vec()),
        (None, Some(path)) if path == Path::new("-") => ("stdin".to_owned(), read_stdin()?),
        (None, Some(path)) => {
            let bytes = std::fs::read(path).map_err(|error| {
                let stop = Stop::usage(format!("cannot read {}: {error}", path.display()));
                if looks_like_json(path) { stop.next("did you mean --data JSON?") } else { stop }
            })?;
            (path.display().to_string(), bytes)
        }
        (None, None) => return Ok(None),
    };
    let json =
        Json::parse_bytes(&bytes).map_err(|error| Stop::usage(format!("{from} is not JSON: {error}")))?;
    Ok(Some(json))
}

fn looks_like_json(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.trim_start().starts_with(['{', '[', '"']))
}

fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
    Ok(bytes)
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The JSON document itself
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    data: Option<String>,

    /// The file that holds the JSON document; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

impl DataArgs {
    pub(crate) fn read(&self) -> anyhow::Result<Option<Json>> {
        document(self.data.as_deref(), self.file.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Wait until it has ended, is dead or waits for a person; exit with 1 unless it went well
    #[arg(long)]
    pub(crate) wait: bool,

    /// With --wait: how long at most, such as 30s or 5m
    #[arg(long, requires = "wait", value_name = "SPAN")]
    timeout: Option<Millis>,
}

impl WaitArgs {
    pub(crate) async fn wait(&self, client: &Client, id: SubmissionId) -> anyhow::Result<Waited> {
        Ok(client.wait(id, self.timeout.map(Duration::from)).await?)
    }
}

/// Says how a wait ended and gives the exit for it.
pub(crate) fn rested(waited: &Waited, server: &ServerArgs) -> Exit {
    let submission = &waited.submission;
    match waited.rest {
        Rest::Ended if submission.status == Status::Succeeded => Exit::Fine,
        Rest::Ended => Exit::Negative,
        Rest::Dead => {
            if let Some(error) = &submission.error {
                say!("it is dead: {} ({})", error.message, error.code);
            }
            Exit::Negative
        }
        Rest::Person => {
            say_actions(submission, server);
            Exit::Fine
        }
        Rest::Deadline => {
            say!(
                "it is still on its way; look again with `{} show {}{}`",
                program(),
                submission.id,
                server.same_server()
            );
            Exit::Negative
        }
    }
}

/// Says what somebody can do to a submission.
pub(crate) fn say_actions(submission: &SubmissionView, server: &ServerArgs) {
    let Some(first) = submission.actions.first() else { return };
    let command = format!("{} act {} {first}{}", program(), submission.id, server.same_server());
    say!("what people can do now: {}, with `{command}`", submission.actions.join(", "));
}
