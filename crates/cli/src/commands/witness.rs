use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use audit::note::{Algorithm, SigningKey};
use audit::witness::{FileState, Witness as Judge};
use clap::{Args, Subcommand};
use tokio::net::TcpListener;

use crate::audit::{WitnessDoor, read_keys};
use crate::exit::{Exit, Stop};
use crate::logging::{self, LogFormat};
use crate::output::{self, say};
use crate::signals::Signals;

/// Watch over other people's logs: cosign a checkpoint only if it follows the last one seen
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  milepost witness new-key witness.example/w1 witness.key
  milepost witness --key witness.key --state witness-state --log @log.vkey --listen 127.0.0.1:9090

Speaks C2SP tlog-witness: POST /add-checkpoint. What was cosigned is on disk before the answer leaves; do not restore
the state folder from a backup. SIGTERM and Ctrl-C end it in good order.")]
pub(crate) struct Witness {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// The file with this witness's key, as `new-key` writes it
    #[arg(long, value_name = "FILE", required = true)]
    key: Option<PathBuf>,

    /// The folder that remembers what was seen of each log; made if it is missing
    #[arg(long, value_name = "DIR", required = true)]
    state: Option<PathBuf>,

    /// The key of a log to watch, or @FILE with one a line; may be given several times
    #[arg(long = "log", value_name = "VKEY|@FILE", required = true)]
    logs: Vec<String>,

    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9090", value_name = "ADDRESS", value_parser = crate::listen::read)]
    listen: SocketAddr,

    /// Format of the logs: for people, or one JSON object a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
enum Verb {
    NewKey(NewKey),
}

/// Make a key for a witness, and print the line that its policy files need
#[derive(Debug, Args)]
struct NewKey {
    /// Name of the witness, such as witness.example/w1
    name: String,

    /// File for the secret; must not exist yet
    file: PathBuf,
}

impl Witness {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        if let Some(Verb::NewKey(new_key)) = &self.verb {
            return new_key.run();
        }
        logging::start(self.log_format, "info")?;
        let judge = self.judge()?;
        tokio::runtime::Runtime::new()?.block_on(self.serve(judge))?;
        Ok(Exit::Fine)
    }

    fn judge(&self) -> anyhow::Result<Judge> {
        let (Some(key), Some(state)) = (&self.key, &self.state) else {
            return Err(Stop::usage("a witness needs --key and --state").into());
        };
        let logs = read_keys(&self.logs)?;
        if let Some(other) = logs.iter().find(|log| log.algorithm() != Algorithm::Ed25519) {
            return Err(Stop::usage(format!("{} is the key of a witness, not of a log", other.name())).into());
        }
        if logs.is_empty() {
            return Err(Stop::usage("--log names no key: there is nothing to watch").into());
        }
        let signer = read_signer(key)?;
        say!("this witness is {}", signer.verifier());
        let state = FileState::open(state)?;
        Ok(Judge { logs, signer: Box::new(signer), state: Box::new(state) })
    }

    async fn serve(&self, judge: Judge) -> anyhow::Result<()> {
        let signals = Signals::listen()?;
        let listener = TcpListener::bind(self.listen)
            .await
            .with_context(|| format!("cannot listen on {}", self.listen))?;
        say!("listening on http://{}", listener.local_addr()?);
        Ok(WitnessDoor::new(judge).serve(listener, signals.asked_to_stop()).await?)
    }
}

fn read_signer(path: &Path) -> anyhow::Result<SigningKey> {
    let secret = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))?;
    let key: SigningKey = secret.parse().map_err(|error| {
        Stop::usage(format!("{} holds no key: {error}", path.display()))
            .next("make one with `milepost witness new-key`")
    })?;
    if key.verifier().algorithm() == Algorithm::CosignatureV1 {
        return Ok(key);
    }
    let stop = Stop::usage(format!("{} holds the key of a log; a witness needs its own", path.display()));
    Err(stop.next("make one with `milepost witness new-key`").into())
}

impl NewKey {
    fn run(&self) -> anyhow::Result<Exit> {
        let seed = engine::clock::entropy();
        let key = SigningKey::from_seed(&self.name, Algorithm::CosignatureV1, &seed)
            .map_err(|error| Stop::usage(error.to_string()))?;
        write_secret(&self.file, &format!("{}\n", key.to_secret()))
            .map_err(|error| Stop::usage(format!("cannot write {}: {error}", self.file.display())))?;
        output::print(&format!("{}\n", key.verifier()))?;
        Ok(Exit::Fine)
    }
}

/// For its owner only, and never over another.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
