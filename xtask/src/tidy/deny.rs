//! `deny.toml` says what may be depended on, in the format of cargo-deny. The parts of it that need no network are
//! held to here, on every change; whoever has cargo-deny can run it on the same file.

mod licences;
mod packages;
mod policy;
mod yanked;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use licences::are_allowed as licences_are_allowed;
use packages::locked;
pub(super) use packages::{Package, packages};
pub(super) use yanked::{Release, are_not_locked as yanked_are_not_locked, yanked};

use super::{Problem, Tree};

/// Finds packages from elsewhere than the default registry, or all settings that would let them in.
pub(super) fn sources_are_known(tree: &Tree) -> Vec<Problem> {
    let Some((policy, lock)) = policy::and_lock(tree) else { return policy::missing(tree) };
    let mut problems = policy.must_deny(&[("sources", "unknown-registry"), ("sources", "unknown-git")]);
    let packages = locked(&lock.text);
    // Cargo writes the registry into the file; the one that most packages are from is the default.
    let mut counts = BTreeMap::new();
    for source in
        packages.iter().filter_map(|package| package.source).filter(|source| source.starts_with("registry+"))
    {
        *counts.entry(source).or_insert(0_usize) += 1;
    }
    let default = counts.into_iter().max_by_key(|(_, count)| *count).map(|(source, _)| source);
    for package in packages.iter().filter(|package| package.source.is_some() && package.source != default) {
        let source = package.source.unwrap_or_default();
        let message =
            format!("{} comes from {source}: depend on a release in the default registry", package.name);
        problems.push(lock.problem(package.line, message));
    }
    problems
}

