//! Fetching by git: one commit, into a bare repository that is thrown away, through the guarded way out.
//!
//! Nothing is checked out: the files are read from git's objects, so that no hook, filter or link of a stranger is ever at
//! work here.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use fetch::Fetch;
use fetch::proxy::{Limits, Proxy};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use super::choose::{Wanted, choose};
use super::snapshot::Snapshot;
use super::tree::{Entry, entries, within};
use crate::scan::{DEPTH_MAX, File, Folder, Kind, TOTAL_BYTES_MAX};

/// The time for all that is done for one skill.
const WITHIN: Duration = Duration::from_secs(60);
/// The most bytes of a repository that come over the network.
const CLONE_BYTES_MAX: u64 = 64 << 20;
/// The most bytes of a tree's listing.
const LISTING_BYTES_MAX: u64 = 16 << 20;
/// The most bytes that are kept of what git complains about.
const COMPLAINT_BYTES_MAX: u64 = 4 << 10;
const BRANCH: &str = "refs/heads/skill";

/// The reason why a skill cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The repository cannot be reached, or does not have the commit: another try may go better.
    #[error("cannot fetch {repository}: {reason}")]
    Clone { repository: String, reason: String },
    /// The repository is there, and has no such skill.
    #[error("{0}")]
    NoSkill(String),
    /// This machine is to blame.
    #[error("cannot run git: {0}")]
    Machine(#[from] io::Error),
}

/// Fetches skills from repositories.
#[derive(Debug, Clone)]
pub struct Git {
    fetch: Fetch,
    /// The folder beneath which repositories are for the time of one fetch.
    folder: PathBuf,
    /// Addresses that stand for hosts: `github.com` to where its repositories are had instead.
    mirrors: BTreeMap<String, String>,
    /// The file with the certificates to trust instead of the machine's.
    ca_file: Option<PathBuf>,
}

impl Git {
    #[must_use]
    pub fn new(fetch: Fetch, folder: PathBuf) -> Git {
        Git { fetch, folder, mirrors: BTreeMap::new(), ca_file: None }
    }

    /// Fetches repositories of some hosts from other addresses: only these may be `http://` or `file://`.
    #[must_use]
    pub fn mirrored(self, mirrors: BTreeMap<String, String>, ca_file: Option<PathBuf>) -> Git {
        Git { mirrors, ca_file, ..self }
    }

    /// Fetches a skill: at this commit, or at the newest of the repository's default branch. `repository` is the normal form
    /// of its address.
    pub async fn snapshot(
        &self,
        repository: &str,
        commit: Option<&str>,
        wanted: &Wanted,
    ) -> Result<Snapshot, Error> {
        match timeout(WITHIN, self.fetched(repository, commit, wanted)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(clone_error(repository, format!("it took longer than {} s", WITHIN.as_secs()))),
        }
    }

    async fn fetched(
        &self,
        repository: &str,
        pinned: Option<&str>,
        wanted: &Wanted,
    ) -> Result<Snapshot, Error> {
        let limits = Limits { within: WITHIN, bytes_max: CLONE_BYTES_MAX, ..Limits::default() };
        let work = Work {
            folder: tempfile::Builder::new().prefix("fetch-").tempdir_in(&self.folder)?,
            proxy: Proxy::start(&self.fetch, limits).await?,
            ca_file: self.ca_file.clone(),
            repository,
        };
        std::fs::create_dir(work.home())?;
        work.run(&["init", "--quiet", "--bare", "--template=", "."], b"", 0).await?;
        let address = self.address(repository)?;
        let wish = format!("+{}:{BRANCH}", pinned.unwrap_or("HEAD"));
        let fetched = work.fetch(&format!("{address}.git"), &wish).await;
        // Some hosts serve repositories under their plain names only.
        match fetched {
            Err(Error::Clone { reason, .. }) if reason.contains("not found") => {
                work.fetch(&address, &wish).await?;
            }
            fetched => fetched?,
        }
        let commit = work.run(&["rev-parse", "--verify", &format!("{BRANCH}^{{commit}}")], b"", 256).await?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        if pinned.is_some_and(|pinned| pinned != commit) {
            return Err(clone_error(repository, format!("it gave the commit {commit} for another one")));
        }
        let list = ["ls-tree", "-r", "-z", "-l", "--full-tree", &commit];
        let entries = entries(&work.run(&list, b"", LISTING_BYTES_MAX).await?)
            .ok_or_else(|| clone_error(repository, "its tree cannot be read".to_owned()))?;
        let place = choose(&entries, wanted).map_err(Error::NoSkill)?;
        let folder = work.folder_of(&entries, &place).await?;
        Ok(Snapshot { commit, place, folder })
    }

    /// Returns the address that git asks for a repository, without `.git`.
    fn address(&self, repository: &str) -> Result<String, Error> {
        let rest = repository.strip_prefix("https://");
        let Some((host, path)) = rest.and_then(|rest| rest.split_once('/')) else {
            return Err(clone_error(repository, "this is no address of a repository".to_owned()));
        };
        Ok(match self.mirrors.get(host) {
            Some(mirror) => format!("{}/{path}", mirror.trim_end_matches('/')),
            None => repository.to_owned(),
        })
    }
}

fn clone_error(repository: &str, reason: String) -> Error {
    Error::Clone { repository: repository.to_owned(), reason }
}

