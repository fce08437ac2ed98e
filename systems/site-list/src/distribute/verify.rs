//! Verifying a distribution offline: by its files, the log's key, and the log itself where it is at hand.

use std::fs;
use std::path::Path;

use tlog::note::{Distrust, Trust};
use tlog::tree::{ProofError, leaf_hash, verify_inclusion};
use wire::Digest;

use super::files::{BIN, JSON, Latest, UPDATE, Witnessed};
use super::leaves::LogLeaves;
use crate::hex::unhex;
use crate::leaf::{Leaf, Phase};
use crate::list::{BadDistribution, Disagreement, Distribution, Replay};

/// A distribution whose files agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub distribution: Distribution,
    pub witnessed: Witnessed,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Bytes(#[from] BadDistribution),
    #[error("the entries have the digest {found}, and `update.json` names {named}")]
    Name { found: String, named: String },
    #[error("there are {found} entries, and `update.json` says {named}")]
    Entries { found: usize, named: usize },
    #[error("the head of the log is not to be believed: {0}")]
    Head(#[from] Distrust),
    #[error("the proof does not verify: {0}")]
    Proof(#[from] ProofError),
    #[error("the file of the proof is not whole")]
    NotWhole,
    #[error("the leaf is not one that changes the list")]
    Leaf,
    #[error(transparent)]
    Log(#[from] Disagreement),
    #[error("the log leads to other entries than these")]
    OtherEntries,
}

/// Verifies the latest distribution in a folder. With the log, its replay must lead to the same bytes.
///
/// # Errors
/// With the first thing that does not hold.
pub fn verify(folder: &Path, trust: &Trust, log: Option<&LogLeaves>) -> Result<Verified, VerifyError> {
    let latest: Latest = json(&folder.join(UPDATE))?;
    // The name is a digest, and nothing that leads elsewhere.
    if unhex(&latest.latest).is_none_or(|bytes| bytes.len() != 32) {
        return Err(VerifyError::File("`update.json` names no digest".to_owned()));
    }
    let distribution = Distribution::read(read(&folder.join(format!("{}.{BIN}", latest.latest)))?)?;
    let (found, named) = (distribution.name(), latest.latest.clone());
    if found != named {
        return Err(VerifyError::Name { found, named });
    }
    if distribution.len() != latest.entries {
        return Err(VerifyError::Entries { found: distribution.len(), named: latest.entries });
    }
    let witnessed: Witnessed = json(&folder.join(format!("{}.{JSON}", latest.latest)))?;
    check_witnessed(&witnessed, trust, &distribution)?;
    if let Some(log) = log {
        follows(log, &witnessed, &distribution)?;
    }
    Ok(Verified { distribution, witnessed })
}

/// Checks that the log leads to these entries: at the newest change among them, or later, up to the head they came with.
fn follows(log: &LogLeaves, witnessed: &Witnessed, distribution: &Distribution) -> Result<(), VerifyError> {
    let (first, last) = witnessed.proof.as_ref().map_or((0, 0), |proof| (proof.index + 1, proof.size));
    let mut replay = Replay::default();
    let leads = |replay: &Replay| {
        replay.size() >= first && Distribution::of_policies(replay.entries()) == *distribution
    };
    for leaf in &log.leaves {
        if leads(&replay) || replay.size() >= last {
            break;
        }
        replay.push(leaf)?;
    }
    if leads(&replay) { Ok(()) } else { Err(VerifyError::OtherEntries) }
}

fn check_witnessed(
    witnessed: &Witnessed,
    trust: &Trust,
    distribution: &Distribution,
) -> Result<(), VerifyError> {
    let Witnessed { leaf: Some(leaf), proof: Some(proof), tree_head: Some(tree_head) } = witnessed else {
        let is_empty = witnessed.leaf.is_none() && witnessed.proof.is_none() && distribution.is_empty();
        return if is_empty { Ok(()) } else { Err(VerifyError::NotWhole) };
    };
    let head = trust.open(tree_head.as_bytes())?.checkpoint;
    let digest = |text: &String| Some(Digest(unhex(text)?.try_into().ok()?));
    let path: Option<Vec<Digest>> = proof.hashes.iter().map(digest).collect();
    let path = path.ok_or(VerifyError::NotWhole)?;
    verify_inclusion(proof.index, head.tree(), leaf_hash(leaf.as_bytes()), &path)?;
    let leaf = Leaf::read(leaf.as_bytes()).filter(|leaf| leaf.phase == Phase::Confirmation);
    let leaf = leaf.ok_or(VerifyError::Leaf)?;
    // The newest change is in the bytes, or the site it is about is not.
    let expected = if leaf.action.removes() { None } else { leaf.policy().map(|policy| policy.digest()) };
    match distribution.policy_digest(&leaf.domain) == expected {
        true => Ok(()),
        false => Err(VerifyError::OtherEntries),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, VerifyError> {
    fs::read(path).map_err(|error| VerifyError::File(format!("cannot read {}: {error}", path.display())))
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, VerifyError> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| VerifyError::File(format!("cannot read {}: {error}", path.display())))
}
