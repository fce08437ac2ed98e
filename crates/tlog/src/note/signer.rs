//! Signers. The log's signer is a trait, so that the key may live in a file, an agent or a machine of its own.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signer as _, SigningKey as Ed25519Key};

use super::key::{Algorithm, KeyError, VerifierKey, cosigned_text, is_key_name, key_id};
use super::{Checkpoint, Note, Signature, from_base64, to_base64};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the signer does not sign: {0}")]
pub struct SignError(pub String);

/// Signs the text of notes.
pub trait Signer: Send + Sync {
    fn verifier(&self) -> VerifierKey;

    fn sign(&self, text: &str) -> Result<Vec<u8>, SignError>;
}

/// Witnesses: signs a text together with a time.
pub trait Cosigner: Send + Sync {
    fn verifier(&self) -> VerifierKey;

    fn cosign(&self, text: &str, seconds: u64) -> Result<Signature, SignError>;
}

/// Signs a checkpoint with every key: during a rotation with the old and the new one.
pub fn sign_checkpoint(checkpoint: &Checkpoint, signers: &[Box<dyn Signer>]) -> Result<Note, SignError> {
    let text = checkpoint.to_string();
    let mut signatures = Vec::new();
    for signer in signers {
        let verifier = signer.verifier();
        let bytes = signer.sign(&text)?;
        signatures.push(Signature { name: verifier.name().to_owned(), id: verifier.id(), bytes });
    }
    if signatures.is_empty() {
        return Err(SignError("no key is configured".to_owned()));
    }
    Ok(Note { text, signatures })
}

/// A key in this process. Its text form is a secret: `PRIVATE+KEY+<name>+<id>+<algorithm and seed>`.
#[derive(Clone)]
pub struct SigningKey {
    name: String,
    algorithm: Algorithm,
    key: Ed25519Key,
}

impl SigningKey {
    /// The key that grows from 32 random bytes.
    pub fn from_seed(name: &str, algorithm: Algorithm, seed: &[u8; 32]) -> Result<Self, KeyError> {
        if !is_key_name(name) {
            return Err(KeyError::Name);
        }
        Ok(SigningKey { name: name.to_owned(), algorithm, key: Ed25519Key::from_bytes(seed) })
    }

    #[must_use]
    pub fn verifier(&self) -> VerifierKey {
        let public = self.key.verifying_key().to_bytes();
        VerifierKey::new(&self.name, self.algorithm, &public)
            .expect("the name was checked and the key is one")
    }

    /// Signs bytes as they are, for protocols whose texts are no notes.
    #[must_use]
    pub fn sign_bytes(&self, message: &[u8]) -> Vec<u8> {
        self.key.sign(message).to_bytes().to_vec()
    }

    /// The secret, as it is kept in a file.
    #[must_use]
    pub fn to_secret(&self) -> String {
        let seed = [&[self.algorithm.byte()], self.key.to_bytes().as_slice()].concat();
        let id = key_id(&self.name, self.algorithm, &self.key.verifying_key().to_bytes());
        format!("PRIVATE+KEY+{}+{id:08x}+{}", self.name, to_base64(&seed))
    }
}

impl FromStr for SigningKey {
    type Err = KeyError;

    fn from_str(secret: &str) -> Result<Self, KeyError> {
        let rest = secret.trim_end_matches('\n').strip_prefix("PRIVATE+KEY+").ok_or(KeyError::Shape)?;
        let mut parts = rest.splitn(3, '+');
        let (Some(name), Some(id), Some(seed)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Shape);
        };
        let bytes = from_base64(seed).ok_or(KeyError::Shape)?;
        let (byte, seed) = bytes.split_first().ok_or(KeyError::Shape)?;
        let algorithms = [Algorithm::Ed25519, Algorithm::CosignatureV1];
        let algorithm = algorithms.into_iter().find(|known| known.byte() == *byte);
        let algorithm = algorithm.ok_or(KeyError::Algorithm(*byte))?;
        let key = SigningKey::from_seed(name, algorithm, seed.try_into().map_err(|_| KeyError::Key)?)?;
        if format!("{:08x}", key.verifier().id()) == id { Ok(key) } else { Err(KeyError::Id) }
    }
}

/// Never shows the secret.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.verifier())
    }
}

impl Signer for SigningKey {
    fn verifier(&self) -> VerifierKey {
        SigningKey::verifier(self)
    }

    fn sign(&self, text: &str) -> Result<Vec<u8>, SignError> {
        match self.algorithm {
            Algorithm::Ed25519 => Ok(self.key.sign(text.as_bytes()).to_bytes().to_vec()),
            Algorithm::CosignatureV1 => {
                Err(SignError("the key is a witness's; a log needs its own".to_owned()))
            }
        }
    }
}

impl Cosigner for SigningKey {
    fn verifier(&self) -> VerifierKey {
        SigningKey::verifier(self)
    }

    fn cosign(&self, text: &str, seconds: u64) -> Result<Signature, SignError> {
        if self.algorithm != Algorithm::CosignatureV1 {
            return Err(SignError("the key is a log's; a witness needs its own".to_owned()));
        }
        let signed = self.key.sign(cosigned_text(text, seconds).as_bytes());
        let bytes = [seconds.to_be_bytes().as_slice(), &signed.to_bytes()].concat();
        Ok(Signature { name: self.name.clone(), id: self.verifier().id(), bytes })
    }
}
