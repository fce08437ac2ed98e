//! The registry's signature: a signed note over the hash of its index, as tools for transparency logs read them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};
use tlog::durable;
use tlog::note::{Algorithm, Note, SignError, Signature, Signer as _, SigningKey, is_key_name, to_base64};

/// The key that the registry's index is signed with: one like the log's, or that one itself.
#[derive(Debug)]
pub struct Key(SigningKey);

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot use the registry's key {file}: {reason}")]
    File { file: String, reason: String },
    #[error("`{0}` is no name for a registry: it has a blank or a plus, or is empty")]
    Name(String),
    #[error(transparent)]
    Sign(#[from] SignError),
}

impl Key {
    /// Refuses what is no name of a registry.
    pub fn check_name(name: &str) -> Result<(), KeyError> {
        if is_key_name(name) { Ok(()) } else { Err(KeyError::Name(name.to_owned())) }
    }

    /// Reads a key's file. Where there is none, makes it under this name.
    pub fn open(name: &str, file: &Path) -> Result<Key, KeyError> {
        let failed = |reason: String| KeyError::File { file: file.display().to_string(), reason };
        let text = match durable::read(file).map_err(|error| failed(error.to_string()))? {
            Some(text) => text,
            None => make(name, file)?,
        };
        text.parse().map(Key).map_err(|error: tlog::note::KeyError| failed(error.to_string()))
    }

    /// Returns the line by which others verify the notes.
    #[must_use]
    pub fn verifier(&self) -> String {
        self.0.verifier().to_string()
    }

    /// Signs the state of the registry: its name, the number of versions in it, and the hash of the index.
    pub(super) fn sign(&self, releases: usize, index: &[u8]) -> Result<String, KeyError> {
        let verifier = self.0.verifier();
        let text = format!("{}\n{releases}\n{}\n", verifier.name(), to_base64(&Sha256::digest(index)));
        let bytes = self.0.sign(&text)?;
        let signature = Signature { name: verifier.name().to_owned(), id: verifier.id(), bytes };
        Ok(Note { text, signatures: vec![signature] }.to_string())
    }
}

/// Makes a key's file, for nobody else to read. Of two that try at once one has made it, and both use that.
fn make(name: &str, file: &Path) -> Result<String, KeyError> {
    let failed = |error: &dyn std::fmt::Display| KeyError::File {
        file: file.display().to_string(),
        reason: error.to_string(),
    };
    let mut seed = [0; 32];
    // Chance is an argument where history depends on it. A secret must not be anybody's to choose.
    SysRng.try_fill_bytes(&mut seed).map_err(|error| failed(&error))?;
    let key = SigningKey::from_seed(name, Algorithm::Ed25519, &seed);
    let text = format!("{}\n", key.map_err(|_| KeyError::Name(name.to_owned()))?.to_secret());
    let made = || -> io::Result<String> {
        fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
            Ok(mut made) => {
                made.write_all(text.as_bytes())?;
                made.sync_all()?;
                Ok(text.clone())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(file),
            Err(error) => Err(error),
        }
    };
    made().map_err(|error| failed(&error))
}
