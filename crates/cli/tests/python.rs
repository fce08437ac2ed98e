//! The Python client: its own tests, and the same against the real server.

use std::process::Command;

use crate::common::Server;
use crate::common::python::{assert_ran, python_with};

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python");
const HTTPX: &str = "httpx==0.28.1";

/// Runs the tests of a folder, and makes sure there were some.
fn run_tests(folder: &str, server: Option<&Server>) {
    let mut command = Command::new(python_with(&[HTTPX]));
    command.args(["-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", folder]);
    command.current_dir(CLIENT).env("PYTHONPATH", "src").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("MILEPOST_SERVER").env_remove("MILEPOST_TOKEN");
    if let Some(server) = server {
        command.env("MILEPOST_SERVER", &server.url);
    }
    let said = assert_ran(&mut command);
    let ran = said.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u32>().ok());
    assert!(ran.is_some_and(|ran| ran > 0), "no test ran: {said}");
    assert!(!said.contains("skipped"), "a test was skipped: {said}");
}

#[test]
fn the_python_client_passes_the_cases_of_every_client() {
    run_tests("tests", None);
}

#[test]
fn the_python_client_and_its_workers_work_with_a_real_server() {
    let server = Server::start(&[]);
    run_tests("end_to_end", Some(&server));
}

/// Pyright, with the node it needs: the package of that name fetches both when it is first run.
const PYRIGHT: &str = "basedpyright==1.40.2";

/// A reader copies one block, so each must stand by itself.
#[test]
fn pyright_accepts_the_client_and_every_example_of_its_page() {
    let page = std::fs::read_to_string(format!("{CLIENT}/README.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 3, "the page has {} examples", blocks.len());
    let folder = tempfile::TempDir::new().unwrap();
    for (number, block) in blocks.iter().enumerate() {
        std::fs::write(folder.path().join(format!("example_{number}.py")), block).unwrap();
    }
    let python = python_with(&[HTTPX, PYRIGHT]);
    let check = |config: serde_json::Value| {
        let file = folder.path().join("pyrightconfig.json");
        std::fs::write(&file, config.to_string()).unwrap();
        let mut pyright = Command::new(&python);
        pyright.args(["-m", "basedpyright", "--pythonpath"]).arg(&python).arg("--project").arg(&file);
        assert_ran(&mut pyright);
    };
    let source = std::fs::canonicalize(format!("{CLIENT}/src")).unwrap();
    let mode = |mode: &str, what: &std::path::Path| {
        serde_json::json!({
            "typeCheckingMode": mode, "pythonVersion": "3.10", "extraPaths": [source], "include": [what],
        })
    };
    check(mode("strict", folder.path()));
    check(mode("standard", &source));
}
