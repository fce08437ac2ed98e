//! The list's own log as everybody reads it, over HTTP, by a server that may lie.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use site_list::log::Own;

use super::http::serve;
use super::running::log_key;

/// The lie that the server tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tells {
    Truth,
    /// One bit of each tile of hashes is another.
    BadTiles,
    /// The checkpoint is signed with another key.
    BadSignature,
    /// An older checkpoint, signed as it should be.
    Older(String),
    /// Another log, signed with the same key.
    Other(PathBuf),
    Nothing,
}

pub(crate) struct TileServer {
    pub(crate) url: String,
    tells: Arc<Mutex<Tells>>,
}

impl TileServer {
    /// Serves a folder, which may not be there yet.
    pub(crate) async fn start(folder: PathBuf) -> TileServer {
        let tells = Arc::new(Mutex::new(Tells::Truth));
        let telling = tells.clone();
        let url = serve(move |asked| {
            let tells = telling.lock().expect("no test panicked with it").clone();
            answer(&folder, asked.path.trim_start_matches('/'), &tells)
        });
        TileServer { url: url.await, tells }
    }

    pub(crate) fn tell(&self, tells: Tells) {
        *self.tells.lock().expect("no test panicked with it") = tells;
    }
}

fn answer(folder: &std::path::Path, path: &str, tells: &Tells) -> (u16, Vec<u8>) {
    let folder = match tells {
        Tells::Other(other) => other,
        _ => folder,
    };
    let Ok(mut bytes) = std::fs::read(folder.join(path)) else { return (404, Vec::new()) };
    match tells {
        Tells::Nothing => return (503, Vec::new()),
        Tells::BadTiles if path.starts_with("tile/0") => bytes[0] ^= 1,
        Tells::BadSignature if path == "checkpoint" => {
            let text = String::from_utf8(bytes).expect("a checkpoint is text");
            let body = text.split("\n\n").next().expect("it has a body").to_owned() + "\n";
            let other = tlog::note::SigningKey::from_seed(
                "list.example/log",
                tlog::note::Algorithm::Ed25519,
                &[9; 32],
            );
            let other: Vec<Box<dyn tlog::note::Signer>> = vec![Box::new(other.expect("this is a name"))];
            let checkpoint = body.parse().expect("this is a checkpoint");
            bytes =
                tlog::note::sign_checkpoint(&checkpoint, &other).expect("it signs").to_string().into_bytes();
        }
        Tells::Older(checkpoint) if path == "checkpoint" => bytes = checkpoint.clone().into_bytes(),
        _ => {}
    }
    (200, bytes)
}

/// A log with the list's key that others filled.
pub(crate) fn other_log(folder: PathBuf, leaves: usize) -> PathBuf {
    let other = Own::new(folder.clone(), folder.with_added_extension("guard"), log_key());
    for number in 0..leaves {
        other.append(format!("another leaf {number}").as_bytes()).expect("there is room");
    }
    folder
}
