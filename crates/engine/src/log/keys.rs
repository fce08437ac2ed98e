//! The file with the log's keys: one secret a line, readable by its owner alone. All of them sign.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use audit::note::{Algorithm, Signer, SigningKey, VerifierKey, is_key_name};
use thiserror::Error;

use crate::clock;

#[derive(Debug, Error)]
pub enum KeyFileError {
    #[error("the key file {path}: {error}")]
    File { path: String, error: io::Error },
    #[error("the key file {path} cannot be read: {reason}; restore it, a new key would be another log")]
    Damaged { path: String, reason: String },
    #[error("`{0}` cannot be a log's name: it has no space and no plus sign")]
    Name(String),
    #[error(
        "the log is called {found} by its key {path}, not {wanted}; leave --origin out or use another key"
    )]
    OtherOrigin { path: String, found: String, wanted: String },
    #[error("no key {0} signs here")]
    Unknown(String),
    #[error("it is the only key: add another first, and retire this one when everybody has the new one")]
    Last,
}

/// The keys as they are in the file now: it is read anew for every checkpoint.
#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// Opens the file, or makes it with a fresh key. The name the keys have: the log's origin.
    pub fn open(path: &Path, origin: Option<&str>) -> Result<(KeyFile, String), KeyFileError> {
        let file = KeyFile { path: path.to_owned() };
        if let Some(name) = origin.filter(|name| !is_key_name(name)) {
            return Err(KeyFileError::Name(name.to_owned()));
        }
        if !path.try_exists().map_err(|error| file.failed(error))? {
            let name = origin.map_or_else(fresh_origin, str::to_owned);
            file.write(&[fresh(&name)?])?;
            return Ok((file, name));
        }
        let found = file.keys()?[0].verifier().name().to_owned();
        match origin.filter(|wanted| *wanted != found) {
            None => Ok((file, found)),
            Some(wanted) => Err(KeyFileError::OtherOrigin {
                path: path.display().to_string(),
                found,
                wanted: wanted.to_owned(),
            }),
        }
    }

    /// At least one, all of one name.
    fn keys(&self) -> Result<Vec<SigningKey>, KeyFileError> {
        let text = fs::read_to_string(&self.path).map_err(|error| self.failed(error))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let keys: Vec<SigningKey> = lines
            .map(|line| line.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|error: audit::note::KeyError| self.damaged(&error.to_string()))?;
        let name = |key: &SigningKey| key.verifier().name().to_owned();
        let Some(first) = keys.first().map(name) else { return Err(self.damaged("it has no key")) };
        if keys.iter().any(|key| name(key) != first || key.verifier().algorithm() != Algorithm::Ed25519) {
            return Err(self.damaged("its keys are of different logs, or of a witness"));
        }
        Ok(keys)
    }

    pub(crate) fn signers(&self) -> Result<Vec<Box<dyn Signer>>, KeyFileError> {
        let keys = self.keys()?.into_iter();
        Ok(keys.map(|key| Box::new(key) as Box<dyn Signer>).collect())
    }

    /// Returns the keys as verifiers are given them.
    pub fn verifiers(&self) -> Result<Vec<VerifierKey>, KeyFileError> {
        Ok(self.keys()?.iter().map(SigningKey::verifier).collect())
    }

    /// Makes one more key, which signs along from the next checkpoint on.
    pub(crate) fn add(&self) -> Result<VerifierKey, KeyFileError> {
        let mut keys = self.keys()?;
        let key = fresh(keys[0].verifier().name())?;
        let verifier = key.verifier();
        keys.push(key);
        self.write(&keys)?;
        Ok(verifier)
    }

    /// Takes a key away, by its line or its id.
    pub(crate) fn retire(&self, key: &str) -> Result<VerifierKey, KeyFileError> {
        let mut keys = self.keys()?;
        let is = |one: &SigningKey| {
            let verifier = one.verifier();
            verifier.to_string() == key || format!("{:08x}", verifier.id()) == key
        };
        let place = keys.iter().position(is).ok_or_else(|| KeyFileError::Unknown(key.to_owned()))?;
        if keys.len() == 1 {
            return Err(KeyFileError::Last);
        }
        let verifier = keys.remove(place).verifier();
        self.write(&keys)?;
        Ok(verifier)
    }

    /// Beside it first, then in its place: there is never half a key.
    fn write(&self, keys: &[SigningKey]) -> Result<(), KeyFileError> {
        let write = || {
            if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                fs::create_dir_all(folder)?;
            }
            let mut beside = self.path.as_os_str().to_owned();
            beside.push(".new");
            let mut file = private(Path::new(&beside))?;
            for key in keys {
                writeln!(file, "{}", key.to_secret())?;
            }
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        };
        write().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> KeyFileError {
        KeyFileError::File { path: self.path.display().to_string(), error }
    }

    fn damaged(&self, reason: &str) -> KeyFileError {
        KeyFileError::Damaged { path: self.path.display().to_string(), reason: reason.to_owned() }
    }
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

fn fresh(name: &str) -> Result<SigningKey, KeyFileError> {
    SigningKey::from_seed(name, Algorithm::Ed25519, &clock::entropy())
        .map_err(|_| KeyFileError::Name(name.to_owned()))
}

fn fresh_origin() -> String {
    let [a, b, c, d] = clock::entropy();
    format!("milepost.local/{a:02x}{b:02x}{c:02x}{d:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/log.key");
        let (file, origin) = KeyFile::open(&path, Some("example.org/log")).unwrap();
        let keys = file.verifiers().unwrap();
        assert_eq!((origin.as_str(), keys.len()), ("example.org/log", 1));
        let (again, origin) = KeyFile::open(&path, None).unwrap();
        assert_eq!((again.verifiers().unwrap(), origin.as_str()), (keys, "example.org/log"));
        let other = KeyFile::open(&path, Some("example.org/other")).unwrap_err();
        assert!(other.to_string().contains("example.org/log"), "{other}");
        assert!(KeyFile::open(&folder.path().join("x"), Some("two words")).is_err());
        assert!(KeyFile::open(&folder.path().join("y"), None).unwrap().1.starts_with("milepost.local/"));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_a_key() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.key");
        let (file, _) = KeyFile::open(&path, None).unwrap();
        file.add().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn keys_come_and_go_but_never_all() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = KeyFile::open(&folder.path().join("log.key"), None).unwrap();
        let first = file.verifiers().unwrap().remove(0);
        assert!(matches!(file.retire(&first.to_string()), Err(KeyFileError::Last)));
        let second = file.add().unwrap();
        assert_eq!(file.verifiers().unwrap(), [first.clone(), second.clone()]);
        assert!(matches!(file.retire("nobody"), Err(KeyFileError::Unknown(_))));
        assert_eq!(file.retire(&format!("{:08x}", first.id())).unwrap(), first);
        assert_eq!(file.verifiers().unwrap(), [second]);
    }

    #[test]
    fn a_damaged_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.key");
        for text in ["", "no key\n"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(KeyFile::open(&path, None), Err(KeyFileError::Damaged { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
