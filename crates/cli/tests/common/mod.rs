//! The real binary: run to its end, or as a server.

pub(crate) mod node;
pub(crate) mod python;
#[allow(clippy::duplicate_mod, reason = "the stories of the audit log's tests bring it along as well")]
#[path = "../../../model/tests/support/shipped.rs"]
pub(crate) mod shipped;
pub(crate) mod sql;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use client::Client;
use engine::SystemClock;
use model::Json;
use serde_json::Value;
use store::{Changes, RegistryChange, RegistryKey, Store as _, Take};
use store_sqlite::SqliteStore;
use tempfile::TempDir;

/// The binary, deaf to the settings of whoever runs the tests.
pub(crate) fn milepost(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_milepost"));
    for name in [
        "CARGO",
        "MILEPOST_SERVER",
        "MILEPOST_TOKEN",
        "MILEPOST_CA",
        "MILEPOST_SMTP_PASSWORD",
        "MILEPOST_STORE",
        "MILEPOST_LOG",
        "HTTP_PROXY",
        "http_proxy",
    ] {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null());
    command
}

/// The output of a command and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Said {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Said {
            code: output.status.code().expect("the program was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

pub(crate) fn run(args: &[&str]) -> Said {
    milepost(args).output().expect("the binary runs").into()
}

/// A server process of its own, on a free port, over a folder of its own.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) folder: TempDir,
    pipelines: PathBuf,
    /// The arguments of the command line, besides where the data and the pipelines are.
    args: Vec<String>,
}

impl Server {
    /// Starts one that applies these pipelines.
    pub(crate) fn start(files: &[(&str, &str)]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("the folder can be written");
        }
        let pipelines = folder.path().to_path_buf();
        Server::start_in(folder, &pipelines, &[], &[])
    }

    /// Starts one with these files, more arguments and a changed environment.
    pub(crate) fn start_with(files: &[(&str, &str)], args: &[String], envs: &[(&str, &str)]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder"))
                .expect("a folder can be made");
            std::fs::write(path, text).expect("the folder can be written");
        }
        let pipelines = folder.path().to_path_buf();
        Server::start_in(folder, &pipelines, args, envs)
    }

    /// Starts one with the repository's pipelines.
    pub(crate) fn with_own_pipelines() -> Server {
        Server::with_own_and(&[])
    }

    /// Starts one with the repository's pipelines and more arguments.
    pub(crate) fn with_own_and(args: &[String]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        let pipelines = folder.path().join("pipelines");
        shipped::gather(&pipelines);
        Server::start_in(folder, &pipelines, args, &[])
    }

    /// Starts one with the repository's pipelines, whose door opens to this token only.
    pub(crate) fn with_token(token: &str, role: &str) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        let store = SqliteStore::open(&folder.path().join("data"), Arc::new(SystemClock::new()));
        let store = store.expect("the folder can be written");
        let key = RegistryKey { kind: server::TOKENS.to_owned(), name: server::token_name(token) };
        let rights = Json::from(serde_json::json!({ "subject": "ada", "role": role }));
        let kept = store.transact(&Take::nothing(), &mut |_| Changes {
            registry: vec![RegistryChange { key: key.clone(), body: Some(rights.clone()) }],
            ..Changes::default()
        });
        kept.expect("the token is kept");
        drop(store);
        Server::start_with_own(folder)
    }

    fn start_with_own(folder: TempDir) -> Server {
        let pipelines = folder.path().join("pipelines");
        shipped::gather(&pipelines);
        Server::start_in(folder, &pipelines, &[], &[])
    }

    fn start_in(folder: TempDir, pipelines: &Path, args: &[String], envs: &[(&str, &str)]) -> Server {
        let log = Arc::default();
        let mut command = serve(folder.path(), pipelines, "127.0.0.1:0");
        command.args(args).envs(envs.iter().copied());
        let (child, url) = listening(command, &log);
        Server { child, url, log, folder, pipelines: pipelines.to_owned(), args: args.to_vec() }
    }

    /// Starts one over the store at this address, with these pipelines.
    pub(crate) fn over(store: &str, files: &[(&str, &str)]) -> Server {
        Server::by(milepost(&[]), store, files)
    }

    /// The same by a command of its own, to which the server's arguments are added.
    pub(crate) fn by(mut command: Command, store: &str, files: &[(&str, &str)]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("the folder can be written");
        }
        let pipelines = folder.path().to_path_buf();
        command.args(["serve", "--listen", "127.0.0.1:0", "--pipelines"]).arg(&pipelines);
        command.env("MILEPOST_STORE", store).stdin(Stdio::null());
        let log = Arc::default();
        let (child, url) = listening(command, &log);
        Server { child, url, log, folder, pipelines, args: Vec::new() }
    }

    /// Kills it, and starts it again where it was.
    pub(crate) fn restart(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("it ends");
        let address = self.url.strip_prefix("http://").expect("the url begins with it").to_owned();
        let mut command = serve(self.folder.path(), &self.pipelines, &address);
        command.args(&self.args);
        let (child, url) = listening(command, &self.log);
        assert_eq!(url, self.url);
        self.child = child;
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, None).expect("the server's address is good")
    }

    /// Runs a command that asks this server.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        milepost(args).args(["--server", &self.url]).output().expect("the binary runs").into()
    }

    /// Sends a signal and waits for the end.
    #[cfg(unix)]
    pub(crate) fn signal(&mut self, name: &str) -> std::process::ExitStatus {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill runs");
        assert!(sent.success());
        self.child.wait().expect("the server ends")
    }
}

fn serve(folder: &Path, pipelines: &Path, listen: &str) -> Command {
    let mut command = milepost(&["serve", "--listen", listen, "--data"]);
    command.arg(folder.join("data")).arg("--pipelines").arg(pipelines);
    command
}

/// Starts a server's process and waits until it says where it listens.
pub(crate) fn listening(mut command: Command, log: &Arc<Mutex<Vec<String>>>) -> (Child, String) {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut lines =
        BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
    let note = |line: String| log.lock().expect("nobody panics with it").push(line);
    let url = loop {
        let Some(line) = lines.next() else { panic!("the server did not start:\n{log:#?}") };
        match line.strip_prefix("listening on ") {
            Some(url) => break url.to_owned(),
            None => note(line),
        }
    };
    let log = log.clone();
    std::thread::spawn(move || lines.for_each(|line| log.lock().expect("nobody panics with it").push(line)));
    (child, url)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log.lock().expect("nobody panics with it").join("\n"));
        }
    }
}
