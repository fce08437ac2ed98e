//! The settings of the list: the table `[system.site-list]`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fetch::Fetch;
use serde::Deserialize;
use system::{Desk, Fault, Settings, secret};
use tlog::follow::FolderStore;
use tlog::note::{SigningKey, VerifierKey};
use wire::Millis;

use crate::hex::unhex;
use crate::log::{Log, Own, Reader, Remote, Sigsum, SigsumKey, Source};
use crate::rules::ISSUERS;
use crate::sites::{Names, Reach, Sites};

/// The most tasks that one server does at a time.
const AT_A_TIME_MAX: usize = 1_000;

/// The table as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Table {
    /// Issuers of identities that may vouch for signers.
    pub(crate) issuers: Vec<String>,
    /// Name servers that are asked instead of the machine's.
    name_servers: Vec<SocketAddr>,
    /// Certificates that are trusted instead of the machine's.
    roots_file: Option<PathBuf>,
    site_port: u16,
    site_within: Millis,
    /// The time between two requests to one host.
    pub(crate) host_pause: Millis,
    /// The most mails to one contact within a day.
    pub(crate) mails_a_day: usize,
    /// The address of a listener for the list's own API, which owns all of it.
    pub(crate) listen: Option<SocketAddr>,
    /// Tasks that are done at a time. A site that hangs takes one place up until its time is over.
    pub(crate) at_a_time: usize,
    /// The time for which a domain has to be gone, at every daily look, before it is reported.
    pub(crate) gone_for: Millis,
    /// The key of the list's own log. Its name is the log's origin.
    log_key_file: Option<PathBuf>,
    /// The folder of the list's own log, which is no cache: keep it, and the file `.guard` beside it.
    pub(crate) log_folder: Option<PathBuf>,
    /// The address at which everybody reads the list's own log; the folder, where there is none.
    log_url: Option<String>,
    /// The pause before a log is asked again that has not merged a leaf yet.
    pub(crate) log_pause: Millis,
    /// The log of others that is used in place of one's own.
    sigsum: Option<SigsumTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SigsumTable {
    url: String,
    /// The log's public key, in hexadecimal.
    log_key: String,
    /// The key that signs leaves.
    key_file: PathBuf,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            issuers: ISSUERS.iter().map(|issuer| (*issuer).to_owned()).collect(),
            name_servers: Vec::new(),
            roots_file: None,
            site_port: 443,
            site_within: Millis::from_secs(10),
            host_pause: Millis::from_secs(60),
            mails_a_day: 3,
            listen: None,
            at_a_time: 32,
            gone_for: Millis::from_secs(20 * 60 * 60),
            log_key_file: None,
            log_folder: None,
            log_url: None,
            log_pause: Millis::from_secs(10),
            sigsum: None,
        }
    }
}

