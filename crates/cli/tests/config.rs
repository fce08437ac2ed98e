//! Settings: a file, the environment, flags.

use crate::common;

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
    assert_eq!(setting(&settings, "store"), ("postgres://***@db/m", &*line(4)));
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
    let odd = folder.path().join("odd.toml");
    std::fs::write(&odd, "log-format = \"xml\"\n").unwrap();
    let said = run(&["config", "check", odd.to_str().unwrap()]).ends(1);
    assert!(said.stdout.contains("'xml' for 'log-format <FORMAT>'; one of text, json"), "{said:?}");
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

const NOTE: &str = "name = \"note\"\nversion = 1\nstart = [{ to = \"DONE\", when = \"params.open\" }, \"LOST\"]\n\
    [params]\nopen = true\nbar = 1\n[states.DONE]\nfinal = \"success\"\n[states.LOST]\nfinal = \"failure\"\n";

/// A server with settings and a folder of pipelines.
struct Deployed {
    folder: TempDir,
}

impl Deployed {
    fn new(params: &str) -> Deployed {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("pipelines")).unwrap();
        let deployed = Deployed { folder };
        deployed.write("pipelines/note.toml", NOTE);
        deployed.set(params);
        deployed
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn set(&self, params: &str) {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        let (data, pipelines) = (at("data"), at("pipelines"));
        let text =
            format!("data = \"{data}\"\nlisten = \"127.0.0.1:0\"\npipelines = \"{pipelines}\"\n{params}");
        self.write("milepost.toml", &text);
    }

    fn file(&self) -> String {
        self.folder.path().join("milepost.toml").display().to_string()
    }

    /// Starts the server, runs a command on it, and tells what it said, and what the server did.
    fn serving(&self, command: &[&str]) -> (Value, String) {
        let log = std::sync::Arc::default();
        let (mut child, url) = common::listening(milepost(&["serve", "--config", &self.file()]), &log);
        let run = |command: &[&str]| {
            let said: common::Said =
                milepost(command).args(["--server", &url, "-o", "json"]).output().unwrap().into();
            said.ends(0).json()
        };
        let said = run(command);
        child.kill().and_then(|()| child.wait()).unwrap();
        let log = log.lock().unwrap().join("\n");
        (said, log)
    }
}

const SHOW: &[&str] = &["pipelines", "note"];

#[test]
fn parameters_of_pipelines_are_set_by_the_file_and_by_people() {
    let deployed = Deployed::new("[params.note]\nbar = 5\n");
    let (note, _) = deployed.serving(SHOW);
    assert_eq!(note["definitions"][0]["params"], serde_json::json!({ "bar": 5 }));
    let path = deployed.folder.path().join("pipelines/note.toml").display().to_string();
    deployed.serving(&["apply", &path, "--param", "open=false", "--param", "bar=6"]);
    let (note, log) = deployed.serving(SHOW);
    assert_eq!(note["definitions"][0]["params"], serde_json::json!({ "bar": 5, "open": false }), "{log}");
    assert_eq!(note["revision"], 3, "the file wins where it names a parameter, and the rest stays: {log}");
    deployed.set("");
    let (note, _) = deployed.serving(SHOW);
    assert_eq!((&note["revision"], &note["definitions"][0]["params"]["bar"]), (&3.into(), &5.into()));
}

#[test]
fn an_old_file_is_told_and_changes_nothing() {
    let deployed = Deployed::new("");
    deployed.serving(SHOW);
    let path = deployed.write("pipelines/note.toml", &NOTE.replace("version = 1", "version = 2"));
    let (note, _) = deployed.serving(SHOW);
    assert_eq!(note["in_force"], 2);
    deployed.write("pipelines/note.toml", NOTE);
    let (note, log) = deployed.serving(SHOW);
    assert_eq!(note["in_force"], 2);
    assert!(log.contains("version 2 of `note` is in force") && log.contains("WARN"), "{log}");
    deployed.serving(&["apply", &path, "--rollback"]);
    deployed.write("pipelines/note.toml", &NOTE.replace("version = 1", "version = 2"));
    let (note, log) = deployed.serving(SHOW);
    assert_eq!(note["in_force"], 1, "a restart undoes no rollback: {log}");
    assert!(log.contains("went back to it"), "{log}");
}

