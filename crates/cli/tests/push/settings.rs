//! The tables of queues in the settings file.

use std::path::Path;

use tempfile::TempDir;

use crate::common::run;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

fn checked(folder: &Path, text: &str) -> (i32, String) {
    let file = folder.join("milepost.toml");
    std::fs::write(&file, text).unwrap();
    let said = run(&["config", "check", file.to_str().unwrap()]);
    (said.code, said.stdout + &said.stderr)
}

#[test]
fn a_queue_is_checked_with_its_line_before_anything_is_started() {
    let folder = TempDir::new().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let weak = folder.path().join("weak");
    std::fs::write(&weak, "whsec_aGVsbG8=\n").unwrap();
    let queue = "[queue.work]\npipeline = 'jobs'\ntasks = ['jobs.do']\n";
    let consumer =
        format!("[queue.work.consumer]\nurl = 'https://a.example/x'\nsecret-file = '{}'\n", secret.display());
    let good = format!(
        "{queue}max_retries = 3\nretry-delay = ['60s', '90s']\ndead_letter_queue = 'lost'\nbody = 'job'\npurge = 'cancel'\n\
         outcomes = {{ 'jobs.do' = 'done' }}\n{consumer}max_batch_size = 10\nmax-batch-timeout = '30s'\nmax_concurrency = 2\n"
    );
    let (code, said) = checked(folder.path(), &good);
    assert_eq!(code, 0, "{said}");
    for (text, line, wanted) in [
        ("queue = 1\n".to_owned(), 1, "[queue.NAME]"),
        ("[queue.'a b']\npipeline = 'p'\ntasks = ['t']\n".to_owned(), 1, "`a b` is no name of a queue"),
        ("[queue.work]\ntasks = ['t']\n".to_owned(), 1, "pipeline"),
        (format!("{queue}taskz = 1\n"), 4, "taskz"),
        (format!("{queue}outcomes = {{ 'other' = 'x' }}\n"), 1, "none of the `tasks`"),
        (format!("{queue}retry-delay = '13h'\n"), 1, "the longest is 12h"),
        (format!("{queue}max-retries = 101\n"), 1, "at most 100"),
        (format!("{queue}dead-letter-queue = 'work'\n"), 1, "choose another name"),
        (format!("{queue}{consumer}max-batch-size = 0\n"), 1, "between 1 and 100"),
        (format!("{queue}{consumer}max-batch-timeout = '2m'\n"), 1, "between 0s and 1m"),
        (format!("{queue}{}", consumer.replace("https:", "file:")), 1, "consumer.url"),
        (format!("{queue}{}", consumer.replace("secret'", "absent'")), 1, "consumer.secret-file"),
        (format!("{queue}{}", consumer.replace("secret'", "weak'")), 1, "24 bytes"),
    ] {
        let (code, said) = checked(folder.path(), &text);
        assert_eq!(code, 1, "{text}: {said}");
        assert!(said.contains(&format!("milepost.toml:{line}:")) && said.contains(wanted), "{text}: {said}");
        assert!(!said.contains("aGVsbG8"), "{said}");
    }
}
