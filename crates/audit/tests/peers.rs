//! Verifiers nobody here wrote accept the log and refuse it once it was touched: Go's sumdb, and pymerkle.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Deployment, ORIGIN, applied, eventful, key, leaves};

const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");

/// A log over several tiles with a story near its end, its evidence, and a checkpoint from before.
struct Scene {
    deployment: Deployment,
    older: PathBuf,
    evidence: PathBuf,
}

fn scene() -> Scene {
    let story = eventful();
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&vec![applied(&story.pipeline); 299]);
    let (older, evidence) =
        (deployment.folder.path().join("older"), deployment.folder.path().join("evidence.json"));
    std::fs::write(&older, deployment.checkpoint()).unwrap();
    deployment.publish(&vec![applied(&story.pipeline); 400]);
    deployment.publish(&leaves(&story.events));
    std::fs::write(&evidence, deployment.evidence(&story).to_text()).unwrap();
    Scene { deployment, older, evidence }
}

impl Scene {
    fn log(&self) -> PathBuf {
        self.deployment.folder.path().join("log")
    }
}

/// Changes one byte of a file for as long as `check` takes.
fn touched(path: &Path, at: usize, check: impl FnOnce()) {
    let before = std::fs::read(path).unwrap();
    let mut after = before.clone();
    after[at] ^= 1;
    std::fs::write(path, after).unwrap();
    check();
    std::fs::write(path, before).unwrap();
}

/// Runs a program and says what is missing where it cannot be started.
#[track_caller]
fn run(command: &mut Command, package: &str) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install the Debian package {package}"))
}

#[track_caller]
fn assert_ran(command: &mut Command, package: &str) {
    let output = run(command, package);
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?} (Debian package {package}): {said}");
}

#[test]
fn go_accepts_the_log_and_refuses_tampering() {
    let scene = scene();
    let verifier = scene.deployment.folder.path().join("verify");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&verifier).arg("verify.go").current_dir(PEERS);
    build.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOFLAGS", "");
    build.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"));
    assert_ran(&mut build, "golang-go and golang-golang-x-mod-dev");

    let vkey = key(ORIGIN, 1).verifier().to_string();
    let verify = |vkey: &str, older: &Path| {
        let mut command = Command::new(&verifier);
        let output = run(command.arg(scene.log()).arg(vkey).arg(older), "golang-go");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(verify(&vkey, &scene.older), (true, "705 entries verified\n".to_owned()));
    let refuses = |what: &str| {
        let (accepted, said) = verify(&vkey, &scene.older);
        assert!(!accepted, "{what}: {said}");
    };
    for (file, at) in [
        ("tile/entries/000", 100),
        ("tile/entries/002.p/193", 20_000),
        ("tile/0/000", 33),
        ("tile/0/002.p/193", 0),
        ("tile/1/000.p/2", 40),
        ("checkpoint", 3),
        ("checkpoint", 22),
        ("checkpoint", 40),
        ("checkpoint", 120),
    ] {
        touched(&scene.log().join(file), at, || refuses(file));
    }
    touched(&scene.older, 40, || refuses("another past"));
    let stranger = key(ORIGIN, 2).verifier().to_string();
    assert!(!verify(&stranger, &scene.older).0);
    assert!(verify(&vkey, &scene.older).0, "untouched again");
}

/// A Python with pymerkle, made once for all runs.
fn python() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pymerkle-7.0.0");
    let python = folder.join("bin/python");
    let has_it = |python: &Path| {
        let found = Command::new(python).args(["-c", "import pymerkle"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    if !has_it(&python) {
        assert_ran(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), "python3-venv");
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pymerkle==7.0.0"]);
        assert_ran(&mut install, "python3-venv");
    }
    python
}

#[test]
fn pymerkle_accepts_the_evidence_and_refuses_tampering() {
    let scene = scene();
    let python = python();
    let verify = |older: &Path| {
        let mut command = Command::new(&python);
        command.arg(Path::new(PEERS).join("verify.py")).arg(scene.log()).arg(&scene.evidence).arg(older);
        let output = run(&mut command, "python3-venv");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(verify(&scene.older), (true, "5 events verified\n".to_owned()));
    let refuses = |what: &str| assert!(!verify(&scene.older).0, "{what}");
    touched(&scene.log().join("tile/entries/001"), 5_000, || refuses("an entry"));
    let text = std::fs::read_to_string(&scene.evidence).unwrap();
    for part in ["\\\"held\\\":false", "index 70", "c2sp.org/tlog-proof"] {
        let at = text.find(part).unwrap() + part.len() - 1;
        touched(&scene.evidence, at, || refuses(part));
    }
    let hash = text.find("index 70").unwrap() + 20;
    touched(&scene.evidence, hash, || refuses("a hash of a proof"));
    touched(&scene.older, 40, || refuses("another past"));
    assert!(verify(&scene.older).0, "untouched again");
}
