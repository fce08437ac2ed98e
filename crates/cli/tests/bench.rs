//! `milepost bench` measures what it says it does. What comes out is the machine's business, and no test's.

use crate::common::milepost;
use serde_json::Value;

fn figures(more: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    let mut command = milepost(&["bench", "--quick", "--backlog", "5000", "--folder"]);
    command.arg(folder.path());
    let output = command.arg("--json").arg(&file).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "beside the figures nothing is left behind");
    report["figures"].as_array().unwrap().clone()
}

#[test]
fn every_workload_gives_a_figure_in_process_and_over_http() {
    let figures = figures(&[]);
    let has = |workload: &str, home: &str| {
        figures.iter().any(|figure| figure["workload"] == workload && figure["home"] == home)
    };
    for workload in ["W1", "W2", "W3", "W4", "W5", "W9"] {
        assert!(has(workload, "in process") && has(workload, "HTTP"), "{workload}");
    }
    for workload in ["W6", "W7", "W8", "mem"] {
        assert!(has(workload, "HTTP"), "{workload}");
    }
    assert!(figures.iter().all(|figure| figure["value"].as_f64().unwrap() > 0.0));
}

#[test]
fn only_what_is_asked_for_is_measured() {
    let figures = figures(&["--only", "W3"]);
    let others = figures.iter().filter(|figure| figure["workload"] != "W3" && figure["workload"] != "mem");
    assert_eq!(others.count(), 0);
}

#[test]
fn postgres_is_measured_beside_a_table_with_a_status_column() {
    let url = std::env::var("MILEPOST_TEST_POSTGRES").expect("run this through `cargo xtask test`");
    let figures = figures(&["--only", "W1,W3", "--postgres", &url]);
    for home in ["naive table", "in process, PG", "HTTP, PG", "HTTP, PG, 2 servers"] {
        assert!(figures.iter().any(|figure| figure["home"] == home), "{home}");
    }
}
