//! A skill at one commit, and the hash by which two of them are compared.

use sha2::{Digest as _, Sha256};

use crate::scan::{Folder, SKILL_FILE};

/// A skill as a repository had it at one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub commit: String,
    /// The skill's folder in the repository; empty for its root.
    pub place: String,
    pub folder: Folder,
}

impl Snapshot {
    /// Returns the text of the skill; what is no UTF-8 of it is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes = self.folder.file(SKILL_FILE).map_or(&[][..], |file| &file.bytes);
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Returns the SHA-256 of all files, in the order of their paths: path, length and content of each. The skill's own text
    /// counts as it is after [`normalised`].
    #[must_use]
    pub fn content_hash(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.folder.files {
            let normal = (file.path == SKILL_FILE).then(|| normalised(&self.text()).into_bytes());
            let content = normal.as_deref().unwrap_or(&file.bytes);
            for part in [file.path.as_bytes(), content] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns a text without what editors change by themselves: ends of lines, tabs, blanks before and behind.
#[must_use]
pub fn normalised(text: &str) -> String {
    text.trim().replace("\r\n", "\n").replace('\t', "  ")
}

#[cfg(test)]
mod tests {
    use crate::scan::{File, Kind};

    use super::*;

    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let files = files.iter().map(|(path, text)| File {
            path: (*path).to_owned(),
            kind: Kind::Plain,
            size: text.len() as u64,
            bytes: text.as_bytes().to_vec(),
        });
        Snapshot { commit: String::new(), place: String::new(), folder: Folder::of(files.collect()) }
    }

    #[test]
    fn the_hash_sees_every_file_and_not_the_editor() {
        let hash = |files: &[(&str, &str)]| snapshot(files).content_hash();
        let one = hash(&[("SKILL.md", "a\n\tb"), ("x.py", "1")]);
        assert_eq!(one.len(), 64);
        assert_eq!(one, hash(&[("x.py", "1"), ("SKILL.md", "\na\r\n  b\n\n")]));
        for other in [
            hash(&[("SKILL.md", "a\n\tc"), ("x.py", "1")]),
            hash(&[("SKILL.md", "a\n\tb"), ("x.py", "2")]),
            hash(&[("SKILL.md", "a\n\tb"), ("x.py", "1\n")]),
            hash(&[("SKILL.md", "a\n\tb"), ("y.py", "1")]),
            hash(&[("SKILL.md", "a\n\tb")]),
            hash(&[("SKILL.md", "a\n\tb"), ("x.p", "y1")]),
        ] {
            assert_ne!(one, other);
        }
    }
}
