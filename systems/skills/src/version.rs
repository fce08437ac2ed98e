//! Version numbers of skills: how much one text differs from the one before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scan::{self, File, Folder, FrontMatter, Kind, SKILL_FILE, Severity};

/// The part of the words that may change within a patch.
const PATCH_WORDS_PER_HUNDRED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// The size of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    Patch,
    Minor,
    Major,
}

impl Version {
    pub const FIRST: Version = Version { major: 1, minor: 0, patch: 0 };

    /// Returns the version after a change. Numbers stay at their greatest.
    #[must_use]
    pub fn after(self, bump: Bump) -> Version {
        let Version { major, minor, patch } = self;
        match bump {
            Bump::Major => Version { major: major.saturating_add(1), minor: 0, patch: 0 },
            Bump::Minor => Version { major, minor: minor.saturating_add(1), patch: 0 },
            Bump::Patch => Version { major, minor, patch: patch.saturating_add(1) },
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text that is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version is three numbers with dots between them")]
pub struct Invalid;

impl FromStr for Version {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Version, Invalid> {
        let parts: Vec<u32> = text
            .split('.')
            .map(|part| {
                match part.bytes().all(|byte| byte.is_ascii_digit())
                    && (part == "0" || !part.starts_with('0'))
                {
                    true => part.parse().map_err(|_| Invalid),
                    false => Err(Invalid),
                }
            })
            .collect::<Result<_, _>>()?;
        match parts[..] {
            [major, minor, patch] => Ok(Version { major, minor, patch }),
            _ => Err(Invalid),
        }
    }
}

/// Returns how much a skill's text has changed. Major: other permissions or another purpose, a security section that is gone, or a
/// pattern that was not dangerous before. Minor: a section more or less, or over a fifth of the words. Else patch.
#[must_use]
pub fn bump(before: &str, after: &str) -> Bump {
    let (old, new) = (Traits::of(before), Traits::of(after));
    let security_went = old.security.difference(&new.security).next().is_some();
    let danger_came = new.dangers.difference(&old.dangers).next().is_some();
    if old.tools != new.tools || old.name != new.name || security_went || danger_came {
        return Bump::Major;
    }
    match old.sections != new.sections || has_other_words(before, after) {
        true => Bump::Minor,
        false => Bump::Patch,
    }
}

/// The things of a text that its version depends on.
struct Traits {
    name: Option<String>,
    tools: BTreeSet<String>,
    sections: BTreeMap<String, usize>,
    security: BTreeSet<String>,
    /// The rules that meet the text with weight.
    dangers: BTreeSet<String>,
}

impl Traits {
    fn of(text: &str) -> Traits {
        let front_matter = FrontMatter::read(text).unwrap_or_default();
        let mut sections = BTreeMap::new();
        for heading in headings(text) {
            *sections.entry(heading).or_default() += 1;
        }
        let is_security = |heading: &&String| {
            ["security", "safety", "permission"].iter().any(|word| heading.contains(word))
        };
        let file = File {
            path: SKILL_FILE.to_owned(),
            kind: Kind::Plain,
            size: text.len() as u64,
            bytes: text.as_bytes().to_vec(),
        };
        let findings = scan::scan(&Folder::of(vec![file])).findings.into_iter();
        Traits {
            name: front_matter.name.clone(),
            tools: front_matter.tools().into_iter().collect(),
            security: sections.keys().filter(is_security).cloned().collect(),
            sections,
            dangers: findings.filter(|f| f.severity >= Severity::Medium).map(|f| f.rule).collect(),
        }
    }
}

/// Returns the headings of a text, outside of its fenced blocks.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut is_fenced = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        is_fenced ^= line.starts_with("```") || line.starts_with("~~~");
        let heading = line.trim_start_matches('#');
        let is_heading = !is_fenced && heading.len() < line.len() && heading.starts_with(' ');
        is_heading.then(|| heading.trim().to_lowercase())
    })
}

/// Returns whether more than a fifth of the words are others. Words that only moved have not changed.
fn has_other_words(before: &str, after: &str) -> bool {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    let (mut old, mut new) = (0, 0);
    for word in before.split_whitespace() {
        *counts.entry(word).or_default() += 1;
        old += 1;
    }
    for word in after.split_whitespace() {
        *counts.entry(word).or_default() -= 1;
        new += 1;
    }
    let (gone, came) = counts.values().fold((0, 0), |(gone, came), count| match *count {
        count if count > 0 => (gone + count.unsigned_abs(), came),
        count => (gone, came + count.unsigned_abs()),
    });
    let changed = usize::try_from(gone.max(came)).unwrap_or(usize::MAX);
    changed.saturating_mul(100) > PATCH_WORDS_PER_HUNDRED * usize::max(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "---\nname: pdf\ndescription: Reads forms and fills them in.\nallowed-tools: Read, Write\n---\n";
    const BODY: &str = "# Forms\nOpen the form and list its fields. Write the values, one after the other, and save it.\n\
        ## Security\nNothing leaves the machine.\n";

    #[test]
    fn the_size_of_a_change_follows_the_table() {
        let before = format!("{HEAD}{BODY}");
        let with = |from: &str, to: &str| before.replace(from, to);
        for (after, expected) in [
            (before.clone(), Bump::Patch),
            (with("list its fields", "list the fields"), Bump::Patch),
            (with("Reads forms and", "Opens forms and"), Bump::Patch),
            (format!("{before}## More\nText.\n"), Bump::Minor),
            (with("# Forms\n", "# Sheets\n"), Bump::Minor),
            (
                with(
                    "Open the form and list its fields.",
                    "Look at each page as a picture before you begin with it.",
                ),
                Bump::Minor,
            ),
            (with("Read, Write", "Read, Write, Bash(git log:*)"), Bump::Major),
            (with("Read, Write", "Write, Read"), Bump::Patch),
            (with("name: pdf", "name: sheets"), Bump::Major),
            (with("## Security\nNothing leaves the machine.\n", ""), Bump::Major),
            (format!("{before}Then run sudo make install.\n"), Bump::Major),
            (format!("{before}```\n# no heading\n```\n"), Bump::Patch),
        ] {
            assert_eq!(bump(&before, &after), expected, "{after}");
        }
    }

    #[test]
    fn versions_are_read_and_counted() {
        let version = |text: &str| text.parse::<Version>();
        assert_eq!(version("1.0.0"), Ok(Version::FIRST));
        for text in ["", "1", "1.0", "1.0.0.0", "1.0.x", "01.0.0", "1..0", "+1.0.0", "1.0.4294967296"] {
            assert_eq!(version(text), Err(Invalid), "{text}");
        }
        let from = version("2.3.4").unwrap();
        let after = |bump| from.after(bump).to_string();
        assert_eq!([Bump::Patch, Bump::Minor, Bump::Major].map(after), ["2.3.5", "2.4.0", "3.0.0"]);
        assert!(version("2.10.0").unwrap() > version("2.9.9").unwrap());
    }
}
