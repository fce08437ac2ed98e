//! Passwords in addresses, and data that others can read.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{Said, Server, milepost, run};
use tempfile::TempDir;

const SECRET: &str = "hunter2";

/// A command's words, and variables of its environment.
struct Case<'a> {
    words: &'a [&'a str],
    envs: &'a [(&'a str, &'a str)],
}

fn told(case: &Case<'_>) -> Said {
    let folder = TempDir::new().unwrap();
    let mut command = milepost(case.words);
    command.current_dir(folder.path()).envs(case.envs.iter().copied()).env("MILEPOST_LOG", "trace");
    command.output().unwrap().into()
}

#[test]
fn no_password_of_an_address_is_repeated() {
    let unreachable = "http://ada:hunter2@127.0.0.1:1";
    let id = "019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57";
    let key = "milepost.example/log+2d0d4f57+AT4bDH5QnVcfQWR2IkXwSCQzHk2e2IWXGS4VRA4Dgbsu";
    let cases: &[Case<'_>] = &[
        Case { words: &["list", "--server", unreachable], envs: &[] },
        Case { words: &["status"], envs: &[("MILEPOST_SERVER", unreachable)] },
        Case { words: &["show", id], envs: &[("MILEPOST_SERVER", "http://ada:hun/ter2hunter2@127.0.0.1:1")] },
        Case { words: &["list", "--server", "http://ada:hunter2@127.0.0.1:1?a"], envs: &[] },
        Case { words: &["list", "--server", "http://ada:hunter2@"], envs: &[] },
        Case { words: &["list", "--server", "ada:hunter2@127.0.0.1:1"], envs: &[] },
        Case { words: &["list", unreachable], envs: &[] },
        Case { words: &["list", "--sever=http://ada:hunter2@127.0.0.1:1"], envs: &[] },
        Case { words: &["doctor", "--server", unreachable], envs: &[] },
        Case {
            words: &["worker", "run", "--task", "a.b", "--server", "http://ada:hunter2@", "--", "true"],
            envs: &[],
        },
        Case { words: &["verify", unreachable, "--key", key], envs: &[] },
        Case { words: &["monitor", unreachable, "--key", key, "--state", "seen", "--once"], envs: &[] },
        Case { words: &["serve", "postgres://ada:hunter2@127.0.0.1:1/db"], envs: &[] },
        Case { words: &["serve", "--store", "postgres://ada:hunter2@127.0.0.1:1/db"], envs: &[] },
        Case { words: &["serve"], envs: &[("MILEPOST_STORE", "postgres://ada:hunter2@127.0.0.1:1/db")] },
        Case {
            words: &["serve", "--store", "postgres://127.0.0.1:1/db?user=ada&password=hunter2"],
            envs: &[],
        },
        Case { words: &["serve", "--store", "postgres://ada:hunter2@127.0.0.1:x/db"], envs: &[] },
        Case { words: &["serve", "--store", "postgres:ada:hunter2@127.0.0.1:1/db"], envs: &[] },
        Case {
            words: &["serve", "--smtp", "smtp://ada:hunter2@mail.example", "--mail-from", "a@b.example"],
            envs: &[],
        },
        Case {
            words: &["serve", "--smtp", "http://ada:hunter2@mail.example", "--mail-from", "a@b.example"],
            envs: &[],
        },
        Case { words: &["backup", "copy", "--store", "postgres://ada:hunter2@127.0.0.1:1/db"], envs: &[] },
        Case { words: &["config", "show", "--", "--smtp", "smtp://ada:hunter2@mail.example"], envs: &[] },
        Case {
            words: &["config", "show", "--origin"],
            envs: &[
                ("MILEPOST_STORE", "postgres://ada:hunter2@db/a?password=hunter2"),
                ("MILEPOST_SERVER", unreachable),
            ],
        },
    ];
    for case in cases {
        let said = told(case);
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(!text.contains(SECRET), "{:?} {:?} says: {text}", case.words, case.envs);
        assert!(!text.is_empty(), "{:?} says nothing", case.words);
    }
}

#[test]
fn a_server_that_asks_to_be_known_by_a_password_is_asked_without_showing_it() {
    let server = Server::start(&[]);
    let address = server.url.replace("http://", "http://ada:hunter2@");
    let status = run(&["status", "--server", &address]).ends(0);
    let doctor = run(&["doctor", "--server", &address]);
    let told = format!("{}{}{}{}", status.stdout, status.stderr, doctor.stdout, doctor.stderr);
    assert!(!told.contains(SECRET) && told.contains("127.0.0.1"), "{told}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_a_server_keeps_is_its_owners_alone() {
    let mut server = Server::start(&[]);
    let data = server.folder.path().join("data");
    let files = || std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(mode(&data), 0o700);
    for file in files() {
        assert_eq!(mode(&file) & 0o077, 0, "{}", file.display());
    }
    assert!(files().any(|file| file.ends_with("milepost.db-wal")), "the log of the database, too");
    server.child.kill().and_then(|()| server.child.wait()).unwrap();
    set_mode(&data, 0o755);
    for file in files() {
        set_mode(&file, 0o644);
    }
    let words = ["doctor", "--offline", "-o", "json", "--data", data.to_str().unwrap()];
    let checks = run(&words).json()["checks"].clone();
    let rights = checks.as_array().unwrap().iter().find(|check| check["check"] == "rights").unwrap();
    assert_eq!(rights["verdict"], "warning", "{rights}");
    assert!(rights.to_string().contains("milepost.db"), "{rights}");
    server.restart();
    assert_eq!(mode(&data), 0o700);
    for file in files() {
        assert_eq!(mode(&file) & 0o077, 0, "{}", file.display());
    }
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.contains("others on this machine could use") && log.contains("(mode 755)"), "{log}");
}

#[test]
fn a_folder_where_others_could_replace_the_data_is_refused() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("photos")).unwrap();
    set_mode(folder.path(), 0o777);
    let words = ["serve", "--listen", "127.0.0.1:0", "--data", folder.path().to_str().unwrap()];
    let refused = run(&words).ends(4);
    assert!(
        refused.stderr.contains("mode 777") && refused.stderr.contains("/milepost"),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left there");
}

#[test]
fn a_key_outside_the_data_folder_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("log.key");
    let args = ["--audit-key".to_owned(), key.to_str().unwrap().to_owned()];
    let mut server = Server::start_with(&[], &args, &[]);
    server.child.kill().and_then(|()| server.child.wait()).unwrap();
    set_mode(&key, 0o644);
    let words = ["doctor", "--offline", "-o", "json", "--audit-key", key.to_str().unwrap()];
    let check = || run(&words).json()["checks"][0].clone();
    let found = check();
    assert_eq!(
        (&found["check"], &found["verdict"]),
        (&"audit key file".into(), &"warning".into()),
        "{found}"
    );
    assert!(found["found"].as_str().unwrap().contains("644"), "{found}");
    server.restart();
    assert_eq!(mode(&key), 0o600);
    assert_eq!(check()["verdict"], "fine");
}
