//! Runs the commands of a page as a reader would: top to bottom, in one shell and an empty folder.
//!
//! What a page says of places is made true for this machine: each page has ports of its own, `milepost.example` is its
//! server, every address is loopback, and folders of the system are below the page's own.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::common::shipped;
use crate::docs::page::Page;

/// The databases that pages name.
const DATABASES: [&str; 2] =
    ["postgres://milepost:secret@db/milepost", "postgres://milepost@db.example/milepost"];

/// Runs a page with these files beside its own. The error says in which line it failed and what was said there.
pub(crate) fn run(page: &Page, files: &[(String, String)]) -> Result<(), String> {
    let folder = TempDir::new().expect("a temporary folder");
    let place = Place::new(folder.path());
    for (name, text) in files.iter().chain(&page.files) {
        place.write(&place.reader.join(name), &place.localized(text));
    }
    shipped::copy(&repository().join("systems"), &place.reader.join("systems"));
    let script = place.state.join("page.sh");
    place.write(&script, &place.localized(&page.script));
    let said = place.state.join("output");
    let output = File::create(&said).expect("the folder can be written");
    // A command that waits for ever fails, too.
    let mut shell = Command::new("timeout");
    shell
        .args(["300", "bash"])
        .arg(&script)
        .current_dir(&place.reader)
        .env_clear()
        .envs(place.environment())
        .stdin(std::process::Stdio::null())
        .stdout(output.try_clone().expect("a file can be shared"))
        .stderr(output)
        .process_group(0);
    let mut child = shell.spawn().expect("bash is there");
    let ended = child.wait().expect("bash ends");
    let group = Pid::from_child(&child);
    // Fails where nothing is left of it.
    let _ = kill_process_group(group, Signal::KILL);
    if ended.success() {
        return Ok(());
    }
    Err(fs::read_to_string(&said).unwrap_or_else(|error| format!("what was said cannot be read: {error}")))
}

/// The folders and ports of one page.
struct Place {
    /// The folder that the reader is in.
    reader: PathBuf,
    /// The runner's own notes.
    state: PathBuf,
    /// Stands for `/` where the page names folders of the system.
    root: PathBuf,
    server: u16,
    tls: u16,
    witness: u16,
}

impl Place {
    fn new(folder: &Path) -> Place {
        let [reader, state, root] = ["reader", "state", "root"].map(|name| {
            let path = folder.join(name);
            fs::create_dir(&path).expect("the folder can be written");
            path
        });
        Place { reader, state, root, server: free_port(), tls: free_port(), witness: free_port() }
    }

    fn write(&self, path: &Path, text: &str) {
        let folder = path.parent().expect("it is in a folder");
        fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).expect("the folder can be written");
    }

    fn localized(&self, text: &str) -> String {
        let mut text = text
            .replace("https://milepost.example:8443", "https://localhost:8443")
            .replace("https://milepost.example", "http://127.0.0.1:8080")
            .replace("0.0.0.0", "127.0.0.1")
            .replace(":8080", &format!(":{}", self.server))
            .replace(":8443", &format!(":{}", self.tls))
            .replace(":9090", &format!(":{}", self.witness))
            .replace(" 9090", &format!(" {}", self.witness));
        for folder in ["/etc/milepost", "/mnt/", "/var/lib/"] {
            text = text.replace(folder, &format!("{}{folder}", self.root.display()));
        }
        for (index, address) in DATABASES.into_iter().enumerate() {
            if text.contains(address) {
                text = text.replace(address, &database(index));
            }
        }
        text
    }

    /// Nothing of whoever runs the tests but where programs are.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").expect("there is a path");
        let of = |path: &Path| path.to_str().expect("temporary folders have plain names").to_owned();
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs");
        let curl = std::env::split_paths(&path).map(|folder| folder.join("curl")).find(|path| path.is_file());
        vec![
            ("PATH", format!("{}:{path}", of(&tests.join("bin")))),
            ("HOME", of(&self.reader)),
            ("BASH_ENV", of(&tests.join("prelude.sh"))),
            ("PAGE_STATE", of(&self.state)),
            ("REPOSITORY", of(&repository())),
            ("MILEPOST_REAL", env!("CARGO_BIN_EXE_milepost").to_owned()),
            ("CURL_REAL", of(&curl.expect("curl is on the path: install the Debian package curl"))),
            ("MILEPOST_LISTEN", format!("127.0.0.1:{}", self.server)),
            ("MILEPOST_SERVER", format!("http://127.0.0.1:{}", self.server)),
        ]
    }
}

/// A schema of the server that `cargo xtask test` starts, which no other test has.
fn database(index: usize) -> String {
    let url = std::env::var("MILEPOST_TEST_POSTGRES")
        .expect("MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`");
    format!("{url}?schema=docs_{}_{index}&readers=2&writers=2", std::process::id())
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A port that nobody has, below those that the system gives to whoever asks for any: so nobody takes it until the page
/// does.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + u16::try_from(std::process::id() % 100).expect("below 100") * 100;
    let mut candidates = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed)).take(2_000);
    candidates.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port is free")
}
