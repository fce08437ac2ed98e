//! A run: one seed, one store, so many steps of trouble, and then peace until nothing moves any more.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::core::DUE_MAX;

use crate::cast::cast;
use crate::chance::Chance;
use crate::check::Checked;
use crate::faults::SERVERS;
use crate::finding::{Finding, finding};
use crate::report::Report;
use crate::rest;
use crate::stores::Kind;
use crate::world::World;

/// The options of a run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub seed: u64,
    pub kind: Kind,
    pub steps: usize,
    /// Set if stores fail, processes die and answers get lost.
    pub faults: bool,
}

/// A run that found something, and how to see it again.
#[derive(Debug, Clone)]
pub struct Failure {
    pub options: Options,
    pub step: usize,
    /// The name of the check that failed, the same for every seed that fails it.
    pub kind: String,
    pub message: String,
}

impl Failure {
    /// Tells what was found, where.
    #[must_use]
    pub fn finding(&self) -> String {
        let Options { seed, kind, .. } = self.options;
        format!("seed {seed} on {} failed at step {}: {}", kind.as_str(), self.step, self.message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { seed, kind, steps, faults } = self.options;
        let store = kind.as_str();
        writeln!(f, "{}", self.finding())?;
        write!(
            f,
            "SIM_SEED={seed} SIM_STORE={store} SIM_STEPS={steps} SIM_FAULTS={faults} \
             cargo test -p milepost-sim --test seeds -- --exact one_seed --nocapture"
        )
    }
}

/// Runs a seed with everything that can go wrong.
///
/// # Panics
/// Panics if an invariant does not hold, with the failure and the command that replays it.
#[must_use]
pub fn run(seed: u64, kind: Kind, steps: usize) -> Report {
    match attempt(Options { seed, kind, steps, faults: true }) {
        Ok(report) => report,
        Err(failure) => panic!("{failure}"),
    }
}

/// Runs a seed and says what it found.
///
/// # Errors
/// Fails if an invariant does not hold or something panics.
pub fn attempt(options: Options) -> Result<Report, Failure> {
    let mut step = 0;
    let run = catch_unwind(AssertUnwindSafe(|| play(options, &mut step)));
    let found = match run {
        Ok(Ok(report)) => return Ok(report),
        Ok(Err(found)) => found,
        Err(panic) => finding!("panicked: {}", words(&*panic)),
    };
    let (kind, message) = found.into_parts();
    Err(Failure { options, step, kind, message: message.chars().take(MESSAGE_MAX).collect() })
}

/// A row or two are worth reading; a whole pipeline is not.
const MESSAGE_MAX: usize = 4_000;

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}

/// The weather of a run: what kind of day it has.
#[derive(Debug)]
struct Weather {
    faults_per_mille: u64,
    restarts_per_mille: u64,
    outages_per_mille: u64,
    loss: u64,
    /// The number of steps in a hundred that let hours or days pass.
    leaps: u64,
    crowd: usize,
}

impl Weather {
    fn of(chance: &mut Chance, faults: bool) -> Self {
        let worse = chance.below(4);
        let weather = Weather {
            faults_per_mille: [10, 40, 90, 180][usize::try_from(worse).unwrap_or(0)],
            restarts_per_mille: 4 * (worse + 1),
            outages_per_mille: 5 * (worse + 1),
            loss: 2 * worse,
            leaps: *chance.pick(&[1, 2, 6]),
            crowd: *chance.pick(&[3, 6, 12]),
        };
        if faults {
            return weather;
        }
        Weather { faults_per_mille: 0, restarts_per_mille: 0, outages_per_mille: 0, loss: 0, ..weather }
    }
}

const SWEEP_EVERY: usize = 25;

fn play(options: Options, step: &mut usize) -> Result<Report, Finding> {
    let mut world = World::new(options.seed, options.kind, cast())?;
    let weather = Weather::of(&mut world.chance, options.faults);
    for pipeline in crate::pipelines::first() {
        world.commit(&[engine::core::Ask::apply(pipeline).into()], 0)?;
    }
    world.replace(1)?;
    world.loss = weather.loss;
    world.trouble(|trouble| trouble.per_mille = weather.faults_per_mille);
    for now in 1..=options.steps {
        *step = now;
        turn(&mut world, &weather)?;
        if now % SWEEP_EVERY == 0 {
            world.sweep()?;
        }
    }
    world.trouble(|trouble| {
        trouble.per_mille = 0;
        trouble.outage = false;
    });
    world.loss = 0;
    rest::until_nothing_moves(&mut world)?;
    world.sweep()?;
    world.verify_log()?;
    Ok(world.report)
}

fn turn(world: &mut World, weather: &Weather) -> Checked {
    pass_time(world, weather);
    let outage = world.chance.per_mille(weather.outages_per_mille);
    let over = world.chance.percent(30);
    if outage {
        world.report.count("fault/outage");
    }
    world.trouble(|trouble| trouble.outage = outage || trouble.outage && !over);
    if outage && world.chance.percent(30) {
        // Longer than every lease.
        let millis = 120_000 + world.chance.below(7_200_000);
        world.clock.advance(i64::try_from(millis).unwrap_or(0));
        world.report.count("fault/long-outage");
    }
    if world.chance.per_mille(weather.restarts_per_mille) {
        world.restart()?;
        pass_time(world, weather);
    }
    if world.chance.per_mille(weather.restarts_per_mille) {
        let server = world.chance.index(SERVERS);
        world.replace(server)?;
        world.report.count("crash/one-server");
    }
    let server = world.chance.index(SERVERS);
    world.turn_to(server);
    let wanted = world.chance.index(weather.crowd + 1);
    let asked = world.gather(wanted);
    let due = if world.chance.percent(90) { DUE_MAX } else { world.chance.index(4) };
    world.step(&asked, due)
}

/// Mostly moments, sometimes long enough for every lease to be over.
fn pass_time(world: &mut World, weather: &Weather) {
    let chance = &mut world.chance;
    let leap = chance.percent(weather.leaps);
    let farthest = if chance.percent(30) { 5 * 24 * 3_600_000 } else { 3 * 3_600_000 };
    let millis = match chance.below(100) {
        _ if leap => chance.below(farthest),
        0..40 => 0,
        40..75 => chance.below(1_500),
        75..95 => chance.below(12_000),
        _ => chance.below(180_000),
    };
    world.clock.advance(i64::try_from(millis).unwrap_or(0));
}