#[test]
fn parameters_nobody_has_are_refused_with_their_line() {
    let deployed = Deployed::new("[params.note]\nbra = 5\nopen = \"yes\"\n[params.notes]\nbar = 5\n");
    let said = run(&["config", "check", &deployed.file()]).ends(1).stdout;
    assert!(
        said.contains("milepost.toml:5: the pipeline `note` has no parameter `bra`; there is bar, open"),
        "{said}"
    );
    assert!(said.contains("milepost.toml:6: the parameter `open` of `note` is of type"), "{said}");
    assert!(said.contains("milepost.toml:7: the folder has no pipeline `notes`"), "{said}");
    let said = run(&["serve", "--config", &deployed.file()]).ends(2).stderr;
    assert!(said.contains("milepost.toml:5:"), "{said}");
    deployed.set("[params.note]\nbar = 5\n");
    run(&["config", "check", &deployed.file()]).ends(0);
    let settings = shown(Path::new(&deployed.file()), &[], &[]);
    assert_eq!(setting(&settings, "params.note.bar").0, "5");
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

#[test]
fn a_backup_finds_the_data_where_the_settings_say() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = format!("data = {:?}\naudit-key = {:?}\n", at("data"), at("log.key"));
    std::fs::write(at("milepost.toml"), text).unwrap();
    let mut serve = milepost(&["serve", "--listen", "127.0.0.1:0", "--config"]);
    serve.arg(at("milepost.toml"));
    let (mut child, _) = common::listening(serve, &std::sync::Arc::default());
    let backup = |name: &str, variables: &[(&str, &std::path::Path)]| {
        let mut command = milepost(&["backup", "-o", "json"]);
        command.arg(at(name)).current_dir(folder.path()).env("MILEPOST_CONFIG", at("milepost.toml"));
        command.envs(variables.iter().copied());
        common::Said::from(command.output().unwrap())
    };
    let made = backup("copy", &[]).ends(0).json();
    assert_eq!(made["with_key"], true, "{made}");
    // A variable counts more than the file.
    let said = backup("other", &[("MILEPOST_DATA", &at("elsewhere"))]).ends(1);
    assert!(said.stderr.contains("elsewhere"), "{said:?}");
    child.kill().and_then(|()| child.wait()).unwrap();
}

#[test]
fn a_public_pipeline_and_the_server_s_address_are_checked_against_what_there_is() {
    let folder = TempDir::new().unwrap();
    let (machines, file) = (folder.path().join("machines"), folder.path().join("milepost.toml"));
    std::fs::create_dir(&machines).unwrap();
    let toml = "name = \"notes\"\nversion = 1\nstart = \"DONE\"\npayload = \"note.json\"\n[states.DONE]\nfinal = \"success\"\n";
    std::fs::write(machines.join("notes.toml"), toml).unwrap();
    let schema = r#"{"type":"object","required":["a"],"properties":{"a":{},"b":{}}}"#;
    std::fs::write(machines.join("note.json"), schema).unwrap();
    let check = |text: &str, code: i32| {
        let text = format!("pipelines = \"{}\"\n{text}", machines.display());
        std::fs::write(&file, text).unwrap();
        run(&["config", "check", file.to_str().unwrap()]).ends(code)
    };
    check("base-url = \"https://m.example\"\n[public.notes]\ntitle = \"Notes\"\nfields = [\"a\"]\n", 0);
    let said = check("base-url = \"https://m.example/path\"\n", 1);
    assert!(said.stdout.contains(":2:") && said.stdout.contains("it ends behind the host"), "{said:?}");
    let said = check("[public.notes]\nfields = [\"b\"]\nstates = { GONE = \"x\" }\n", 1);
    assert!(said.stdout.contains("must have `a`") && said.stdout.contains("no state `GONE`"), "{said:?}");
    let settings = {
        std::fs::write(&file, "base-url = \"https://M.example/\"\n[public.notes]\nrate = 3\n").unwrap();
        shown(&file, &[], &[])
    };
    let line = |line: u32| format!("{}:{line}", file.display());
    assert_eq!(setting(&settings, "public.notes.rate"), ("3", &*line(3)));
    assert_eq!(setting(&settings, "base-url").1, &*line(1));
}
