//! A server in a process of its own, and callers over HTTP.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::{Caller, Connection, Home, Reach, Submitter, Task};
use crate::pipelines::{ALL, Machine};

/// The unit of processor times on every Linux there is.
const TICKS_PER_SECOND: u64 = 100;

/// The way a server is started.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) binary: PathBuf,
    /// The arguments that say where the server's data are.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Option<(String, String)>,
    pub(crate) label: String,
}

#[derive(Debug)]
pub(crate) struct Outside {
    addresses: Vec<SocketAddr>,
    servers: Vec<Child>,
    next: std::sync::atomic::AtomicUsize,
    label: String,
    _pipelines: tempfile::TempDir,
}

impl Outside {
    /// Starts so many servers over the same store and waits until they listen.
    pub(crate) async fn start(program: &Program, servers: usize) -> Result<Outside> {
        let folder = tempfile::tempdir()?;
        for machine in ALL {
            std::fs::write(folder.path().join(format!("{}.toml", machine.name)), machine.text())?;
        }
        let mut outside = Outside {
            addresses: Vec::new(),
            servers: Vec::new(),
            next: 0.into(),
            label: program.label.clone(),
            _pipelines: folder,
        };
        for _ in 0..servers {
            let (child, address) = spawn(program, outside._pipelines.path()).await?;
            outside.servers.push(child);
            outside.addresses.push(address);
        }
        Ok(outside)
    }

    #[must_use]
    pub(crate) fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Memory the first server occupies now, in bytes.
    pub(crate) fn resident(&self) -> Result<u64> {
        let pid = self.servers[0].id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes =
            line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<u64>().ok());
        Ok(kilobytes.context("the machine does not say what a process occupies")? * 1024)
    }

    /// Processor time that the first server has used since it started.
    pub(crate) fn used(&self) -> Result<Duration> {
        let pid = self.servers[0].id().context("the server has ended")?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // Behind the name, which may have blanks in it: the 12th and 13th are ticks in user and system mode.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: Option<Vec<u64>> = fields.skip(11).take(2).map(|text| text.parse().ok()).collect();
        let ticks = ticks.filter(|ticks| ticks.len() == 2).context("the machine does not tell times")?;
        Ok(Duration::from_millis(ticks.iter().sum::<u64>() * 1_000 / TICKS_PER_SECOND))
    }

    /// Ends the servers without a warning, as a crash does.
    pub(crate) async fn kill(mut self) -> Result<()> {
        for server in &mut self.servers {
            server.kill().await?;
        }
        Ok(())
    }
}

async fn spawn(program: &Program, pipelines: &Path) -> Result<(Child, SocketAddr)> {
    let mut command = Command::new(&program.binary);
    command
        .arg("serve")
        .args(&program.arguments)
        .args(["--listen", "127.0.0.1:0", "--pipelines"])
        .arg(pipelines);
    command
        .envs(program.environment.clone())
        .env("MILEPOST_LOG", "error")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().context("cannot start a server")?;
    let mut lines = BufReader::new(child.stderr.take().context("the server has no output")?).lines();
    let mut said = String::new();
    while let Some(line) = lines.next_line().await? {
        if let Some(address) = line.strip_prefix("listening on http://") {
            let address = address.trim().parse()?;
            // Whatever else it says is read, or it would wait for a reader.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((child, address));
        }
        said.push_str(&line);
        said.push('\n');
    }
    anyhow::bail!("the server did not start:\n{said}")
}

impl Home for Outside {
    type Caller = Connection;

    fn servers(&self) -> &[SocketAddr] {
        &self.addresses
    }

    async fn caller(&self) -> Result<Connection> {
        let next = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Connection::open(self.addresses[next % self.addresses.len()]).await
    }

    fn label(&self) -> &str {
        &self.label
    }
}

#[derive(Deserialize)]
struct Claimed {
    tasks: Vec<Leased>,
}

#[derive(Deserialize)]
struct Leased {
    token: String,
    payload: Numbered,
}

#[derive(Deserialize)]
struct Numbered {
    n: u64,
}

#[derive(Deserialize)]
struct Results {
    results: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    status: u16,
}

impl Reach for Connection {
    async fn reach(server: SocketAddr) -> Result<Connection> {
        Connection::open(server).await
    }
}

impl Submitter for Connection {
    async fn submit(&mut self, machine: Machine, payloads: Vec<String>) -> Result<()> {
        let path = format!("/v1/pipelines/{}/submissions", machine.name);
        if let [payload] = payloads.as_slice() {
            let body = format!(r#"{{"payload":{payload}}}"#);
            return self.post(&path, body.as_bytes()).await?.expect(201).map(drop);
        }
        let each: Vec<String> =
            payloads.iter().map(|payload| format!(r#"{{"payload":{payload}}}"#)).collect();
        let body = format!(r#"{{"submissions":[{}]}}"#, each.join(","));
        all(&self.post(&path, body.as_bytes()).await?.expect(200)?, 201)
    }
}

impl Caller for Connection {
    type Token = String;

    async fn claim(&mut self, machine: Machine, max: usize, wait: Duration) -> Result<Vec<Task<String>>> {
        let tasks = serde_json::to_string(machine.tasks)?;
        let body =
            format!(r#"{{"worker":"bench","tasks":{tasks},"max":{max},"wait":"{}ms"}}"#, wait.as_millis());
        let answer = self.post("/v1/tasks:claim", body.as_bytes()).await?.expect(200)?;
        let claimed: Claimed = serde_json::from_slice(&answer)?;
        let task = |leased: Leased| Task { token: leased.token, number: leased.payload.n };
        Ok(claimed.tasks.into_iter().map(task).collect())
    }

    async fn finish(&mut self, tasks: Vec<Task<String>>) -> Result<()> {
        let each: Vec<String> =
            tasks.iter().map(|task| format!(r#"{{"token":"{}","outcome":"done"}}"#, task.token)).collect();
        let body = format!(r#"{{"tasks":[{}]}}"#, each.join(","));
        all(&self.post("/v1/tasks:finish", body.as_bytes()).await?.expect(200)?, 200)
    }
}

fn all(answer: &[u8], status: u16) -> Result<()> {
    let Results { results } = serde_json::from_slice(answer)?;
    let other = results.iter().find(|one| one.status != status);
    ensure!(other.is_none(), "one of {} was answered {}", results.len(), other.map_or(0, |one| one.status));
    Ok(())
}
