//! The names of tiles: `tile/<L>/<N>[.p/<W>]` and `tile/entries/<N>[.p/<W>]`.

use std::fmt;
use std::str::FromStr;

/// Hashes, or entries, of a full tile.
pub const TILE_WIDTH: u16 = 256;

/// The content of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shelf {
    /// Hashes of nodes at eight times this level.
    Hashes(u8),
    /// The leaves themselves.
    Entries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TilePath {
    pub shelf: Shelf,
    pub index: u64,
    /// 256 for a full tile, less for a partial one, never none.
    pub width: u16,
}

impl TilePath {
    #[must_use]
    pub fn full(shelf: Shelf, index: u64) -> Self {
        TilePath { shelf, index, width: TILE_WIDTH }
    }

    #[must_use]
    pub fn is_full(&self) -> bool {
        self.width == TILE_WIDTH
    }

    /// The full tile this one is part of.
    #[must_use]
    pub fn whole(&self) -> Self {
        TilePath { width: TILE_WIDTH, ..*self }
    }

    /// The tile that holds this entry in a log of `size`.
    #[must_use]
    pub fn of_entry(index: u64, size: u64) -> Self {
        let tile = index / u64::from(TILE_WIDTH);
        let width = if tile == size / u64::from(TILE_WIDTH) { edge_width(size, 0) } else { TILE_WIDTH };
        TilePath { shelf: Shelf::Entries, index: tile, width }
    }
}

/// The width of the partial tile at the right edge of a level; 0 where the last tile is full.
#[must_use]
pub fn edge_width(size: u64, level: u8) -> u16 {
    let nodes = size.checked_shr(8 * u32::from(level)).unwrap_or(0);
    u16::try_from(nodes % u64::from(TILE_WIDTH)).expect("a remainder of 256")
}

impl fmt::Display for TilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shelf {
            Shelf::Hashes(level) => write!(f, "tile/{level}/")?,
            Shelf::Entries => f.write_str("tile/entries/")?,
        }
        let digits = self.index.to_string();
        let padded = format!("{}{digits}", "0".repeat((3 - digits.len() % 3) % 3));
        let groups = padded.len() / 3;
        for group in 0..groups {
            let mark = if group + 1 < groups { "x" } else { "" };
            let slash = if group + 1 < groups { "/" } else { "" };
            write!(f, "{mark}{}{slash}", &padded[3 * group..3 * group + 3])?;
        }
        if self.is_full() { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the path of a tile")]
pub struct BadPath(pub String);

impl FromStr for TilePath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        let path = parse(text).ok_or_else(|| BadPath(text.to_owned()))?;
        // One path, one spelling: what prints otherwise was written otherwise.
        if path.to_string() == text { Ok(path) } else { Err(BadPath(text.to_owned())) }
    }
}

fn parse(text: &str) -> Option<TilePath> {
    let (shelf, rest) = text.strip_prefix("tile/")?.split_once('/')?;
    let shelf = match shelf {
        "entries" => Shelf::Entries,
        level => Shelf::Hashes(level.parse().ok().filter(|level| *level < 64)?),
    };
    let (number, width) = match rest.split_once(".p/") {
        None => (rest, TILE_WIDTH),
        Some((number, width)) => {
            (number, width.parse().ok().filter(|width| (1..TILE_WIDTH).contains(width))?)
        }
    };
    let groups: Vec<&str> = number.split('/').collect();
    let (last, before) = groups.split_last()?;
    let mut digits = String::new();
    for group in before {
        digits.push_str(group.strip_prefix('x')?);
    }
    digits.push_str(last);
    let is_number = digits.len() <= 21 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let index = is_number.then(|| digits.parse().ok())??;
    Some(TilePath { shelf, index, width })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_the_specification_writes_them() {
        let path = TilePath::full(Shelf::Hashes(0), 1_234_067);
        assert_eq!(path.to_string(), "tile/0/x001/x234/067");
        let part = TilePath { shelf: Shelf::Entries, index: 7, width: 9 };
        assert_eq!(part.to_string(), "tile/entries/007.p/9");
        let largest = TilePath { shelf: Shelf::Hashes(63), index: u64::MAX, width: 255 };
        for path in [path, part, largest] {
            assert_eq!(path.to_string().parse(), Ok(path));
        }
    }

    #[test]
    fn other_spellings_are_no_paths() {
        let bad = [
            "",
            "tile",
            "tile/0",
            "tile/0/",
            "tile/0/1",
            "tile/00/001",
            "tile/64/001",
            "tile/0/x001",
            "tile/0/0001",
            "tile/0/x000/001",
            "tile/0/001/002",
            "tile/0/x1/002",
            "tile/0/001.p/0",
            "tile/0/001.p/256",
            "tile/0/001.p/01",
            "tile/0/001.p/",
            "tile/0/+01",
            "tile/entries/x-01/001",
            "/tile/0/001",
            "tile/0/../001",
            "tile/0/x999/x999/x999/x999/x999/x999/999",
        ];
        for text in bad {
            assert!(text.parse::<TilePath>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_edge_is_as_wide_as_the_specification_counts() {
        let widths =
            |size| [edge_width(size, 0), edge_width(size, 1), edge_width(size, 2), edge_width(size, 9)];
        assert_eq!(widths(70_000), [112, 17, 1, 0]);
        assert_eq!(widths(256), [0, 1, 0, 0]);
    }
}
