//! A skill's files, read from a folder with bounds.

use std::fs::{self, File as Opened};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The most files and folders that are looked at.
pub const ENTRIES_MAX: usize = 2_000;
/// The deepest folder that is looked into.
pub const DEPTH_MAX: usize = 16;
/// The most bytes that all files of a skill may have together.
pub const TOTAL_BYTES_MAX: u64 = 500_000;
/// The longest path that is kept, in bytes.
pub const PATH_BYTES_MAX: usize = 500;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path within the skill's folder, with slashes.
    pub path: String,
    pub kind: Kind,
    /// The size in bytes, whatever was read.
    pub size: u64,
    /// The content; empty where the kind has none, and where the skill is too large anyway.
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Executable,
    Symlink,
    /// A socket, a device, a submodule: something that is neither file nor folder.
    Other,
}

/// The files of a skill, in the order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    pub files: Vec<File>,
    /// Set if there is more than was looked at.
    pub is_cut: bool,
}

impl Folder {
    /// Makes a folder of files that are already there, in the order of their paths.
    #[must_use]
    pub fn of(mut files: Vec<File>) -> Folder {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Folder { files, is_cut: false }
    }

    /// Returns the size of all files together.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Returns a file by its path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Reads a folder, without following a symlink and without the repository's own `.git`.
    pub fn read(root: &Path) -> io::Result<Folder> {
        let mut folder = Folder::default();
        let mut entries = 0;
        let mut bytes_left = TOTAL_BYTES_MAX;
        let mut waiting: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), String::new(), 0)];
        while let Some((place, prefix, depth)) = waiting.pop() {
            for entry in fs::read_dir(&place)? {
                let entry = entry?;
                entries += 1;
                let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entries > ENTRIES_MAX || path.len() > PATH_BYTES_MAX {
                    folder.is_cut = true;
                    break;
                }
                let found = fs::symlink_metadata(entry.path())?;
                if found.is_dir() {
                    match (path.as_str(), depth < DEPTH_MAX) {
                        (".git", _) => {}
                        (_, true) => waiting.push((entry.path(), format!("{path}/"), depth + 1)),
                        (_, false) => folder.is_cut = true,
                    }
                    continue;
                }
                let kind = kind(&found);
                let mut file = File { path, kind, size: found.len(), bytes: Vec::new() };
                if matches!(kind, Kind::Plain | Kind::Executable) && file.size <= bytes_left {
                    // A file that grows meanwhile is no reason to read more.
                    Opened::open(entry.path())?.take(bytes_left).read_to_end(&mut file.bytes)?;
                    file.size = file.bytes.len() as u64;
                    bytes_left -= file.size;
                }
                folder.files.push(file);
            }
        }
        folder.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(folder)
    }
}

fn kind(found: &fs::Metadata) -> Kind {
    use std::os::unix::fs::PermissionsExt as _;
    let kind = found.file_type();
    match (kind.is_symlink(), kind.is_file()) {
        (true, _) => Kind::Symlink,
        (false, true) if found.permissions().mode() & 0o111 != 0 => Kind::Executable,
        (false, true) => Kind::Plain,
        (false, false) => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_read_in_order_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("scripts")).unwrap();
        fs::create_dir_all(at(".git/objects")).unwrap();
        fs::write(at(".git/config"), "x").unwrap();
        fs::write(at("SKILL.md"), "text").unwrap();
        fs::write(at("scripts/run.sh"), "true").unwrap();
        symlink("/etc/hostname", at("link")).unwrap();
        symlink("/etc", at("away")).unwrap();
        let read = Folder::read(folder.path()).unwrap();
        let found: Vec<_> = read.files.iter().map(|file| (file.path.as_str(), file.kind)).collect();
        assert_eq!(
            found,
            [
                ("SKILL.md", Kind::Plain),
                ("away", Kind::Symlink),
                ("link", Kind::Symlink),
                ("scripts/run.sh", Kind::Plain),
            ]
        );
        assert_eq!(read.file("SKILL.md").unwrap().bytes, b"text");
        assert!(!read.is_cut && read.file("link").unwrap().bytes.is_empty());
    }

    #[test]
    fn what_is_too_much_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("large"), vec![b'a'; 600_000]).unwrap();
        let deep = folder.path().join(["d"; 20].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("f"), "x").unwrap();
        let read = Folder::read(folder.path()).unwrap();
        assert!(read.is_cut && read.total_bytes() == 600_000 && read.files[0].bytes.is_empty());
        let crowded = tempfile::tempdir().unwrap();
        for no in 0..=ENTRIES_MAX {
            fs::write(crowded.path().join(no.to_string()), "").unwrap();
        }
        let read = Folder::read(crowded.path()).unwrap();
        assert!(read.is_cut && read.files.len() == ENTRIES_MAX);
    }
}
