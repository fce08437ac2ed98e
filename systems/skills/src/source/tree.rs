//! Trees as `git ls-tree -r -z -l` lists them.

use crate::scan::{ENTRIES_MAX, Kind, PATH_BYTES_MAX};

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// The name of its content; nothing to ask for where it is a submodule.
    pub(super) object: String,
    pub(super) size: u64,
    pub(super) path: String,
}

/// Reads a listing. A line that cannot be read is left out, and told.
pub(super) fn entries(listing: &[u8]) -> Option<Vec<Entry>> {
    let lines = listing.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    lines.map(entry).collect()
}

fn entry(line: &[u8]) -> Option<Entry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = head.split_ascii_whitespace();
    let (mode, _, object, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "100644" | "100664" => Kind::Plain,
        "100755" => Kind::Executable,
        "120000" => Kind::Symlink,
        _ => Kind::Other,
    };
    let path = String::from_utf8_lossy(&line[tab + 1..]).into_owned();
    Some(Entry { kind, object: object.to_owned(), size: size.parse().unwrap_or(0), path })
}

/// Returns the files of one folder, with their paths within it, and whether some were left out for being too many.
pub(super) fn within(entries: &[Entry], place: &str) -> (Vec<Entry>, bool) {
    let prefix = if place.is_empty() { String::new() } else { format!("{place}/") };
    let inside = entries.iter().filter_map(|entry| {
        let path = entry.path.strip_prefix(&prefix)?.to_owned();
        Some(Entry { path, ..entry.clone() })
    });
    let all: Vec<Entry> = inside.collect();
    let kept: Vec<Entry> =
        all.iter().filter(|entry| entry.path.len() <= PATH_BYTES_MAX).take(ENTRIES_MAX).cloned().collect();
    let is_cut = kept.len() < all.len();
    (kept, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_with_every_kind_of_entry() {
        let listing = b"100644 blob aa      12\tSKILL.md\x00100755 blob bb   3\tscripts/a b.sh\x00120000 blob cc  11\tlink\0\
            160000 commit dd       -\tsub\0";
        let read = entries(listing).unwrap();
        let seen: Vec<_> = read.iter().map(|entry| (entry.kind, entry.size, entry.path.as_str())).collect();
        assert_eq!(
            seen,
            [
                (Kind::Plain, 12, "SKILL.md"),
                (Kind::Executable, 3, "scripts/a b.sh"),
                (Kind::Symlink, 11, "link"),
                (Kind::Other, 0, "sub"),
            ]
        );
        assert_eq!(within(&read, "scripts").0[0].path, "a b.sh");
        assert_eq!(within(&read, "script").0, []);
        assert_eq!(within(&read, "").0.len(), 4);
        assert_eq!(entries(b"nonsense\0"), None);
    }
}
