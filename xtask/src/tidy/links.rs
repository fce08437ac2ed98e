//! Links between documents lead to a file of the repository and, where they name one, to a heading in it.

use super::{File, Problem, Tree};

pub(super) fn lead_somewhere(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is("md")) {
        for (number, line) in prose(file) {
            for target in targets(&line).into_iter().filter(|target| !has_scheme(target)) {
                if let Some(trouble) = trouble_with(tree, file, target) {
                    problems.push(file.problem(number, format!("the link to {target} {trouble}")));
                }
            }
        }
    }
    problems
}

fn trouble_with(tree: &Tree, from: &File, target: &str) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { Some(from.path.clone()) } else { resolve(&from.path, path) };
    let nowhere = Some("leads nowhere: correct it, or add the file");
    let Some(path) = path else { return nowhere };
    let Some(found) = tree.file(&path) else {
        let folder = format!("{path}/");
        let is_folder = path.is_empty() || tree.files.iter().any(|file| file.path.starts_with(&folder));
        return if is_folder { None } else { nowhere };
    };
    let is_missing =
        found.is("md") && !anchor.is_empty() && !anchors(found).iter().any(|known| known == anchor);
    is_missing.then_some("names a heading that does not exist: correct the part after #")
}

fn has_scheme(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path relative to the root, or nothing where it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            "" => return None,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Lines outside fenced code, without what stands in backticks.
fn prose(file: &File) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    file.lines().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        let plain = || line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        (!fenced && !is_fence).then(|| (number, plain()))
    })
}

/// Targets of `[text](target "title")` and of `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    let defined = definition.and_then(|(_, rest)| rest.split_whitespace().next());
    inline.chain(defined).map(|target| target.trim_matches(['<', '>'])).collect()
}

/// The anchors that code hosts make of headings: lower case, hyphens for spaces, a number when repeated.
fn anchors(file: &File) -> Vec<String> {
    let mut fenced = false;
    let mut slugs: Vec<String> = Vec::new();
    let mut anchors = Vec::new();
    for (_, line) in file.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || title == line || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let repeats = slugs.iter().filter(|known| **known == slug).count();
        anchors.push(if repeats == 0 { slug.clone() } else { format!("{slug}-{repeats}") });
        slugs.push(slug);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    const GUIDE: (&str, &str) =
        ("docs/guide.md", "# The guide\n\n## Retries & `ttl`\n\n## Notes\n\n## Notes\n");

    fn links(readme: &str) -> Vec<String> {
        findings(lead_somewhere, &[("README.md", readme), GUIDE])
    }

    #[test]
    fn a_link_to_a_missing_file_is_found_with_its_line() {
        let found = links("# A\n\nsee [that](docs/gone.md) and [this](docs/guide.md)\n");
        assert_eq!(
            found,
            ["README.md:3: the link to docs/gone.md leads nowhere: correct it, or add the file"]
        );
        assert_eq!(links("[that]: docs/gone.md\n").len(), 1);
        assert_eq!(links("[out](../gone.md), [root](/docs/guide.md)\n").len(), 2);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_found() {
        assert_eq!(links("[a](docs/guide.md#gone), [b](#gone)\n").len(), 2);
        assert_eq!(links("[a](docs/guide.md#notes-2)\n").len(), 1);
    }

    #[test]
    fn good_links_are_left_alone() {
        let good = "# Here\n[a](docs/guide.md#retries--ttl) [b](docs/guide.md#notes-1) [c](#here) [d](docs/)
[e](https://example.org/x) [f](mailto:a@example.org) `[g](gone.md)`
```
[h](gone.md)
```
";
        assert!(links(good).is_empty(), "{:?}", links(good));
        let upwards = [("docs/a.md", "[a](../README.md) [b](./guide.md)\n"), ("README.md", ""), GUIDE];
        assert!(findings(lead_somewhere, &upwards).is_empty());
    }
}
