//! Commands of the list: `milepost site-list ..`.

mod key;
mod serve;

use std::path::{Path, PathBuf};

use clap::Args;
use client::Client;
use fetch::{Fetch, Policy};
use system::{Command, Exit, Failed, Shown, Stop};
use tlog::follow::FolderStore;
use tlog::note::{Trust, VerifierKey};

use crate::action::Action;
use crate::check::{Enrolled, Verdict, check_live, check_saved};
use crate::distribute::{LogLeaves, build, verify};
use crate::hex::hex;
use crate::keeper::Keeper;
use crate::list::Distribution;
use crate::log::{Remote, Source};
use crate::rules::{Host, Onions};
use crate::sites::{Names, Reach, Sites};

/// The most bytes of a file that a command reads.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Check whether a site is ready for a change of the list
///
/// Looks at the live site as the list would, or at a saved head of its answer, and prints the policy that the list would
/// hand out or the first rule that the site does not meet. Ends with 1 where the change would be refused.
#[derive(Debug, Args)]
struct CheckArgs {
    /// The host name, such as example.com
    host: String,
    /// The change to check for: ADD, MODIFY or DELETE
    #[arg(long, default_value = "ADD", value_parser = public_action)]
    action: Action,
    /// Judge this file instead of the live site: lines `Name: value`, as `curl -sI` writes them
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// Sites that are on the list: host names line by line, or JSON
    #[arg(long, value_name = "FILE")]
    enrolled: Option<PathBuf>,
}

fn public_action(text: &str) -> Result<Action, String> {
    let action = Action::read(text).filter(|action| action.is_public());
    action.ok_or_else(|| "give ADD, MODIFY or DELETE".to_owned())
}

pub(crate) fn all() -> Vec<Command> {
    vec![
        Command::new("check", check),
        Command::asking("build", build_files),
        Command::new("verify", verify_files),
        Command::new("lookup", lookup),
        Command::new("serve", serve::serve),
        Command::new("new-key", key::new_key),
    ]
}

/// The log of the list, and the key that signs it.
#[derive(Debug, Args)]
struct LogArgs {
    /// The log: its address, or its folder
    #[arg(long, value_name = "URL or DIR")]
    log: String,
    /// The log's verifier key, as `NAME+ID+KEY`
    #[arg(long, value_name = "KEY")]
    log_key: VerifierKey,
}

/// Build a distribution of the list from its log
///
/// Replays the log, compares it with the list of the server, and refuses to build where the two disagree.
#[derive(Debug, Args)]
struct BuildArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The folder to write the files into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Verify a distribution offline
///
/// Checks the files against each other and the proof against the log's key; with `--log`, also that the log leads to the
/// very same entries.
#[derive(Debug, Args)]
struct VerifyArgs {
    /// The folder of the distribution
    folder: PathBuf,
    /// The log's verifier key, as `NAME+ID+KEY`
    #[arg(long, value_name = "KEY")]
    log_key: VerifierKey,
    /// The log, to replay it: its address, or its folder
    #[arg(long, value_name = "URL or DIR")]
    log: Option<String>,
}

/// Look a site up in a distribution
///
/// Prints the digest of the site's policy. Ends with 1 where the site is not in it.
#[derive(Debug, Args)]
struct LookupArgs {
    /// The host name, such as example.com
    host: String,
    /// The file of the entries, `<digest>.bin`
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
}

async fn leaves(log: String, key: VerifierKey) -> Result<LogLeaves, Failed> {
    let source = match log.contains("://") {
        true => {
            // An address that whoever types it chose: this machine may be one.
            let allowed = vec!["0.0.0.0/0".parse()?, "::/0".parse()?];
            Source::Remote(Remote::new(&log, &Fetch::new(Policy { allowed, ..Policy::default() }))?)
        }
        false => Source::Folder(FolderStore::open(log)),
    };
    let read = tokio::task::spawn_blocking(move || LogLeaves::read(&source, &Trust::key(key)));
    Ok(read.await??)
}

async fn build_files(args: BuildArgs, client: Client) -> Result<Shown, Failed> {
    let list = Keeper::passing(client).current().await?;
    let built = build(&list, &leaves(args.log.log, args.log.log_key).await?)?;
    built.write(&args.out)?;
    let latest = built.latest();
    let text = format!("{} with {} sites in {}\n", latest.latest, latest.entries, args.out.display());
    Ok(Shown::new(text, &latest))
}

async fn verify_files(args: VerifyArgs) -> Result<Shown, Failed> {
    let log = match args.log {
        None => None,
        Some(log) => Some(leaves(log, args.log_key.clone()).await?),
    };
    let verified = verify(&args.folder, &Trust::key(args.log_key), log.as_ref())?;
    let (name, entries) = (verified.distribution.name(), verified.distribution.len());
    let text = format!("{name} with {entries} sites is what it says\n");
    Ok(Shown::new(text, &serde_json::json!({ "ok": true, "latest": name, "entries": entries })))
}

async fn lookup(args: LookupArgs) -> Result<Shown, Failed> {
    let host = Host::read(&args.host, Onions::Reached)?;
    let distribution = Distribution::read(read(&args.list)?)?;
    let policy = distribution.policy_digest(&host).map(|digest| hex(&digest));
    let json = serde_json::json!({ "domain": host, "listed": policy.is_some(), "policy_sha256": policy });
    Ok(match policy {
        Some(policy) => Shown::new(format!("{host} is on the list, with the policy {policy}\n"), &json),
        None => Shown::new(format!("{host} is not on the list\n"), &json).exit(Exit::Negative),
    })
}

async fn check(args: CheckArgs) -> Result<Shown, Failed> {
    let enrolled = match &args.enrolled {
        None => None,
        Some(file) => {
            let text = String::from_utf8_lossy(&read(file)?).into_owned();
            Some(Enrolled::read(&text).map_err(|reason| unfit(file, &reason))?)
        }
    };
    let verdict = match &args.headers {
        Some(file) => {
            let judged = check_saved(&args.host, args.action, &read(file)?, enrolled.as_ref());
            judged.map_err(|error| unfit(file, &error))?
        }
        None => {
            let names = Names::of_the_machine()?;
            let sites = Sites::new(&Fetch::new(Policy::default()), Reach::new(names));
            check_live(&args.host, args.action, &sites, enrolled.as_ref()).await
        }
    };
    Ok(shown(&verdict))
}

fn shown(verdict: &Verdict) -> Shown {
    let text = match (&verdict.policy, &verdict.code, &verdict.message) {
        (_, Some(code), Some(message)) => format!("refused: {code}: {}\n", system::plain(message)),
        (Some(policy), ..) => format!("accepted, with the policy\n{}\n", system::plain(policy.as_str())),
        (None, ..) => "accepted\n".to_owned(),
    };
    let exit = if verdict.ok { Exit::Fine } else { Exit::Negative };
    Shown::new(text, verdict).exit(exit)
}

fn read(file: &Path) -> Result<Vec<u8>, Failed> {
    let size = std::fs::metadata(file).map_err(|error| unfit(file, &error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(unfit(file, &format!("it has over {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read(file).map_err(|error| unfit(file, &error))
}

fn unfit(file: &Path, reason: &dyn std::fmt::Display) -> Failed {
    Stop::usage(format!("cannot read {}: {reason}", file.display())).into()
}
