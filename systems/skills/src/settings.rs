//! The table `[system.skills]` of the settings file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use system::{Fault, secret};

/// The time that a judge may take for one answer, where nothing else is said: less than the attempt as a whole.
const JUDGE_SECONDS: u64 = 45;
const NAME: &str = "milepost-skills";

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// The registry's name, as its signatures give it.
    name: Option<String>,
    /// The folder that the registry is in; one of the system's own by default.
    pub(crate) registry: Option<PathBuf>,
    /// The file with the key that the registry is signed with; made where there is none.
    pub(crate) key_file: Option<PathBuf>,
    /// Addresses to fetch the repositories of a host from: only these may be `http://` or `file://`.
    #[serde(default)]
    pub(crate) mirrors: BTreeMap<String, String>,
    /// The certificates to trust when fetching, instead of the machine's.
    pub(crate) ca_file: Option<PathBuf>,
    /// The model that judges; without one a person looks at every skill.
    pub(crate) judge: Option<JudgeSettings>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct JudgeSettings {
    /// The endpoint's address up to `/v1`.
    pub(crate) url: String,
    pub(crate) model: String,
    key_file: Option<PathBuf>,
    within_seconds: Option<u64>,
}

impl Settings {
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAME)
    }

    /// Refuses what would fail later.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        for (host, address) in &self.mirrors {
            if host.contains(['/', ':', '@']) || host.to_ascii_lowercase() != *host {
                return Err(Fault::new(format!(
                    "`mirrors`: `{host}` is no host: write it in small letters, as git.example.com"
                )));
            }
            if !["https://", "http://", "file:///"].iter().any(|scheme| address.starts_with(scheme)) {
                let known = "begin it with https://, http:// or file:///";
                return Err(Fault::new(format!(
                    "`mirrors`: `{address}` is no address of repositories: {known}"
                )));
            }
        }
        crate::registry::Key::check_name(self.name())
            .map_err(|error| Fault::new(format!("`name`: {error}")))?;
        self.judge.as_ref().map_or(Ok(()), |judge| judge.key().map(drop))
    }
}

impl JudgeSettings {
    pub(crate) fn within(&self) -> Duration {
        Duration::from_secs(self.within_seconds.unwrap_or(JUDGE_SECONDS))
    }

    /// Returns the endpoint's key, where it has one.
    pub(crate) fn key(&self) -> Result<Option<String>, Fault> {
        let file = self.key_file.as_ref();
        let key = file.map(|file| secret("judge.key-file", file)).transpose()?;
        match key {
            Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(Fault::new("`judge.key-file`: the key has characters that no header may have"))
            }
            key => Ok(key),
        }
    }
}
