//! The table `[system.ledger]`: the ledgers there are, and the services that each has.

use std::path::PathBuf;

use serde::Deserialize;
use system::{Fault, Settings};
use wire::Millis;

/// The most ledgers of a table.
const LEDGERS_MAX: usize = 1_000;
/// The most tasks that a worker is lent by one claim, and so the most that are worth having places for.
const AT_ONCE_MAX: usize = 1_000;

/// The settings of the system.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Table {
    /// Number of tasks at a time, of all ledgers together.
    #[serde(default = "at_once")]
    pub(crate) at_once: usize,
    /// The ledgers. A service is of the first whose patterns it fits.
    #[serde(default, rename = "ledgers")]
    pub(crate) ledgers: Vec<LedgerSettings>,
}

impl Default for Table {
    fn default() -> Table {
        Table { at_once: at_once(), ledgers: Vec::new() }
    }
}

/// The language of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Sawtooth,
    Scabbard,
    Ethereum,
}

/// One ledger: an address, and the ways to speak with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LedgerSettings {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Services, as they are or with a `*` at the end. Batches without a service are those of `----`.
    pub(crate) services: Vec<String>,
    pub(crate) url: Option<String>,
    /// A file with the address, for one that is a secret.
    pub(crate) url_file: Option<PathBuf>,
    /// A file with what follows `Authorization: Bearer`.
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) user: Option<String>,
    pub(crate) password_file: Option<PathBuf>,
    /// The certificates, in PEM, that are trusted in place of the machine's.
    pub(crate) ca_file: Option<PathBuf>,
    /// Networks that may be reached though they are not public.
    #[serde(default)]
    pub(crate) allow_address: Vec<String>,
    #[serde(default = "timeout")]
    pub(crate) timeout: Millis,
    /// Quick attempts of one submission, as long as the ledger is busy.
    #[serde(default = "attempts")]
    pub(crate) attempts: u32,
    /// The pause after the first quick attempt, and the time by which each further one is longer.
    #[serde(default = "pause")]
    pub(crate) pause: Millis,
    #[serde(default = "pause_step")]
    pub(crate) pause_step: Millis,
    /// The time between two questions about one batch.
    #[serde(default = "poll")]
    pub(crate) poll: Millis,
    /// The time that the ledger may wait for a decision before it answers.
    #[serde(default = "wait")]
    pub(crate) wait: Millis,
    /// The number of times in a row that a ledger must say it does not know a batch.
    #[serde(default = "unknown_after")]
    pub(crate) unknown_after: u32,
    /// Blocks that a transaction must be deep in before it is committed: 1 is the newest.
    #[serde(default = "confirmations")]
    pub(crate) confirmations: u64,
    /// Blocks behind which a chain does not go back: as long a committed transaction is watched.
    #[serde(default = "finality")]
    pub(crate) finality: u64,
}

fn at_once() -> usize {
    256
}

fn timeout() -> Millis {
    Millis::from_secs(15)
}

fn attempts() -> u32 {
    10
}

fn pause() -> Millis {
    Millis::new(250)
}

fn pause_step() -> Millis {
    Millis::new(500)
}

fn poll() -> Millis {
    Millis::from_secs(2)
}

fn wait() -> Millis {
    Millis::from_secs(1)
}

fn unknown_after() -> u32 {
    3
}

fn confirmations() -> u64 {
    12
}

fn finality() -> u64 {
    64
}

impl Table {
    pub(crate) fn read(settings: Settings<'_>) -> Result<Table, Fault> {
        let table: Table = settings.read()?;
        let bad = |message: String| Err(Fault::new(message));
        if !(2..=AT_ONCE_MAX).contains(&table.at_once) {
            return bad(format!("`at-once` is {}: set 2 to {AT_ONCE_MAX}", table.at_once));
        }
        if table.ledgers.len() > LEDGERS_MAX {
            return bad(format!("{} ledgers: {LEDGERS_MAX} are the most", table.ledgers.len()));
        }
        for (no, ledger) in table.ledgers.iter().enumerate() {
            if table.ledgers[..no].iter().any(|other| other.name == ledger.name) {
                return bad(format!("two ledgers are named `{}`: give one another name", ledger.name));
            }
            if let Some(fault) = ledger.fault() {
                return bad(format!("ledger `{}`: {fault}", ledger.name));
            }
        }
        Ok(table)
    }
}

impl LedgerSettings {
    /// Returns the first thing that is wrong with it.
    fn fault(&self) -> Option<String> {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let checks = [
            (
                self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(is_name),
                "a name has 1 to 64 of a-z, 0-9 and -".to_owned(),
            ),
            (
                self.url.is_some() == self.url_file.is_some(),
                "set `url`, or `url-file` where the address is a secret".to_owned(),
            ),
            (
                self.user.is_some() != self.password_file.is_some(),
                "`user` and `password-file` go together".to_owned(),
            ),
            (
                self.user.is_some() && self.token_file.is_some(),
                "set `token-file` or `user`, not both".to_owned(),
            ),
            (self.services.is_empty(), "`services` is empty: it would get no batch".to_owned()),
            (
                self.attempts == 0 || self.attempts > 100,
                format!("`attempts` is {}: set 1 to 100", self.attempts),
            ),
            (self.unknown_after == 0, "`unknown-after` is 0: set at least 1".to_owned()),
            (self.confirmations == 0, "`confirmations` is 0: set at least 1".to_owned()),
            (self.timeout.is_zero(), "`timeout` is 0s: no request would be answered in time".to_owned()),
            (
                self.wait >= self.timeout,
                format!("`wait` is {}: it must end before the `timeout` of {}", self.wait, self.timeout),
            ),
        ];
        checks.into_iter().find_map(|(is_wrong, message)| is_wrong.then_some(message))
    }

    /// Returns whether a service is one of this ledger's.
    pub(crate) fn has(&self, service: &str) -> bool {
        self.services.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => service.starts_with(beginning),
            None => service == pattern,
        })
    }
}
