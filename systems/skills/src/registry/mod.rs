//! The registry: files that anybody may read, and that say for each version which commit was looked at.

mod badge;
mod files;
mod note;
mod record;

use std::path::{Path, PathBuf};

pub use note::{Key, KeyError};
pub use record::{Index, IndexEntry, Release, ReleaseEntry, SkillEntry, skill_id};

use crate::source::normalised;
use crate::version::{Bump, Version, bump};

/// The file that says by which rules everything was scanned.
const SCANNED_BY: &str = "scanned-by";

/// A registry in a folder.
#[derive(Debug, Clone)]
pub struct Registry {
    folder: PathBuf,
}

/// The reason why something is not in the registry.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use the registry's file {file}: {error}")]
    File { file: String, error: std::io::Error },
    #[error("the registry's file {file} is not what it should be: {reason}")]
    Garbled { file: String, reason: String },
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The result of publishing a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub id: String,
    pub version: String,
    pub commit: String,
    pub content_hash: String,
}

impl Registry {
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Registry {
        Registry { folder: folder.into() }
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Publishes a skill as its next version. One whose content is out already is not published again: the answer is that of the
    /// first time. Files are replaced whole, the index last, so that whoever reads meanwhile sees the old or the new.
    pub fn publish(&self, release: Release, key: &Key) -> Result<Published, Error> {
        let _lock = files::lock(&self.folder)?;
        let id = release.id();
        let mut skill = self.skill(&id)?.unwrap_or_else(|| SkillEntry::new(&release));
        let known = skill.position_of(&release);
        let index = match known {
            Some(index) => index,
            None => {
                let (version, reason) = self.next_version(&skill, &release)?;
                skill.add(&release, version, reason);
                skill.versions.len() - 1
            }
        };
        let entry = skill.versions[index].clone();
        if known.is_none() {
            let place = format!("skills/{id}/{}.json", entry.version);
            files::write_json(&self.folder, &place, &release.document(&entry))?;
        }
        self.write(&skill, key)?;
        Ok(Published { id, version: entry.version, commit: entry.commit, content_hash: entry.content_hash })
    }

    /// Marks a skill as withdrawn, for a reason: its files stay, and say so. Returns whether there is such a skill.
    pub fn withdraw(&self, id: &str, reason: &str, key: &Key) -> Result<bool, Error> {
        let _lock = files::lock(&self.folder)?;
        let Some(mut skill) = self.skill(id)? else { return Ok(false) };
        skill.withdrawn.get_or_insert_with(|| reason.to_owned());
        self.write(&skill, key)?;
        Ok(true)
    }

    /// Writes a skill's own files, and the index with it.
    fn write(&self, skill: &SkillEntry, key: &Key) -> Result<(), Error> {
        let id = &skill.id;
        files::write_json(&self.folder, &format!("skills/{id}.json"), skill)?;
        files::write(&self.folder, &format!("badges/{id}.svg"), badge::svg(skill).as_bytes())?;
        let mut index = self.index()?;
        index.put(skill);
        let bytes = files::write_json(&self.folder, "index.json", &index)?;
        let releases: usize = index.skills.iter().map(|skill| skill.versions.len()).sum();
        let note = key.sign(releases, &bytes)?;
        files::write(&self.folder, "index.note", note.as_bytes())
    }

    fn next_version(&self, skill: &SkillEntry, release: &Release) -> Result<(Version, Option<Bump>), Error> {
        let Some(latest) = skill.versions.last() else { return Ok((Version::FIRST, None)) };
        let file = format!("skills/{}/{}.json", skill.id, latest.version);
        let garbled = |reason: &str| Error::Garbled { file: file.clone(), reason: reason.to_owned() };
        let before: serde_json::Value =
            files::read_json(&self.folder, &file)?.ok_or_else(|| garbled("it is not there"))?;
        let text = before.get("text").and_then(serde_json::Value::as_str);
        let text = text.ok_or_else(|| garbled("it has no `text`"))?;
        let version: Version = latest.version.parse().map_err(|_| garbled("its name is no version"))?;
        let size = bump(text, &normalised(&release.text));
        Ok((version.after(size), Some(size)))
    }

    /// Returns a skill.
    pub fn skill(&self, id: &str) -> Result<Option<SkillEntry>, Error> {
        match record::is_id(id) {
            true => files::read_json(&self.folder, &format!("skills/{id}.json")),
            false => Ok(None),
        }
    }

    /// Returns the list of all skills.
    pub fn index(&self) -> Result<Index, Error> {
        Ok(files::read_json(&self.folder, "index.json")?.unwrap_or_default())
    }

    /// Returns the hash of the rules by which everything was scanned last.
    pub fn scanned_by(&self) -> Result<Option<String>, Error> {
        let read = files::read(&self.folder, SCANNED_BY)?;
        Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// Notes that everything was scanned by the rules of this hash.
    pub fn set_scanned_by(&self, rules: &str) -> Result<(), Error> {
        files::write(&self.folder, SCANNED_BY, format!("{rules}\n").as_bytes())
    }

    /// Returns the bytes of one of the registry's files, by its public path. What is no such path is not there.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let is_public = |path: &str| match path.split('/').collect::<Vec<_>>()[..] {
            ["index.json" | "index.note"] => true,
            ["badges", badge] => badge.strip_suffix(".svg").is_some_and(record::is_id),
            ["skills", skill] => skill.strip_suffix(".json").is_some_and(record::is_id),
            ["skills", id, version] => {
                let version = version.strip_suffix(".json").map(str::parse::<Version>);
                record::is_id(id) && matches!(version, Some(Ok(_)))
            }
            _ => false,
        };
        if is_public(path) { files::read(&self.folder, path) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests;
