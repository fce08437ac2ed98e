//! The memory and the time that versions of a large pipeline take: `cargo run --release -p milepost-model --example versions`.
//!
//! Loads many versions of a machine of 185 KB, as a server has them that has seen many deployments, and prints what the
//! first costs and what each further one does: one that differs in a word, and one that has nothing in common with the
//! others. Linux only, because it reads `/proc/self/status`.

use std::time::Instant;

use model::pipeline::{Source, load};

/// The allocator that the server has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Versions of each kind.
const VERSIONS: u32 = 50;
/// Steps; each has a state for its review.
const STEPS: usize = 97;
/// Outcomes of a step besides its success.
const OUTCOMES: usize = 7;

fn main() {
    println!("a definition of {} KB with {} states", toml(1, "").len() / 1024, 2 * STEPS + 4);
    let before = resident_kb();
    let mut versions = vec![load_one(1, "")];
    println!("the first version: {} KB", resident_kb() - before);
    for (what, salt) in [("one that differs in its number", false), ("one of texts of its own", true)] {
        let before = resident_kb();
        let begun = now();
        for version in 2..VERSIONS + 2 {
            let salt = if salt { format!("x{version}") } else { String::new() };
            versions.push(load_one(version, &salt));
        }
        let taken = begun.elapsed() / VERSIONS;
        let grown = resident_kb().saturating_sub(before);
        println!("{what}: {} KB, loaded in {taken:.1?}", grown / u64::from(VERSIONS));
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement needs a real clock")]
fn now() -> Instant {
    Instant::now()
}

fn load_one(version: u32, salt: &str) -> model::Pipeline {
    let mut source = Source::new("large.toml", toml(version, salt));
    source.files.insert("schemas/large.json".to_owned(), SCHEMA.to_owned());
    source
        .files
        .insert("schemas/output.json".to_owned(), SCHEMA.replace("Reference", &format!("Output{salt}")));
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

/// A chain of states, each with guards, metadata, retries, actions and an error edge of its own.
fn toml(version: u32, salt: &str) -> String {
    let mut text = format!(
        r#"name = "large"
version = {version}
title = "A large machine"
payload = "schemas/large.json"
key = "payload.reference{salt}"
labels = {{ owner = "payload.owner", kind = "payload.kind" }}
start = "STEP_0"
[defaults]
actions.cancel = {{ to = "CANCELLED", role = "admin", reason = true }}
"#
    );
    for state in 0..STEPS {
        let next = if state + 1 == STEPS { "DONE".to_owned() } else { format!("STEP_{}", state + 1) };
        let outcome = |no: usize| {
            format!(
                "on.verdict-{no} = [{{ to = \"FAILED\", when = \"payload.amount < {state}{no}.0 && output.verdict{salt} != \
                 'lost-{state}-{no}'\", metadata = {{ why = \"'verdict-{state}-{no}'\" }} }}, {{ to = \"{next}\" }}]\n"
            )
        };
        let outcomes: String = (0..OUTCOMES).map(outcome).collect();
        text += &format!(
            r#"
[states.STEP_{state}]
title = "Step {state}"
task = "large.step-{state}"
lease = "2m"
timeout = "1h"
output = "schemas/output.json"
retry = {{ times = 5, delay = "10s", backoff = "exponential", max = "10m", jitter = 0.2 }}
ttl = {{ after = "7d", to = "EXPIRED" }}
on.done = [
  {{ to = "DONE", when = "payload.amount > {state}.0 && output.verdict{salt} == 'final-{state}' && payload.kind in ['a', 'b', 'c']", trigger = "finished-early" }},
  {{ to = "{next}", metadata = {{ step = "'step-{state}'", verdict = "output.verdict{salt}", amount = "payload.amount + {state}.0" }} }},
]
{outcomes}on.error = [
  {{ to = "FAILED", when = "error.code == 'fatal-{state}' || payload.reference.startsWith('{salt}test-{state}')" }},
  {{ to = "STEP_{state}_REVIEW" }},
]
[states.STEP_{state}_REVIEW]
review = "reviewer"
actions.approve = {{ to = "{next}", role = "reviewer" }}
actions.reject = {{ to = "FAILED", role = "reviewer", reason = true }}
"#
        );
    }
    text + "\n[states.DONE]\nfinal = \"success\"\n[states.FAILED]\nfinal = \"failure\"\n[states.EXPIRED]\nfinal = \
            \"failure\"\n[states.CANCELLED]\nfinal = \"cancelled\"\n"
}

const SCHEMA: &str = r#"{"type":"object","required":["reference"],"title":"Reference","properties":{
"reference":{"type":"string","pattern":"^[a-z0-9-]{1,64}$"},"owner":{"type":"string","maxLength":200},
"kind":{"enum":["a","b","c"]},"amount":{"type":"number","minimum":0},"verdict":{"type":"string"},
"mail":{"type":"string","format":"email"},"link":{"type":"string","format":"uri"}}}"#;

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}
