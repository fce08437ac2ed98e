use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use engine::SystemClock;
use model::Millis;
use serde_json::{Value, json};
use sim::{Failure, Kind, Options, Report};
use store::Clock as _;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table, say};
use crate::store_place::Place;

/// Run the engine in a simulated world that goes wrong, and check everything after every step
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost torture                         a hundred seeds on the memory store
  milepost torture --seed 7 --store sqlite one seed, on real files
  milepost torture --seed 7 --no-faults    the same world, in which nothing fails and nobody dies
  milepost torture --seed 5000 --for 10m   as many seeds as fit into ten minutes
  milepost torture --seeds 5 --store postgres://milepost@localhost/scratch   in schemas of its own, gone afterwards

One seed decides everything, so a seed that fails fails again.
A seed that fails does not end the run: in the end, failures are counted by their kind, which is the check that
found them, and one seed of each kind is shown with the command that does it again. Exits with 1 if any failed.")]
pub(crate) struct Torture {
    /// The first seed [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Number of seeds [default: 1 where --seed is given, else 100]
    #[arg(long, value_name = "M")]
    seeds: Option<u64>,

    /// Instead of a number of seeds: as many as can be begun in this time, for example 10m
    #[arg(long = "for", value_name = "SPAN", conflicts_with = "seeds")]
    span: Option<Millis>,

    /// Steps of trouble for each seed, before the peace in which everything has to come to rest
    #[arg(long, value_name = "S", default_value_t = 150)]
    steps: usize,

    /// memory, sqlite (in files, every commit synced) or postgres://...
    #[arg(long, default_value = "memory", value_name = "STORE")]
    store: String,

    /// Nothing fails, nobody dies and no answer is lost
    #[arg(long)]
    no_faults: bool,
}

/// The results of all seeds.
#[derive(Debug, Default)]
struct Tally {
    first: u64,
    run: u64,
    happened: Report,
    failed: u64,
    kinds: BTreeMap<String, Failures>,
}

/// The failures of one kind.
#[derive(Debug)]
struct Failures {
    first: Failure,
    seeds: Vec<u64>,
}

impl Tally {
    fn take(&mut self, outcome: Result<Report, Failure>) {
        self.run += 1;
        let failure = match outcome {
            Ok(report) => return self.happened.absorb(&report),
            Err(failure) => failure,
        };
        self.failed += 1;
        let seed = failure.options.seed;
        match self.kinds.get_mut(&failure.kind) {
            Some(known) => known.seeds.push(seed),
            None => {
                let kind = failure.kind.clone();
                self.kinds.insert(kind, Failures { first: failure, seeds: vec![seed] });
            }
        }
    }

    /// The kinds, the most frequent first.
    fn by_count(&self) -> Vec<(&String, &Failures)> {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, failures)| std::cmp::Reverse(failures.seeds.len()));
        kinds
    }
}

impl Torture {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let kind = self.kind()?;
        let clock = SystemClock::new();
        let until = self.span.map(|span| clock.now().plus(span));
        let first = self.seed.unwrap_or(1);
        let mut tally = Tally { first, ..Tally::default() };
        for seed in first.. {
            let enough = until.map_or(tally.run >= self.count(), |until| clock.now() >= until);
            if enough {
                break;
            }
            let outcome = sim::attempt(self.options(seed, kind));
            if let Err(failure) = &outcome {
                // At once: a run that is stopped has told what it found.
                say!("seed {seed} failed at step {}: {}", failure.step, failure.kind);
            }
            tally.take(outcome);
            self.progress(&tally);
        }
        match format {
            Format::Table => output::print(&self.summary(&tally, kind))?,
            Format::Json => output::print_json(&self.json(&tally, kind))?,
        }
        Ok(if tally.failed == 0 { Exit::Fine } else { Exit::Negative })
    }

    fn count(&self) -> u64 {
        self.seeds.unwrap_or(if self.seed.is_some() { 1 } else { 100 })
    }

    /// An address may have a password in it, so nothing here repeats what was given.
    fn kind(&self) -> Result<Kind, Stop> {
        match &*self.store {
            "memory" => Ok(Kind::Memory),
            "sqlite" => Ok(Kind::Sqlite),
            address if address.starts_with("postgres") => {
                Place::read(address)?;
                // It is needed until the process ends.
                Ok(Kind::Postgres(self.store.clone().leak()))
            }
            _ => Err(Stop::usage("a store to torture is `memory`, `sqlite` or `postgres://...`")),
        }
    }

    fn options(&self, seed: u64, kind: Kind) -> Options {
        Options { seed, kind, steps: self.steps, faults: !self.no_faults }
    }

    /// One line that is written over, for people who watch.
    fn progress(&self, tally: &Tally) {
        let mut stderr = std::io::stderr();
        if !stderr.is_terminal() {
            return;
        }
        let of = if self.span.is_some() { String::new() } else { format!(" of {}", self.count()) };
        let end = if self.span.is_none() && tally.run == self.count() { "\n" } else { "" };
        let happened = |kind: &str| -> u64 {
            let counts = tally.happened.counts.iter();
            counts.filter(|(name, _)| name.starts_with(kind)).map(|(_, count)| count).sum()
        };
        let (events, faults) = (happened("event/"), happened("fault/"));
        let (run, failed) = (tally.run, tally.failed);
        let _ = write!(stderr, "\r{run}{of} seeds, {failed} failed, {events} events, {faults} faults{end}");
        let _ = stderr.flush();
    }

    fn json(&self, tally: &Tally, kind: Kind) -> Value {
        let failures = tally.by_count().into_iter().map(|(kind, failures)| {
            let Failures { first, seeds } = failures;
            json!({
                "kind": kind,
                "count": seeds.len(),
                "seeds": seeds,
                "first": {
                    "seed": first.options.seed,
                    "step": first.step,
                    "message": first.message,
                    "replay": self.replay(first),
                },
            })
        });
        json!({
            "ok": tally.failed == 0,
            "store": kind.as_str(),
            "steps": self.steps,
            "first_seed": tally.first,
            "seeds": tally.run,
            "failed": tally.failed,
            "counts": tally.happened.counts,
            "failures": failures.collect::<Vec<_>>(),
        })
    }

    fn summary(&self, tally: &Tally, kind: Kind) -> String {
        let mut happened = Table::new(["HAPPENED", "TIMES"]);
        for (name, count) in &tally.happened.counts {
            happened.row([name.clone(), count.to_string()]);
        }
        let last = tally.first + tally.run.saturating_sub(1);
        let ran = format!(
            "{} seeds ({} to {last}) of {} steps on {}",
            tally.run,
            tally.first,
            self.steps,
            kind.as_str()
        );
        if tally.failed == 0 {
            return format!("{}\n{ran}: fine\n", happened.render());
        }
        let mut kinds = Table::new(["FAILED", "TIMES", "FOR INSTANCE"]);
        let mut found = String::new();
        for (kind, failures) in tally.by_count() {
            let Failures { first, seeds } = failures;
            let some: Vec<_> = seeds.iter().take(SEEDS_SHOWN).map(u64::to_string).collect();
            kinds.row([kind.clone(), seeds.len().to_string(), some.join(" ")]);
            found.push_str(&format!("{}\nagain: {}\n\n", first.finding(), self.replay(first)));
        }
        let (happened, kinds) = (happened.render(), kinds.render());
        format!("{happened}\n{found}{kinds}\n{ran}: {} failed\n", tally.failed)
    }

    /// The command that does it again.
    fn replay(&self, failure: &Failure) -> String {
        let faults = if self.no_faults { " --no-faults" } else { "" };
        let Options { seed, kind, steps, .. } = failure.options;
        let store = if matches!(kind, Kind::Postgres(_)) { "postgres://..." } else { kind.as_str() };
        format!("milepost torture --seed {seed} --seeds 1 --steps {steps} --store {store}{faults}")
    }
}