/// Finds crates in several versions that `skip` does not excuse, excuses that nothing needs, and crates that are banned.
pub(super) fn bans_are_kept(tree: &Tree) -> Vec<Problem> {
    let Some((policy, lock)) = policy::and_lock(tree) else { return Vec::new() };
    let mut problems = policy.must_deny(&[("bans", "multiple-versions")]);
    let packages = locked(&lock.text);
    let skipped = policy.crates("bans", "skip");
    let excused: BTreeSet<&str> = skipped.iter().map(|entry| entry.name).collect();
    let mut versions: BTreeMap<&str, Vec<&packages::Locked<'_>>> = BTreeMap::new();
    for package in &packages {
        versions.entry(package.name).or_default().push(package);
    }
    for (name, several) in versions.iter().filter(|(_, several)| several.len() > 1) {
        let left: Vec<_> = several.iter().filter(|package| !excused.contains(&*package.spec())).collect();
        if let [_, .., last] = &left[..] {
            let all: Vec<&str> = several.iter().map(|package| package.version).collect();
            let message = format!(
                "{name} is there in {} versions ({}): agree on one, or excuse all but the newest in `skip` of deny.toml",
                all.len(),
                all.join(", ")
            );
            problems.push(lock.problem(last.line, message));
        }
    }
    for entry in &skipped {
        let name = entry.name.split('@').next().unwrap_or_default();
        let is_there = packages.iter().any(|package| package.spec() == entry.name);
        if !is_there || versions.get(name).is_none_or(|several| several.len() < 2) {
            problems.push(
                policy.file.problem(entry.line, format!("{} needs no excuse: remove the line", entry.name)),
            );
        }
    }
    for entry in policy.crates("bans", "deny") {
        for package in packages.iter().filter(|package| package.name == entry.name) {
            let message =
                format!("{}: {}; `cargo tree -i {0}` shows who asks for it", entry.name, entry.reason);
            problems.push(lock.problem(package.line, message));
        }
    }
    let listed = skipped.into_iter().chain(policy.crates("bans", "deny"));
    for entry in listed.filter(|entry| entry.reason.is_empty()) {
        problems
            .push(policy.file.problem(entry.line, format!("say in `reason` why {} is listed", entry.name)));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    const POLICY: &str = "
[bans]
multiple-versions = \"deny\"
deny = [
  { crate = \"openssl\", reason = \"a second TLS stack\" },
]
skip = [
  { crate = \"old@1.0.0\", reason = \"of `oracle`\" },
]
[sources]
unknown-registry = \"deny\"
unknown-git = \"deny\"
";

    fn lock(packages: &[(&str, &str, &str)]) -> String {
        let one = |(name, version, source): &(&str, &str, &str)| match *source {
            "" => format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n"),
            source => {
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\n\n")
            }
        };
        packages.iter().map(one).collect()
    }

    fn found(check: super::super::Check, policy: &str, packages: &[(&str, &str, &str)]) -> Vec<String> {
        findings(check, &[("deny.toml", policy), ("Cargo.lock", &lock(packages))])
    }

    const HOME: &str = "registry+https://index.example/home";
    const OLD: [(&str, &str, &str); 2] = [("old", "1.0.0", HOME), ("old", "2.0.0", HOME)];

    #[test]
    fn the_policy_must_be_there() {
        assert_eq!(findings(sources_are_known, &[("Cargo.lock", "")]).len(), 1);
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let good = [("own", "0.1.0", ""), ("a", "1.0.0", HOME), ("b", "1.0.0", HOME)];
        assert!(found(sources_are_known, POLICY, &good).is_empty());
        for source in ["registry+https://index.example/other", "git+https://example.org/c?rev=1#1"] {
            let bad = [&good[..], &[("c", "1.0.0", source)]].concat();
            let found = found(sources_are_known, POLICY, &bad);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("Cargo.lock:16: c comes from "), "{found:?}");
        }
    }

    #[test]
    fn a_policy_that_lets_everything_in_is_found() {
        for (line, check) in [
            ("unknown-registry = \"deny\"", sources_are_known as super::super::Check),
            ("unknown-git = \"deny\"", sources_are_known),
            ("multiple-versions = \"deny\"", bans_are_kept),
        ] {
            for changed in ["", &line.replace("deny", "warn")] {
                let found = found(check, &POLICY.replace(line, changed), &OLD);
                assert_eq!(found.len(), 1, "{line}: {found:?}");
            }
        }
    }

    #[test]
    fn a_crate_in_two_versions_needs_an_excuse() {
        assert!(found(bans_are_kept, POLICY, &OLD).is_empty());
        let three = [&OLD[..], &[("old", "3.0.0", HOME)]].concat();
        let found_three = found(bans_are_kept, POLICY, &three);
        assert_eq!(found_three.len(), 1);
        assert!(
            found_three[0].contains("old is there in 3 versions (1.0.0, 2.0.0, 3.0.0)"),
            "{found_three:?}"
        );
        let two = [&OLD[..], &[("new", "1.0.0", HOME), ("new", "1.1.0", HOME)]].concat();
        assert_eq!(found(bans_are_kept, POLICY, &two).len(), 1);
    }

    #[test]
    fn an_excuse_that_nothing_needs_is_found() {
        for packages in [&OLD[..1], &OLD[1..], &[]] {
            let found = found(bans_are_kept, POLICY, packages);
            assert_eq!(found, ["deny.toml:8: old@1.0.0 needs no excuse: remove the line"]);
        }
    }

    #[test]
    fn a_banned_crate_is_found_and_every_entry_has_its_reason() {
        let banned = [&OLD[..], &[("openssl", "1.0.0", HOME)]].concat();
        let found_banned = found(bans_are_kept, POLICY, &banned);
        assert_eq!(found_banned.len(), 1);
        assert!(found_banned[0].contains("a second TLS stack"), "{found_banned:?}");
        let silent = POLICY.replace(", reason = \"of `oracle`\"", "");
        assert_eq!(
            found(bans_are_kept, &silent, &OLD),
            ["deny.toml:8: say in `reason` why old@1.0.0 is listed"]
        );
    }
}
