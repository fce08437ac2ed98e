//! The first token of a server: made at its start and written to a file that only its owner can read, never to a log.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use engine::Engine;
use engine::core::TokenEntry;
use model::{Role, Time};

use crate::exit::Stop;

/// Makes an admin's token if there is none. The file comes first: a token that nobody could read would close the door.
pub(crate) async fn make(engine: &Engine, path: &Path) -> anyhow::Result<()> {
    if !engine.tokens().await?.is_empty() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| {
        Stop::usage(format!("cannot make the file {} for the first token: {error}", path.display()))
            .next("name a file that is not there yet, in a folder that is")
    })?;
    let entry = TokenEntry {
        id: "".into(),
        subject: "admin".into(),
        role: Role::Admin,
        pipelines: None,
        labels: Default::default(),
        created_at: Time::EPOCH,
        expires_at: None,
    };
    let made = engine.create_token(entry).await;
    let written = match made {
        Ok((secret, _)) => writeln!(file, "{}", secret.0).and_then(|()| file.sync_all()),
        Err(refusal) => {
            // An empty file would stand in the way of the next try.
            let _ = std::fs::remove_file(path);
            return Err(refusal.into());
        }
    };
    written
        .map_err(|error| anyhow::anyhow!("cannot write the first token to {}: {error}", path.display()))?;
    tracing::info!(file = %path.display(), "the first token was made; it is in this file and nowhere else");
    Ok(())
}
