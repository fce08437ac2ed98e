//! Settings: a file, the environment, flags.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod common;

use std::path::Path;

use common::{milepost, run};
use serde_json::Value;
use tempfile::TempDir;

fn shown(file: &Path, variables: &[(&str, &str)], flags: &[&str]) -> Value {
    let mut command = milepost(&["config", "show", "--origin", "-o", "json", "--config"]);
    command.arg(file).arg("--").args(flags);
    for (name, value) in variables {
        command.env(name, value);
    }
    common::Said::from(command.output().unwrap()).ends(0).json()["settings"].clone()
}

fn setting<'a>(settings: &'a Value, name: &str) -> (&'a str, &'a str) {
    let found = settings.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    (found["value"].as_str().unwrap_or("-"), found["origin"].as_str().unwrap())
}

#[test]
fn a_flag_counts_more_than_a_variable_and_that_more_than_the_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("milepost.toml");
    let text = "listen = \"127.0.0.1:1\"\nkeep-events = \"1d\"\nconnections = 7\nstore = \"postgres://ada:hunter2@db/m\"\n\n[client]\nserver = \"http://m.example\"\n";
    std::fs::write(&file, text).unwrap();
    let variables = [("MILEPOST_KEEP_EVENTS", "2d"), ("MILEPOST_CONNECTIONS", "8"), ("MILEPOST_NAME", "")];
    let settings = shown(&file, &variables, &["--connections", "9"]);
    let line = |line: u32| format!("{}:{line}", file.display());
    assert_eq!(setting(&settings, "listen"), ("127.0.0.1:1", &*line(1)));
    assert_eq!(setting(&settings, "keep-events"), ("2d", "MILEPOST_KEEP_EVENTS"));
    assert_eq!(setting(&settings, "connections"), ("9", "--connections"));
    assert_eq!(setting(&settings, "connections-per-address"), ("4096", "default"));
    assert_eq!(setting(&settings, "name"), ("(a name it makes up)", "default"));
    assert_eq!(setting(&settings, "store"), ("postgres://ada:***@db/m", &*line(4)));
    assert_eq!(setting(&settings, "client.server"), ("http://m.example", &*line(7)));
    assert!(!settings.to_string().contains("hunter2"));
    // What excludes what the file says takes its place.
    let settings = shown(&file, &[("MILEPOST_DATA", "elsewhere")], &[]);
    assert_eq!(setting(&settings, "data"), ("elsewhere", "MILEPOST_DATA"));
    assert_eq!(setting(&settings, "store"), ("-", "default"));
    let settings = shown(&file, &[("MILEPOST_STORE", "sqlite:there")], &["--data", "here"]);
    assert_eq!((setting(&settings, "data").0, setting(&settings, "store").0), ("here", "-"));
}

#[test]
fn a_file_with_faults_is_refused_with_line_and_hint() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "# settings\nlissten = \"127.0.0.1:1\"\nconnections = \"many\"\n").unwrap();
    let path = file.display().to_string();
    let said = run(&["config", "check", &path]).ends(1);
    assert!(
        said.stdout.contains("bad.toml:2: there is no setting `lissten`; did you mean `listen`?"),
        "{said:?}"
    );
    assert!(said.stdout.contains("bad.toml:3: invalid value 'many' for 'connections"), "{said:?}");
    let said = run(&["serve", "--config", &path]).ends(2);
    assert!(said.stderr.contains("bad.toml:2:") && said.stderr.contains("config check"), "{said:?}");
    run(&["serve", "--config", "/nowhere/at.all"]).ends(2);
    run(&["config", "check", concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/milepost.toml")]).ends(0);
}

#[test]
fn a_server_and_its_commands_are_set_up_by_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("milepost.toml");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = format!(
        "data = \"{}\"\nlisten = \"127.0.0.1:0\"\nfirst-token = \"{}\"\n[client]\ntoken-file = \"{}\"\n",
        at("data"),
        at("admin.token"),
        at("admin.token")
    );
    std::fs::write(&file, text).unwrap();
    let mut command = milepost(&["serve", "--config"]);
    command.arg(&file);
    let (mut child, url) = common::listening(command, &std::sync::Arc::default());
    let mut list = milepost(&["tokens", "list", "--server", &url]);
    let listed: common::Said = list.env("MILEPOST_CONFIG", &file).output().unwrap().into();
    child.kill().and_then(|()| child.wait()).unwrap();
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(folder.path().join("data/milepost.db").exists());
}
