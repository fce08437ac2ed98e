//! The crates of the workspace: who may use whom, and what each must have.

use super::manifest::{dependencies, entries};
use super::{File, Problem, Tree};

/// The crates that each crate may use. `wire` is the bottom, `cli` sees all.
const ARROWS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("model", &["wire"]),
    ("draw", &["wire", "model"]),
    ("fetch", &[]),
    ("store", &["wire", "model"]),
    ("store-conformance", &["wire", "model", "store"]),
    ("store-sqlite", &["wire", "model", "store"]),
    ("store-postgres", &["wire", "model", "store"]),
    ("tlog", &["wire"]),
    ("audit", &["wire", "model", "tlog"]),
    ("engine", &["wire", "model", "store", "audit"]),
    ("worker", &["wire"]),
    ("app", &["wire", "model", "draw", "fetch", "store", "audit", "engine", "worker"]),
    ("client", &["wire", "worker"]),
    ("system", &["wire", "worker", "client", "fetch"]),
    ("compat", &["wire", "worker", "client", "system"]),
    ("console", &["wire", "model", "draw", "app", "system"]),
    (
        "server",
        &[
            "wire", "model", "draw", "store", "audit", "engine", "app", "worker", "client", "system",
            "console",
        ],
    ),
    ("sending", &["wire", "model", "fetch", "engine", "app", "worker"]),
    ("sim", &["wire", "model", "store", "store-sqlite", "store-postgres", "audit", "engine"]),
    ("bench", &["wire", "model", "store", "store-sqlite", "store-postgres", "audit", "engine", "client"]),
    (
        "cli",
        &[
            "wire",
            "model",
            "draw",
            "fetch",
            "store",
            "store-sqlite",
            "store-postgres",
            "audit",
            "engine",
            "server",
            "app",
            "worker",
            "system",
            "sending",
            "compat",
            "client",
            "sim",
            "bench",
        ],
    ),
    ("xtask", &[]),
];

/// The crates that every system may use. A system asks for everything through the public client, so whatever a system
/// can do a user can. A system may keep a log of its own: `tlog` knows nothing of submissions.
const OF_SYSTEMS: &[&str] = &["wire", "tlog", "client", "worker", "fetch", "system", "console"];

/// The crates that `name` may use; `None` where nobody has said.
fn allowed(name: &str) -> Option<&'static [&'static str]> {
    if name.starts_with(SYSTEMS) {
        return Some(OF_SYSTEMS);
    }
    ARROWS.iter().find(|(known, _)| *known == name).map(|(_, allowed)| *allowed)
}

/// The folder of the systems.
const SYSTEMS: &str = "systems/";

/// Crates without I/O and chance, not even in their tests.
const PURE: &[&str] = &["wire", "model", "draw"];

const NEVER_IN_PURE: &[&str] = &["axum", "rand", "reqwest", "rusqlite", "tempfile", "tokio"];

/// The libraries that rules are read and run with. A client needs no rule, so none of them may reach it by way of `wire`.
const NEVER_IN_WIRE: &[&str] = &["cel", "croner", "jsonschema", "toml"];

/// Name and manifest of every crate.
fn manifests(tree: &Tree) -> impl Iterator<Item = (&str, &File)> {
    tree.files.iter().filter_map(|file| {
        let folder = file.path.strip_suffix("/Cargo.toml")?;
        let name = folder.strip_prefix("crates/").unwrap_or(folder);
        let inner = name.strip_prefix(SYSTEMS).unwrap_or(name);
        (!inner.contains('/')).then_some((name, file))
    })
}

pub(super) fn arrows_point_down(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, manifest) in manifests(tree) {
        let Some(allowed) = allowed(name) else {
            let message = "a new crate: say in ARROWS of xtask/src/tidy/crates.rs which crates it may use";
            problems.push(manifest.problem(0, message));
            continue;
        };
        for dependency in dependencies(&manifest.text) {
            let used = dependency.name.strip_prefix("milepost-").unwrap_or(dependency.name);
            let is_ours = ARROWS.iter().any(|(known, _)| *known == used);
            let is_allowed = allowed.contains(&used);
            let is_impure = NEVER_IN_PURE.contains(&used) || (is_ours && !is_allowed);
            let message = if PURE.contains(&name) && is_impure {
                format!("{name} stays pure and may not use {used}, not even in tests: move the code up")
            } else if name == "wire" && NEVER_IN_WIRE.contains(&used) {
                format!("every client carries wire, which may not use {used}: move the rule to model")
            } else if is_ours && !dependency.is_dev && !is_allowed {
                format!(
                    "{name} may not use {used} (it may use {allowed:?}): move the code to the right crate"
                )
            } else {
                continue;
            };
            problems.push(manifest.problem(dependency.line, message));
        }
    }
    problems
}

