//! The documents of the registry.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use wire::{SubmissionId, Time};

use crate::source::normalised;
use crate::version::{Bump, Version};

/// A skill that is to be published.
#[derive(Debug, Clone)]
pub struct Release {
    /// The normal form of the repository's address.
    pub repository: String,
    pub name: String,
    /// The skill's folder in the repository.
    pub place: String,
    pub description: String,
    pub commit: String,
    pub content_hash: String,
    /// The text of its SKILL.md.
    pub text: String,
    pub submission: SubmissionId,
    pub published_at: Time,
    /// The tiers that looked at it: what each said, as the submission has it.
    pub certified_by: Value,
}

/// Everything that is known of a skill but its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillEntry {
    pub id: String,
    pub name: String,
    pub repository: String,
    pub place: String,
    pub description: String,
    /// The reason why nobody should use it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    /// The oldest first.
    pub versions: Vec<ReleaseEntry>,
}

/// One version of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseEntry {
    pub version: String,
    /// The size of the change since the version before; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Bump>,
    pub commit: String,
    pub content_hash: String,
    pub submission: SubmissionId,
    pub published_at: Time,
}

/// The list of all skills, in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub skills: Vec<IndexEntry>,
}

/// A skill in the list, with the commit and the hash of each of its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    pub id: String,
    pub name: String,
    pub repository: String,
    pub description: String,
    pub latest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    pub versions: Vec<IndexVersion>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexVersion {
    pub version: String,
    pub commit: String,
    pub content_hash: String,
}

/// Returns the id of a skill: the same for every way of writing its repository's address.
#[must_use]
pub fn skill_id(repository: &str, name: &str) -> String {
    let hash = Sha256::digest(format!("{repository}#{name}"));
    let hex: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("sk_{hex}")
}

pub(super) fn is_id(id: &str) -> bool {
    let hex = id.strip_prefix("sk_").unwrap_or_default();
    hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl IndexEntry {
    /// Returns host, owner and repository, without the scheme.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.repository.strip_prefix("https://").unwrap_or(&self.repository)
    }
}

impl ReleaseEntry {
    /// Returns the day of the publication.
    #[must_use]
    pub fn day(&self) -> String {
        self.published_at.to_string().chars().take_while(|c| *c != 'T').collect()
    }
}

impl Release {
    pub(super) fn id(&self) -> String {
        skill_id(&self.repository, &self.name)
    }

    /// Returns the document of one version.
    pub(super) fn document(&self, entry: &ReleaseEntry) -> Value {
        json!({
            "id": self.id(),
            "name": self.name,
            "repository": self.repository,
            "place": self.place,
            "description": self.description,
            "version": entry.version,
            "change": entry.change,
            "commit": entry.commit,
            "content_hash": entry.content_hash,
            "submission": entry.submission,
            "published_at": entry.published_at,
            "certified_by": self.certified_by,
            "text": normalised(&self.text),
        })
    }
}

impl SkillEntry {
    pub(super) fn new(release: &Release) -> SkillEntry {
        SkillEntry {
            id: release.id(),
            name: release.name.clone(),
            repository: release.repository.clone(),
            place: release.place.clone(),
            description: release.description.clone(),
            withdrawn: None,
            versions: Vec::new(),
        }
    }

    /// Adds a version. A skill that comes again after it was withdrawn was looked at again.
    pub(super) fn add(&mut self, release: &Release, version: Version, change: Option<Bump>) {
        self.withdrawn = None;
        self.place.clone_from(&release.place);
        self.description.clone_from(&release.description);
        self.versions.push(ReleaseEntry {
            version: version.to_string(),
            change,
            commit: release.commit.clone(),
            content_hash: release.content_hash.clone(),
            submission: release.submission,
            published_at: release.published_at,
        });
    }

    /// Returns the version that a release is already: of the same submission, or the newest if that has the same content.
    pub(super) fn position_of(&self, release: &Release) -> Option<usize> {
        let by_submission = self.versions.iter().position(|entry| entry.submission == release.submission);
        let newest = self.versions.len().checked_sub(1);
        by_submission.or(newest.filter(|newest| self.versions[*newest].content_hash == release.content_hash))
    }

    /// Returns the newest version.
    #[must_use]
    pub fn latest(&self) -> Option<&ReleaseEntry> {
        self.versions.last()
    }
}

impl Index {
    pub(super) fn put(&mut self, skill: &SkillEntry) {
        let version = |entry: &ReleaseEntry| IndexVersion {
            version: entry.version.clone(),
            commit: entry.commit.clone(),
            content_hash: entry.content_hash.clone(),
        };
        let entry = IndexEntry {
            id: skill.id.clone(),
            name: skill.name.clone(),
            repository: skill.repository.clone(),
            description: skill.description.clone(),
            latest: skill.latest().map(|latest| latest.version.clone()).unwrap_or_default(),
            withdrawn: skill.withdrawn.clone(),
            versions: skill.versions.iter().map(version).collect(),
        };
        match self.skills.binary_search_by(|known| known.id.cmp(&skill.id)) {
            Ok(index) => self.skills[index] = entry,
            Err(index) => self.skills.insert(index, entry),
        }
    }
}
