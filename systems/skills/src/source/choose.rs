//! The one skill of a repository that a submission is about.

use super::tree::Entry;
use crate::scan::{Kind, SKILL_FILE};

/// The skill that a submission names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub name: String,
    /// The place of its SKILL.md, or of its folder, where it is not a usual one.
    pub path: Option<String>,
}

/// The folders beneath which skills usually are.
const USUAL: [&str; 2] = ["skills", ".agents/skills"];

/// Returns the folder of the skill in a repository.
///
/// # Errors
/// A sentence that says where a skill was looked for.
pub(super) fn choose(entries: &[Entry], wanted: &Wanted) -> Result<String, String> {
    let is_skill = |place: &str| {
        let file = if place.is_empty() { SKILL_FILE.to_owned() } else { format!("{place}/{SKILL_FILE}") };
        entries.iter().any(|entry| entry.path == file && matches!(entry.kind, Kind::Plain | Kind::Executable))
    };
    if let Some(path) = &wanted.path {
        let place = place_of(path)?;
        return match is_skill(&place) {
            true => Ok(place),
            false => Err(format!("there is no {SKILL_FILE} at `{path}`")),
        };
    }
    let mut places: Vec<String> = USUAL.iter().map(|usual| format!("{usual}/{}", wanted.name)).collect();
    places.push(String::new());
    places.into_iter().find(|place| is_skill(place)).ok_or_else(|| {
        let name = &wanted.name;
        format!(
            "there is no {SKILL_FILE} in skills/{name}, in .agents/skills/{name} or in the root: say where it is by `skill_path`"
        )
    })
}

/// Returns the folder that a given path means, and refuses a path that leaves the repository.
fn place_of(path: &str) -> Result<String, String> {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let place = match path.strip_suffix(SKILL_FILE) {
        Some("") => "",
        Some(folder) if folder.ends_with('/') => folder.trim_end_matches('/'),
        _ => path,
    };
    let is_plain = place.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
    match place.is_empty() || (is_plain && !place.chars().any(char::is_control)) {
        true => Ok(place.to_owned()),
        false => Err(format!("`{path}` is no path within a repository")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(paths: &[&str]) -> Vec<Entry> {
        let entry = |path: &&str| Entry {
            kind: Kind::Plain,
            object: String::new(),
            size: 0,
            path: (*path).to_owned(),
        };
        paths.iter().map(entry).collect()
    }

    #[test]
    fn skills_are_found_where_they_usually_are() {
        let found = |paths: &[&str], path: Option<&str>| {
            choose(&entries(paths), &Wanted { name: "pdf".to_owned(), path: path.map(str::to_owned) })
        };
        assert_eq!(found(&["SKILL.md"], None).as_deref(), Ok(""));
        assert_eq!(found(&["SKILL.md", "skills/pdf/SKILL.md"], None).as_deref(), Ok("skills/pdf"));
        assert_eq!(found(&[".agents/skills/pdf/SKILL.md"], None).as_deref(), Ok(".agents/skills/pdf"));
        assert!(found(&["skills/other/SKILL.md"], None).is_err());
        for path in ["deep/down", "deep/down/", "deep/down/SKILL.md", "./deep/down"] {
            assert_eq!(
                found(&["SKILL.md", "deep/down/SKILL.md"], Some(path)).as_deref(),
                Ok("deep/down"),
                "{path}"
            );
        }
        assert_eq!(found(&["SKILL.md"], Some("SKILL.md")).as_deref(), Ok(""));
        assert!(found(&["SKILL.md"], Some("elsewhere")).is_err());
    }

    #[test]
    fn a_path_that_leaves_the_repository_is_refused() {
        for path in ["../x", "a/../../x", "/etc", "a//b", ".git/hooks", "a/./b", "a\nb"] {
            assert!(place_of(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_link_is_no_skill() {
        let mut linked = entries(&["SKILL.md"]);
        linked[0].kind = Kind::Symlink;
        assert!(choose(&linked, &Wanted { name: "pdf".to_owned(), path: None }).is_err());
    }
}
