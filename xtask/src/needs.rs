//! Programs the project's commands call, and the Debian packages that bring them.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

use anyhow::{Context, Result, bail};

pub(crate) struct Needs {
    /// Looked for on the path; where a package brings none, a file of it by its whole name.
    pub(crate) command: &'static str,
    pub(crate) package: &'static str,
}

/// SQLite is compiled in and its C compiler is the one Rust links with, so little is left to ask for. Go and Python are
/// for the verifiers of others: the audit log is checked with theirs, too. By npm comes the node of Ethereum that the ledger
/// system is tested with, what drives the browser that looks at the console, and the official client of Cloudflare Queues.
/// One server of a fleet is told a wrong time. The last three are what the commands in the documentation use.
pub(crate) const NEEDS: &[Needs] = &[
    Needs { command: "git", package: "git" },
    Needs { command: "go", package: "golang-go" },
    Needs {
        command: "/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog/tlog.go",
        package: "golang-golang-x-mod-dev",
    },
    Needs { command: "python3", package: "python3-venv" },
    Needs { command: "node", package: "nodejs" },
    Needs { command: "npm", package: "npm" },
    Needs { command: "faketime", package: "faketime" },
    Needs { command: "chromium", package: "chromium" },
    Needs { command: "curl", package: "curl" },
    Needs { command: "jq", package: "jq" },
    Needs { command: "openssl", package: "openssl" },
];

/// Installs the packages of all missing commands. What cannot be had is an error: a run that quietly
/// leaves something out would look like a good one.
pub(crate) fn provide(needs: &[Needs]) -> Result<()> {
    provide_with("apt-get", needs)
}

fn provide_with(installer: &str, needs: &[Needs]) -> Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let packages: Vec<&str> = missing(needs, &path).map(|need| need.package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    install_with(installer, &packages)?;
    match missing(needs, &path).next() {
        Some(need) => bail!("package {} did not bring the command {}", need.package, need.command),
        None => Ok(()),
    }
}

/// Installs what is known to be missing.
pub(crate) fn install_packages(packages: &[&str]) -> Result<()> {
    install_with("apt-get", packages)
}

fn install_with(installer: &str, packages: &[&str]) -> Result<()> {
    let advice = || format!("install by hand what the tests need: {}", packages.join(" "));
    println!("installing {}", packages.join(" "));
    install(installer, &["update"]).with_context(advice)?;
    let arguments = [&["install", "-y", "--no-install-recommends"], packages].concat();
    install(installer, &arguments).with_context(advice)
}

fn install(installer: &str, arguments: &[&str]) -> Result<()> {
    let shown = format!("{installer} {}", arguments.join(" "));
    let status = Command::new(installer)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

fn missing<'a>(needs: &'a [Needs], path: &'a OsStr) -> impl Iterator<Item = &'a Needs> {
    needs.iter().filter(move |need| !env::split_paths(path).any(|folder| folder.join(need.command).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: &[Needs] = &[Needs { command: "no-such-command", package: "no-such-package" }];

    #[test]
    fn a_command_on_the_path_needs_no_installer() {
        let shell = [Needs { command: "sh", package: "dash" }];
        provide_with("no-such-installer", &shell).unwrap();
    }

    #[test]
    fn a_file_by_its_whole_name_is_looked_for_where_it_is() {
        let path = env::var_os("PATH").unwrap_or_default();
        let there =
            [Needs { command: "/dev/null", package: "a" }, Needs { command: "/etc/passwd", package: "b" }];
        let absent: Vec<&str> = missing(&there, &path).map(|need| need.package).collect();
        assert_eq!(absent, ["a"], "a device is no file, and a file is one from any folder of the path");
    }

    #[test]
    fn a_package_that_cannot_be_installed_is_an_error_that_names_it() {
        let error = format!("{:#}", provide_with("false", ABSENT).unwrap_err());
        assert!(error.contains("no-such-package") && error.contains("`false update` failed"), "{error}");
    }

    #[test]
    fn a_machine_without_the_installer_is_told_what_to_install() {
        let error = format!("{:#}", provide_with("no-such-installer", ABSENT).unwrap_err());
        assert!(error.contains("install by hand") && error.contains("no-such-package"), "{error}");
    }

    #[test]
    fn a_package_that_does_not_bring_its_command_is_an_error() {
        let error = provide_with("true", ABSENT).unwrap_err().to_string();
        assert_eq!(error, "package no-such-package did not bring the command no-such-command");
    }
}
