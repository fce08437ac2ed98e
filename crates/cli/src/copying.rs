//! Files that are copied whole or not at all, readable by their owner alone.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};

use crate::exit::{Exit, Stop};

pub(crate) fn bar(unit: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:32}} {{human_pos}}/{{human_len}} {unit} {{elapsed}} (eta {{eta}})");
    ProgressBar::new(0).with_style(ProgressStyle::with_template(&template).expect("the template is in order"))
}

/// Makes a folder; one that is there must be empty.
pub(crate) fn private_folder(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        check_empty(path)?;
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

pub(crate) fn check_empty(path: &Path) -> anyhow::Result<()> {
    let mut found =
        fs::read_dir(path).with_context(|| format!("{} cannot be read as a folder", path.display()))?;
    match found.next() {
        None => Ok(()),
        Some(_) => {
            let message = format!("the folder {} is not empty, and nothing is replaced", path.display());
            Err(Stop::new(Exit::Refused, message).next("name a folder that is not there yet").into())
        }
    }
}

/// A small file with a secret in it.
pub(crate) fn private_copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let text = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(to)?;
        io::Write::write_all(&mut file, &text)?;
        file.sync_all()
    };
    write().with_context(|| format!("cannot write {}", to.display()))
}

/// Makes the names in a folder durable.
pub(crate) fn sync(folder: &Path) -> anyhow::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|file| file.sync_all());
    synced.with_context(|| format!("cannot sync the folder {}", folder.display()))
}