impl Table {
    /// Reads the table, and the files that it names: a mistake should not wait for the first change.
    pub(crate) fn read(settings: Settings<'_>) -> Result<Table, Fault> {
        let mut table: Table = settings.read()?;
        for issuer in &mut table.issuers {
            *issuer = issuer.trim().to_lowercase();
        }
        if table.site_port == 0 || table.site_within.is_zero() {
            return Err(Fault::new("`site-port` and `site-within` must be more than nothing"));
        }
        if !(1..=AT_A_TIME_MAX).contains(&table.at_a_time) {
            let message = format!("`at-a-time` is {}: give 1 to {AT_A_TIME_MAX}", table.at_a_time);
            return Err(Fault::new(message));
        }
        match (&table.sigsum, &table.log_key_file) {
            (None, None) => {
                return Err(Fault::new("the list has no log: set `log-key-file`, or a table `sigsum`"));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::new(
                    "the list has two logs: leave out `log-key-file` or the table `sigsum`",
                ));
            }
            (Some(sigsum), None) => {
                sigsum.keys()?;
            }
            (None, Some(file)) => {
                key("log-key-file", file)?;
                if table.log_folder.is_none() {
                    return Err(Fault::new("set `log-folder`: the log is kept there for ever"));
                }
            }
        }
        table.roots()?;
        Ok(table)
    }

    fn roots(&self) -> Result<Option<String>, Fault> {
        let read = |file: &PathBuf| secret("roots-file", file);
        let roots = self.roots_file.as_ref().map(read).transpose()?;
        if let Some(roots) = &roots {
            let fetch = Fetch::new(fetch::Policy::default());
            fetch
                .with_roots(roots.as_bytes())
                .map_err(|error| Fault::new(format!("`roots-file`: {error}")))?;
        }
        Ok(roots)
    }

    /// Makes the way to the sites.
    pub(crate) fn sites(&self, fetch: &Fetch) -> Result<Sites, Fault> {
        let fault = |error: &dyn std::fmt::Display| Fault::new(format!("`name-servers`: {error}"));
        let names = match &self.name_servers[..] {
            [] => Names::of_the_machine().map_err(|error| fault(&error))?,
            servers => Names::at(servers).map_err(|error| fault(&error))?,
        };
        let within = Duration::from_millis(self.site_within.millis());
        let reach = Reach { names, port: self.site_port, within };
        let fetch = match self.roots()? {
            None => fetch.clone(),
            Some(roots) => {
                let fetch = fetch.clone().with_roots(roots.as_bytes());
                fetch.map_err(|error| Fault::new(format!("`roots-file`: {error}")))?
            }
        };
        Ok(Sites::new(&fetch, reach))
    }

    /// Makes the place that the list's own log is read from, and says who signs it. None where the log is of others.
    pub(crate) fn own_log(&self, desk: &Desk) -> Result<Option<(Source, VerifierKey)>, Fault> {
        let Some(file) = &self.log_key_file else { return Ok(None) };
        let folder = self.log_folder.clone().ok_or_else(|| Fault::new("`log-folder` is not set"))?;
        let source = match &self.log_url {
            None => Source::Folder(FolderStore::open(folder)),
            Some(url) => {
                let remote = Remote::new(url, &desk.fetch);
                Source::Remote(remote.map_err(|error| Fault::new(format!("`log-url`: {error}")))?)
            }
        };
        Ok(Some((source, key("log-key-file", file)?.verifier())))
    }

    /// Makes the way to the log.
    pub(crate) fn log(&self, desk: &Desk) -> Result<Log, Fault> {
        let seen = desk.folder.join("log-seen");
        if let Some(sigsum) = &self.sigsum {
            let log = Sigsum::new(&sigsum.url, &desk.fetch, sigsum.keys()?, seen);
            let log = log.map_err(|error| Fault::new(format!("`sigsum`: {error}")))?;
            return Ok(Log::Sigsum(Box::new(log)));
        }
        let file = self.log_key_file.as_ref().ok_or_else(|| Fault::new("`log-key-file` is not set"))?;
        let folder = self.log_folder.clone().ok_or_else(|| Fault::new("`log-folder` is not set"))?;
        let writer =
            Own::new(folder.clone(), folder.with_added_extension("guard"), key("log-key-file", file)?);
        let (source, key) = self.own_log(desk)?.ok_or_else(|| Fault::new("`log-key-file` is not set"))?;
        let reader = Reader::new(source, key, seen);
        Ok(Log::Own { writer, reader })
    }
}

impl SigsumTable {
    fn keys(&self) -> Result<(SigsumKey, SigningKey), Fault> {
        let log = unhex(&self.log_key).and_then(|bytes| bytes.try_into().ok());
        let log = log.ok_or_else(|| Fault::new("`log-key`: give 64 hexadecimal digits"))?;
        Ok((SigsumKey(log), key("key-file", &self.key_file)?))
    }
}

fn key(setting: &str, file: &std::path::Path) -> Result<SigningKey, Fault> {
    let text = secret(setting, file)?;
    text.parse().map_err(|error| Fault::new(format!("`{setting}`: {}: {error}", file.display())))
}