/// The seeds that are named for each kind; `--output json` has all.
const SEEDS_SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        torture: Torture,
    }

    fn parsed(line: &str) -> Torture {
        Line::try_parse_from(line.split(' ')).expect("the line is well formed").torture
    }

    fn failed(torture: &Torture, seed: u64, kind: &str) -> Failure {
        let (options, message) = (torture.options(seed, Kind::Sqlite), format!("two holders of {seed}"));
        Failure { options, step: 33, kind: kind.to_owned(), message }
    }

    #[test]
    fn failures_are_counted_by_kind_and_none_ends_the_run() {
        let torture = parsed("torture --seed 1 --seeds 9");
        let mut tally = Tally { first: 1, ..Tally::default() };
        for seed in 1..=9 {
            tally.take(match seed {
                2 | 3 | 8 => Err(failed(&torture, seed, "… counts … crashes")),
                5 => Err(failed(&torture, seed, "… is gone")),
                _ => Ok(Report::default()),
            });
        }
        let said = torture.summary(&tally, Kind::Memory);
        let lines: Vec<String> =
            said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let at = |line: &str| {
            lines.iter().position(|found| found == line).unwrap_or_else(|| panic!("{line}: {said}"))
        };
        assert!(at("… counts … crashes 3 2 3 8") < at("… is gone 1 5"), "the most frequent first: {said}");
        at("9 seeds (1 to 9) of 150 steps on memory: 4 failed");
        assert!(
            said.contains("two holders of 2") && !said.contains("two holders of 3"),
            "one of each: {said}"
        );
        let json = torture.json(&tally, Kind::Memory);
        assert_eq!((&json["failed"], &json["ok"]), (&json!(4), &json!(false)));
        assert_eq!(json["failures"][0]["seeds"], json!([2, 3, 8]));
    }

    #[test]
    fn the_command_that_replays_a_seed_runs_that_very_seed() {
        let torture = parsed("torture --seed 5 --seeds 9 --steps 70 --store sqlite --no-faults");
        let mut tally = Tally { first: 5, ..Tally::default() };
        let failure = failed(&torture, 8, "… hold … lane");
        tally.take(Err(failure.clone()));
        let said = torture.summary(&tally, Kind::Sqlite);
        assert!(said.contains("seed 8 on sqlite failed at step 33: two holders of 8"), "{said}");
        let line = said.lines().find_map(|line| line.strip_prefix("again: milepost ")).expect("a command");
        let again = parsed(line);
        assert_eq!((again.seed, again.count()), (Some(8), 1));
        let (first, second) = (failure.options, again.options(8, again.kind().expect("a store")));
        assert_eq!((first.steps, first.kind, first.faults), (second.steps, second.kind, second.faults));
    }

    #[test]
    fn a_seed_that_is_named_is_run_alone() {
        assert_eq!((parsed("torture").count(), parsed("torture --seed 1").count()), (100, 1));
    }
}
