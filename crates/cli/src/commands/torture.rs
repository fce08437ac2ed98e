use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use serde_json::json;
use sim::{Failure, Kind, Options, Report};

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table};
use crate::place::Place;

/// Run the engine in a simulated world that goes wrong, and check everything after every step
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost torture                         a hundred seeds on the memory store
  milepost torture --seed 7 --store sqlite one seed, on real files
  milepost torture --seed 7 --no-faults    the same world, in which nothing fails and nobody dies
  milepost torture --seeds 5 --store postgres://milepost@localhost/scratch   in schemas of its own, gone afterwards

One seed decides everything, so a seed that fails fails again.
Exits with 1 if one fails, and says how to see it again.")]
pub(crate) struct Torture {
    /// The first seed [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How many seeds [default: 1 where --seed is given, else 100]
    #[arg(long, value_name = "M")]
    seeds: Option<u64>,

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

impl Torture {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let kind = self.kind()?;
        let mut total = Report::default();
        let mut failure = None;
        let mut run = 0;
        for seed in (self.seed.unwrap_or(1)..).take(usize::try_from(self.count())?) {
            match sim::attempt(self.options(seed, kind)) {
                Ok(report) => total.absorb(&report),
                Err(found) => failure = Some(found),
            }
            run += 1;
            self.progress(run, &total);
            if failure.is_some() {
                break;
            }
        }
        match format {
            Format::Table => output::print(&self.summary(run, &total, failure.as_ref(), kind))?,
            Format::Json => output::print_json(&json!({
                "ok": failure.is_none(),
                "store": kind.as_str(),
                "steps": self.steps,
                "seeds": run,
                "counts": total.counts,
                "failure": failure.as_ref().map(|failure| json!({
                    "seed": failure.options.seed,
                    "step": failure.step,
                    "message": failure.message,
                    "replay": self.replay(failure),
                })),
            }))?,
        }
        Ok(if failure.is_none() { Exit::Fine } else { Exit::Negative })
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
    fn progress(&self, run: u64, total: &Report) {
        let mut stderr = std::io::stderr();
        if !stderr.is_terminal() {
            return;
        }
        let end = if run == self.count() { "\n" } else { "" };
        let faults: u64 = named(total, "fault/").map(|(_, count)| count).sum();
        let events: u64 = named(total, "event/").map(|(_, count)| count).sum();
        let count = self.count();
        let _ = write!(stderr, "\r{run} of {count} seeds, {events} events, {faults} faults{end}");
        let _ = stderr.flush();
    }

    fn summary(&self, run: u64, total: &Report, failure: Option<&Failure>, kind: Kind) -> String {
        let mut table = Table::new(["HAPPENED", "TIMES"]);
        for (name, count) in &total.counts {
            table.row([name.clone(), count.to_string()]);
        }
        let end = match failure {
            None => format!("{run} seeds of {} steps on {}: fine\n", self.steps, kind.as_str()),
            Some(failure) => format!("{}\nagain: {}\n", failure.finding(), self.replay(failure)),
        };
        format!("{}\n{end}", table.render())
    }

    /// The command that does it again.
    fn replay(&self, failure: &Failure) -> String {
        let faults = if self.no_faults { " --no-faults" } else { "" };
        let Options { seed, kind, steps, .. } = failure.options;
        let store = if matches!(kind, Kind::Postgres(_)) { "postgres://..." } else { kind.as_str() };
        format!("milepost torture --seed {seed} --seeds 1 --steps {steps} --store {store}{faults}")
    }
}

fn named<'a>(report: &'a Report, kind: &'a str) -> impl Iterator<Item = (&'a String, u64)> {
    report.counts.iter().filter(move |(name, _)| name.starts_with(kind)).map(|(name, count)| (name, *count))
}

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

    #[test]
    fn the_command_that_replays_a_seed_runs_that_very_seed() {
        let torture = parsed("torture --seed 5 --seeds 9 --steps 70 --store sqlite --no-faults");
        let failure = Failure {
            options: torture.options(8, Kind::Sqlite),
            step: 33,
            message: "two holders".to_owned(),
        };
        let said = torture.summary(4, &Report::default(), Some(&failure), Kind::Sqlite);
        assert!(said.contains("seed 8 on sqlite failed at step 33: two holders"), "{said}");
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
