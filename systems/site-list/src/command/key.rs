//! `milepost site-list new-key`: the key of a list's own log.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use rand::TryRng as _;
use rand::rngs::SysRng;
use serde_json::json;
use system::{Failed, Shown, Stop};
use tlog::note::{Algorithm, Signer, SigningKey};

/// Make the key of a list's own log
///
/// Writes the secret key to a file that only you can read, for the setting `log-key-file`, and prints the verifier key that
/// everybody checks the log with.
#[derive(Debug, Args)]
pub(super) struct NewKeyArgs {
    /// The name of the key, which is the log's origin: such as list.example/log
    name: String,
    /// The file to write; one that is there is never overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) async fn new_key(args: NewKeyArgs) -> Result<Shown, Failed> {
    let mut seed = [0; 32];
    SysRng.try_fill_bytes(&mut seed)?;
    let key = SigningKey::from_seed(&args.name, Algorithm::Ed25519, &seed)
        .map_err(|error| Stop::usage(format!("`{}` cannot be the name of a key: {error}", args.name)))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&args.out).and_then(|mut file| writeln!(file, "{}", key.to_secret()));
    written.map_err(|error| Stop::usage(format!("cannot write {}: {error}", args.out.display())))?;
    let verifier = Signer::verifier(&key).to_string();
    Ok(Shown::new(format!("{verifier}\n"), &json!({ "verifier_key": verifier })))
}
