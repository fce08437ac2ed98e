//! Scenarios: what a pipeline does, written down as steps and expectations, and run over the real engine core with a
//! clock that only the scenario moves.

mod coverage;
mod expect;
mod fields;
mod file;
mod read_verb;
mod report;
mod stage;
mod step;
mod step_keys;
mod verbs;
mod workers;
mod world;

pub(crate) use file::{Suite, read};
pub(crate) use report::Run;

use coverage::Coverage;
use file::Scenario;
use report::{Failure, Told};
use stage::{Fault, Stage};

/// Runs every scenario of a file, each in a world of its own.
pub(crate) fn run(suite: &Suite) -> Run {
    let mut coverage = Coverage::of(&suite.pipelines[0]);
    let told = suite.scenarios.iter().map(|scenario| {
        let mut stage = Stage::new(suite);
        let failures = play(&mut stage, scenario);
        coverage.learn(&stage.events());
        Told { name: scenario.name.clone(), line: scenario.line, failures }
    });
    let scenarios = told.collect();
    Run {
        file: suite.source.file.clone(),
        pipeline: suite.pipelines[0].name.clone(),
        scenarios,
        coverage,
        complete: suite.require_full_coverage,
    }
}

fn play(stage: &mut Stage<'_>, scenario: &Scenario) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (index, step) in scenario.steps.iter().enumerate() {
        let mut note = |what: &str, expected: String, actual: String| {
            failures.push(Failure {
                step: index + 1,
                line: step.line,
                what: what.to_owned(),
                expected,
                actual,
            });
        };
        match (stage.perform(step), &step.refused) {
            (Ok(()), None) => {}
            (Ok(()), Some(code)) => note("refused", code.clone(), "not refused".to_owned()),
            (Err(Fault::Refused(refusal)), Some(code)) if refusal.code.as_str() == code => {}
            (Err(fault), refused) => {
                note(
                    "refused",
                    refused.clone().unwrap_or_else(|| "not refused".to_owned()),
                    fault.to_string(),
                );
                // What follows was meant for a submission that went another way.
                break;
            }
        }
        for wanted in &step.expectations {
            if let Some(actual) = stage.differs(wanted) {
                note(wanted.key, wanted.text(), actual);
            }
        }
    }
    failures
}
