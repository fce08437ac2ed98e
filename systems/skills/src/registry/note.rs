//! The registry's signature: a signed note over the hash of its index, as tools for transparency logs read them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};

/// The algorithm's number in the format of notes.
const ED25519: u8 = 1;

/// The key that the registry's index is signed with.
pub struct Key {
    name: String,
    key: SigningKey,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot use the registry's key {file}: {reason}")]
    File { file: String, reason: String },
    #[error("`{0}` is no name for a registry: it has a blank or a plus, or is empty")]
    Name(String),
}

impl Key {
    /// Makes a key of a seed, under the registry's name.
    pub fn new(name: &str, seed: &[u8; 32]) -> Result<Key, KeyError> {
        match name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '+') {
            true => Err(KeyError::Name(name.to_owned())),
            false => Ok(Key { name: name.to_owned(), key: SigningKey::from_bytes(seed) }),
        }
    }

    /// Reads a key's file; makes it where there is none.
    pub fn open(name: &str, file: &Path) -> Result<Key, KeyError> {
        let failed = |reason: String| KeyError::File { file: file.display().to_string(), reason };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(file).map_err(|error| failed(error.to_string()))?
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let seed = BASE64_STANDARD.decode(text.trim()).ok().and_then(|seed| <[u8; 32]>::try_from(seed).ok());
        let seed = seed.ok_or_else(|| failed("it must have 32 bytes as base64".to_owned()))?;
        Key::new(name, &seed)
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the line by which others verify the notes.
    #[must_use]
    pub fn verifier(&self) -> String {
        let id: String = self.id().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}+{id}+{}", self.name, BASE64_STANDARD.encode(self.public()))
    }

    /// Signs a text that ends with a line.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let mut signature = self.id().to_vec();
        signature.extend_from_slice(&self.key.sign(text.as_bytes()).to_bytes());
        format!("{text}\n\u{2014} {} {}\n", self.name, BASE64_STANDARD.encode(signature))
    }

    fn public(&self) -> Vec<u8> {
        let mut public = vec![ED25519];
        public.extend_from_slice(self.key.verifying_key().as_bytes());
        public
    }

    fn id(&self) -> [u8; 4] {
        let hash = Sha256::new().chain_update(&self.name).chain_update("\n").chain_update(self.public());
        let hash = hash.finalize();
        [hash[0], hash[1], hash[2], hash[3]]
    }
}

/// Leaves the secret out.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.verifier())
    }
}

/// Makes a key's file, for nobody else to read. Of two that try at once one has made it, and both use that.
fn make(file: &Path) -> io::Result<String> {
    let mut seed = [0; 32];
    // Chance is an argument where history depends on it. A secret must not be anybody's to choose.
    SysRng.try_fill_bytes(&mut seed).map_err(io::Error::other)?;
    let text = format!("{}\n", BASE64_STANDARD.encode(seed));
    let parent = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut made) => {
            made.write_all(text.as_bytes())?;
            made.sync_all()?;
            Ok(text)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(file),
        Err(error) => Err(error),
    }
}

/// Returns the text that is signed: the registry's name, the number of versions in it, and the hash of the index.
pub(super) fn text(name: &str, releases: usize, index: &[u8]) -> String {
    format!("{name}\n{releases}\n{}\n", BASE64_STANDARD.encode(Sha256::digest(index)))
}
