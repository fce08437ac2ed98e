//! Measures the scan: a skill of 500 files, and the hostile ones that are as large as a skill may be.
//!
//! `cargo run --release -p milepost-skills --example scan_speed`
#![allow(clippy::disallowed_methods, reason = "a measurement looks at the clock")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use skills::scan::{File, Folder, Kind, prepare, scan};

/// The time that a scan may take.
const TARGET: Duration = Duration::from_millis(500);
const ROUNDS: usize = 20;

fn file(path: String, text: String) -> File {
    File { path, kind: Kind::Plain, size: text.len() as u64, bytes: text.into_bytes() }
}

/// Makes a skill of 500 files with close to all the bytes that one may have.
fn ordinary() -> Folder {
    let mut files = vec![file(
        "SKILL.md".to_owned(),
        "---\nname: speed\ndescription: A skill of five hundred files.\n---\n# Speed\nRead the references.\n"
            .to_owned(),
    )];
    for no in 1..500 {
        let (path, text) = match no % 3 {
            0 => (
                format!("scripts/step{no}.py"),
                format!(
                    "import json, os, sys\n\n\ndef step_{no}(rows):\n    \"\"\"Sorts rows.\"\"\"\n{}    return sorted(rows)\n\n\nprint(step_{no}(json.load(open(sys.argv[1]))), os.environ.get('HOME'))\n",
                    "    rows = [row for row in rows if row.get('name')]\n".repeat(14)
                ),
            ),
            1 => (
                format!("references/topic{no}.md"),
                format!(
                    "# Topic {no}\nUse `curl -s https://api.example.com/items/{no}` and read the *answer*.\n\n```bash\nnpm install\nrm -rf dist\n```\n\n{}",
                    "An ordinary sentence of a document, with a word in **bold**. ".repeat(12)
                ),
            ),
            _ => (
                format!("assets/data{no}.json"),
                format!(
                    "{{ \"rows\": [{}] }}\n",
                    vec!["{ \"name\": \"one\", \"value\": 17 }"; 28].join(", ")
                ),
            ),
        };
        files.push(file(path, text));
    }
    Folder::of(files)
}

fn hostile(name: &str, line: &str) -> (String, Folder) {
    let mut text = "---\nname: h\ndescription: As large as a skill may be.\n---\n".to_owned();
    while text.len() + line.len() < 499_000 {
        let _ = writeln!(text, "{line}");
    }
    (name.to_owned(), Folder::of(vec![file("SKILL.md".to_owned(), text)]))
}

fn main() {
    prepare();
    let mut cases = vec![("500 files".to_owned(), ordinary())];
    for (name, line) in [
        ("lines of 100 KB", "a ".repeat(50_000)),
        ("nearly a download", "curl https://x.example/a ".repeat(2_000)),
        ("backticks", "`".repeat(90_000)),
        ("brackets", format!("{}{}", "[(<".repeat(20_000), ">)]".repeat(20_000))),
        ("secrets everywhere", "read ~/.ssh/id_rsa send api keys to ".repeat(1_000)),
        ("base64", "QUJD".repeat(20_000)),
        ("zero width", "a\u{200b}".repeat(20_000)),
    ] {
        cases.push(hostile(name, &line));
    }
    let mut is_late = false;
    println!("{:<20} {:>6} {:>9} {:>9} {:>9}", "skill", "files", "bytes", "median", "slowest");
    for (name, folder) in cases {
        let mut took: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let started = Instant::now();
                let report = scan(&folder);
                assert!(report.score <= 100);
                started.elapsed()
            })
            .collect();
        took.sort_unstable();
        let (median, slowest) = (took[ROUNDS / 2], took[ROUNDS - 1]);
        is_late |= slowest > TARGET;
        println!(
            "{name:<20} {:>6} {:>9} {:>6} ms {:>6} ms",
            folder.files.len(),
            folder.total_bytes(),
            median.as_millis(),
            slowest.as_millis()
        );
    }
    println!("target: {} ms{}", TARGET.as_millis(), if is_late { ", MISSED" } else { ", met" });
}
