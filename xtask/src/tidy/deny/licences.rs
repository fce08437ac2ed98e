//! Every package has a licence that `allow` of `deny.toml` lists.

use super::super::{Problem, Tree};
use super::policy;

/// Finds packages whose licence is missing or not allowed.
pub(in super::super) fn are_allowed(tree: &Tree) -> Vec<Problem> {
    let Some(policy) = policy::policy(tree) else { return Vec::new() };
    let allowed = policy.texts("licenses", "allow");
    let mut problems = Vec::new();
    for package in &tree.packages {
        let message = match accepts(&package.licence, &allowed) {
            Ok(true) => continue,
            Ok(false) => {
                format!("{} is under {:?}, which `allow` does not list", package.name, package.licence)
            }
            Err(why) => format!("{} is under {:?}: {why}", package.name, package.licence),
        };
        problems.push(policy.file.problem(0, message));
    }
    problems
}

/// Evaluates a licence expression of SPDX, or of the older form with `/` for a choice.
fn accepts(expression: &str, allowed: &[&str]) -> Result<bool, &'static str> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let accepted = choice(&mut rest, allowed)?;
    if rest.is_empty() { Ok(accepted) } else { Err("a word too many") }
}

fn choice(rest: &mut &[&str], allowed: &[&str]) -> Result<bool, &'static str> {
    let mut accepted = all(rest, allowed)?;
    while taken(rest, "OR") {
        accepted |= all(rest, allowed)?;
    }
    Ok(accepted)
}

fn all(rest: &mut &[&str], allowed: &[&str]) -> Result<bool, &'static str> {
    let mut accepted = one(rest, allowed)?;
    while taken(rest, "AND") {
        accepted &= one(rest, allowed)?;
    }
    Ok(accepted)
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> Result<bool, &'static str> {
    if taken(rest, "(") {
        let accepted = choice(rest, allowed)?;
        return if taken(rest, ")") { Ok(accepted) } else { Err("a parenthesis is not closed") };
    }
    let name = next(rest)?;
    if taken(rest, "WITH") {
        let with = format!("{name} WITH {}", next(rest)?);
        return Ok(allowed.contains(&&*with));
    }
    Ok(allowed.contains(&name))
}

fn next<'a>(rest: &mut &[&'a str]) -> Result<&'a str, &'static str> {
    let (first, after) = rest.split_first().ok_or("a licence is missing")?;
    *rest = after;
    Ok(first)
}

fn taken(rest: &mut &[&str], word: &str) -> bool {
    let is_next = rest.first() == Some(&word);
    if is_next {
        *rest = &rest[1..];
    }
    is_next
}

#[cfg(test)]
mod tests {
    use super::super::super::{File, Tree};
    use super::super::Package;
    use super::*;

    #[test]
    fn expressions_are_read_as_spdx_has_them() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 AND MIT OR MIT", true),
            ("MIT AND (GPL-3.0 OR Unicode-3.0)", true),
            ("(MIT OR GPL-3.0) AND GPL-3.0", false),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH LLVM-exception", false),
        ] {
            assert_eq!(accepts(expression, &allowed), Ok(expected), "{expression}");
        }
        for wrong in ["", "MIT OR", "(MIT", "MIT MIT"] {
            assert!(accepts(wrong, &allowed).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_licence_that_is_missing_or_not_listed_is_found() {
        let text =
            "[licenses]\nallow = [\n  # permissive\n  \"MIT\",\n]\n[bans]\nallow = [\n  \"GPL-3.0\",\n]\n";
        let packages = [("a v1", "MIT"), ("b v1", "GPL-3.0"), ("c v1", "")];
        let tree = Tree {
            files: vec![File { path: "deny.toml".to_owned(), text: text.to_owned() }],
            yanked: Vec::new(),
            packages: packages
                .map(|(name, licence)| Package { name: name.to_owned(), licence: licence.to_owned() })
                .into(),
        };
        let found: Vec<String> = are_allowed(&tree).iter().map(Problem::to_string).collect();
        assert_eq!(
            found,
            [
                "deny.toml: b v1 is under \"GPL-3.0\", which `allow` does not list",
                "deny.toml: c v1 is under \"\": a licence is missing"
            ]
        );
    }
}