pub(super) fn manifests_follow_the_workspace(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (_, manifest) in manifests(tree) {
        let entries = entries(&manifest.text);
        let is_set = |table: &str, key: &str| {
            entries.iter().any(|entry| entry.table == table && entry.key == key && entry.value == "true")
        };
        if !is_set("lints", "workspace") {
            problems.push(manifest.problem(0, "add `workspace = true` under [lints]"));
        }
        for key in ["edition.workspace", "license.workspace", "rust-version.workspace"] {
            if !is_set("package", key) {
                problems.push(manifest.problem(0, format!("add `{key} = true` under [package]")));
            }
        }
    }
    problems
}

pub(super) fn have_sources(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, manifest) in manifests(tree) {
        let sources = manifest.path.replace("Cargo.toml", "src/");
        let is_source =
            |file: &File| file.path.starts_with(&sources) && file.is("rs") && !file.text.trim().is_empty();
        if !tree.files.iter().any(is_source) {
            problems.push(manifest.problem(0, format!("{name} has no code: write it or remove the crate")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    fn arrows(path: &str, text: &str) -> Vec<String> {
        findings(arrows_point_down, &[(path, text)])
    }

    #[test]
    fn an_arrow_that_points_up_is_found_with_its_line() {
        let found = arrows(
            "crates/store/Cargo.toml",
            "[dependencies]\nmodel.workspace = true\nengine.workspace = true\n",
        );
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/store/Cargo.toml:3: store may not use engine"), "{found:?}");
    }

    #[test]
    fn an_arrow_under_another_name_is_found() {
        let text = "[dependencies]\nx = { package = \"milepost-store\", path = \"../store\" }\n";
        assert_eq!(arrows("crates/client/Cargo.toml", text).len(), 1);
        assert_eq!(arrows("xtask/Cargo.toml", "[build-dependencies]\nmodel.workspace = true\n").len(), 1);
    }

    #[test]
    fn tests_may_use_any_crate_but_those_of_pure_crates_may_not() {
        let text = "[dev-dependencies]\nstore-sqlite.workspace = true\n";
        assert!(arrows("crates/engine/Cargo.toml", text).is_empty());
        assert_eq!(arrows("crates/model/Cargo.toml", text).len(), 1);
        assert_eq!(
            arrows("crates/model/Cargo.toml", "[dev-dependencies]\ntokio.workspace = true\n").len(),
            1
        );
        assert!(arrows("crates/model/Cargo.toml", "[dependencies]\nwire.workspace = true\n").is_empty());
        assert_eq!(arrows("crates/wire/Cargo.toml", "[dev-dependencies]\nmodel.workspace = true\n").len(), 1);
    }

    #[test]
    fn a_client_carries_no_library_of_the_rules() {
        assert_eq!(arrows("crates/wire/Cargo.toml", "[dependencies]\ncel.workspace = true\n").len(), 1);
        assert_eq!(arrows("crates/client/Cargo.toml", "[dependencies]\nmodel.workspace = true\n").len(), 1);
        assert!(arrows("crates/model/Cargo.toml", "[dependencies]\ncel.workspace = true\n").is_empty());
    }

    #[test]
    fn a_system_sees_neither_engine_nor_store() {
        let uses = |used: &str| {
            arrows("systems/skills/Cargo.toml", &format!("[dependencies]\n{used}.workspace = true\n"))
        };
        for used in ["engine", "store", "model", "app", "server"] {
            assert_eq!(uses(used).len(), 1, "{used}");
        }
        for used in ["client", "system", "fetch", "serde"] {
            assert!(uses(used).is_empty(), "{used}");
        }
    }

    #[test]
    fn an_unknown_crate_must_be_given_its_arrows() {
        assert_eq!(arrows("crates/helpers/Cargo.toml", "").len(), 1);
        assert!(arrows("Cargo.toml", "[workspace.dependencies]\nmodel = { path = \"x\" }\n").is_empty());
    }

    #[test]
    fn arrows_have_no_cycle() {
        for (index, (name, uses)) in ARROWS.iter().enumerate() {
            let above = &ARROWS[index..];
            assert!(
                above.iter().all(|(later, _)| !uses.contains(later)),
                "{name} uses a crate listed after it"
            );
        }
    }

    #[test]
    fn a_manifest_of_its_own_mind_is_found() {
        let text = "[package]\nedition = \"2021\"\nlicense.workspace = true\nrust-version.workspace = true\n";
        let found = findings(manifests_follow_the_workspace, &[("crates/a/Cargo.toml", text)]);
        assert_eq!(
            found,
            [
                "crates/a/Cargo.toml: add `workspace = true` under [lints]",
                "crates/a/Cargo.toml: add `edition.workspace = true` under [package]",
            ]
        );
    }

    #[test]
    fn a_crate_without_code_is_found() {
        let manifest = ("crates/a/Cargo.toml", "");
        assert_eq!(findings(have_sources, &[manifest, ("crates/a/src/lib.rs", "\n")]).len(), 1);
        assert_eq!(findings(have_sources, &[manifest, ("crates/b/src/lib.rs", "fn a() {}\n")]).len(), 1);
        assert!(findings(have_sources, &[manifest, ("crates/a/src/lib.rs", "fn a() {}\n")]).is_empty());
    }
}
