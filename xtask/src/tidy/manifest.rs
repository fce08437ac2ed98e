//! Reads the little of a `Cargo.toml` that the checks need, line by line: a TOML parser would double
//! the time xtask takes to compile.

pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) table: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
}

pub(super) struct Dependency<'a> {
    pub(super) line: usize,
    /// The package where one is named, the key otherwise.
    pub(super) name: &'a str,
    pub(super) is_dev: bool,
}

pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut table = "";
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_text = line.trim();
        if let Some(header) = line_text.strip_prefix('[') {
            table = header.split(']').next().unwrap_or_default();
        } else if line_text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && let Some((key, value)) = line_text.split_once('=')
        {
            entries.push(Entry { line: index + 1, table, key: key.trim(), value: value.trim() });
        }
    }
    entries
}

/// All dependencies, also those of a target or in a table of their own.
pub(super) fn dependencies(text: &str) -> Vec<Dependency<'_>> {
    let mut found: Vec<Dependency<'_>> = Vec::new();
    for Entry { line, table, key, value } in entries(text) {
        let (kind, own_table) = match table.rsplit_once('.') {
            Some((kind, name)) if kind.ends_with("dependencies") => (kind, Some(name)),
            _ => (table, None),
        };
        if !kind.ends_with("dependencies") {
            continue;
        }
        let name = match own_table {
            Some(_) if key == "package" => value.trim_matches('"'),
            Some(name) => name,
            None => package_in(value).unwrap_or_else(|| key.split('.').next().unwrap_or(key)),
        };
        let is_dev = kind.ends_with("dev-dependencies");
        if !found.iter().any(|known| known.name == name && known.is_dev == is_dev) {
            found.push(Dependency { line, name, is_dev });
        }
    }
    found
}

fn package_in(inline_table: &str) -> Option<&str> {
    let (_, after) = inline_table.split_once("package")?;
    after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_found_in_every_spelling() {
        let text = "
[package]
name = \"milepost-x\"
[dependencies]
# a comment = \"none\"
one.workspace = true
two = { workspace = true, features = [
  \"a=b\",
] }
three = { package = \"real-three\", path = \"../three\" }
[dependencies.four]
workspace = true
features = []
[target.'cfg(unix)'.dependencies]
five = \"1\"
[dev-dependencies]
six.workspace = true
[features]
seven = []
";
        let found = dependencies(text);
        let names: Vec<_> = found.iter().map(|dependency| (dependency.name, dependency.is_dev)).collect();
        let normal = ["one", "two", "real-three", "four", "five"].map(|name| (name, false));
        assert_eq!(names, [normal.as_slice(), &[("six", true)]].concat());
        assert_eq!(found[0].line, 6);
    }
}