/// One fetch, with the folder that it needs.
struct Work<'a> {
    folder: TempDir,
    proxy: Proxy,
    ca_file: Option<PathBuf>,
    repository: &'a str,
}

impl Work<'_> {
    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    async fn fetch(&self, address: &str, wish: &str) -> Result<(), Error> {
        let fetched = self
            .run(
                &[
                    "fetch",
                    "--quiet",
                    "--depth=1",
                    "--no-tags",
                    "--no-recurse-submodules",
                    "--no-write-fetch-head",
                    "--no-auto-maintenance",
                    address,
                    wish,
                ],
                b"",
                0,
            )
            .await;
        match (fetched, self.proxy.failures().first()) {
            (Ok(_), _) => Ok(()),
            // The proxy knows better than git why nothing came.
            (Err(_), Some(failure)) => {
                Err(clone_error(self.repository, format!("{}: {}", failure.host, failure.error)))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Reads the files of one folder.
    async fn folder_of(&self, entries: &[Entry], place: &str) -> Result<Folder, Error> {
        let (entries, mut is_cut) = within(entries, place);
        is_cut |= entries.iter().any(|entry| entry.path.split('/').count() > DEPTH_MAX + 1);
        let mut left = TOTAL_BYTES_MAX;
        let mut wishes = String::new();
        let mut files = Vec::new();
        let mut asked = Vec::new();
        for entry in entries {
            if matches!(entry.kind, Kind::Plain | Kind::Executable) && entry.size <= left {
                left -= entry.size;
                wishes.push_str(&entry.object);
                wishes.push('\n');
                asked.push(files.len());
            }
            files.push(File { path: entry.path, kind: entry.kind, size: entry.size, bytes: Vec::new() });
        }
        // Each content has a line before it and an end of line behind it.
        let most = TOTAL_BYTES_MAX + 200 * (asked.len() as u64 + 1);
        let contents = self.run(&["cat-file", "--batch"], wishes.as_bytes(), most).await?;
        let mut rest = contents.as_slice();
        for index in asked {
            let file = &mut files[index];
            let content = content(&mut rest, file.size).ok_or_else(|| {
                clone_error(self.repository, format!("`{}` cannot be read from it", file.path))
            })?;
            file.bytes = content.to_vec();
        }
        Ok(Folder { is_cut, ..Folder::of(files) })
    }

    /// Runs a git that has no settings, no credentials, no hooks, and no way out but the proxy.
    async fn run(&self, arguments: &[&str], input: &[u8], bytes_max: u64) -> Result<Vec<u8>, Error> {
        let mut git = self.command(self.folder.path(), arguments);
        let mut running = git.spawn()?;
        let (mut stdin, stdout, mut stderr) = (
            running.stdin.take().expect("it is piped"),
            running.stdout.take().expect("it is piped"),
            running.stderr.take().expect("it is piped"),
        );
        let (mut output, mut complaint) = (Vec::new(), Vec::new());
        let mut bounded = stdout.take(bytes_max + 1);
        let feeding = async {
            // A git that has ended already says why by itself.
            let _ = stdin.write_all(input).await;
            drop(stdin);
        };
        let complaining = async {
            (&mut stderr).take(COMPLAINT_BYTES_MAX).read_to_end(&mut complaint).await?;
            tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await
        };
        let reading = async {
            bounded.read_to_end(&mut output).await?;
            // Nobody writes into a closed pipe for long.
            drop(bounded);
            Ok::<_, io::Error>(())
        };
        let ((), read, _) = tokio::join!(feeding, reading, complaining);
        read?;
        let status = running.wait().await?;
        if output.len() as u64 > bytes_max {
            return Err(clone_error(self.repository, format!("it has more than {bytes_max} bytes")));
        }
        if !status.success() {
            return Err(clone_error(self.repository, complaint_of(&complaint)));
        }
        Ok(output)
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        const SETTINGS: &[&str] = &[
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "credential.helper=",
            "fetch.fsckObjects=true",
            "gc.auto=0",
            // A redirect leads to somebody whom nobody has named.
            "http.followRedirects=false",
            "http.lowSpeedLimit=1000",
            "http.lowSpeedTime=20",
            "transfer.bundleURI=false",
        ];
        let mut git = Command::new("git");
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        git.args(arguments).current_dir(folder).env_clear().kill_on_drop(true);
        git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        git.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        git.env("HOME", self.home()).env("LC_ALL", "C");
        git.env("GIT_DIR", ".").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", "https:http:file");
        for name in ["http_proxy", "https_proxy"] {
            git.env(name, self.proxy.url().expose());
        }
        git.envs(self.ca_file.as_ref().map(|file| ("GIT_SSL_CAINFO", file)));
        git
    }
}

/// Takes the next content from the output of `git cat-file --batch`.
fn content<'a>(rest: &mut &'a [u8], size: u64) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let told: u64 = head.split(' ').nth(2)?.parse().ok()?;
    let size = usize::try_from(size).ok().filter(|_| told == size)?;
    let (content, behind) = rest[end + 1..].split_at_checked(size)?;
    *rest = behind.strip_prefix(b"\n")?;
    Some(content)
}

/// Returns the line in which git says what was wrong.
fn complaint_of(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = lines().find_map(|line| line.strip_prefix("fatal: ").or(line.strip_prefix("error: ")));
    told.or(lines().next()).unwrap_or("git gave no reason").chars().take(300).collect()
}
