//! The machines that are measured, and what is submitted to them.

use std::sync::atomic::{AtomicU64, Ordering};

use model::pipeline::Source;

/// A pipeline, and the tasks its workers ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) tasks: &'static [&'static str],
    /// Tasks of one submission, from its start to its end.
    pub(crate) steps: usize,
    text: &'static str,
}

pub(crate) const ONE: Machine =
    Machine { name: "bench-one", tasks: &["bench.work"], steps: 1, text: include_str!("pipelines/one.toml") };

pub(crate) const FIVE: Machine = Machine {
    name: "bench-five",
    tasks: &["bench.step1", "bench.step2", "bench.step3", "bench.step4", "bench.step5"],
    steps: 5,
    text: include_str!("pipelines/five.toml"),
};

pub(crate) const LANES: Machine = Machine {
    name: "bench-lanes",
    tasks: &[
        "bench.lane-step1",
        "bench.lane-step2",
        "bench.lane-step3",
        "bench.lane-step4",
        "bench.lane-step5",
    ],
    steps: 5,
    text: include_str!("pipelines/lanes.toml"),
};

pub(crate) const SERVICES: Machine = Machine {
    name: "bench-services",
    tasks: &["bench.services-submit", "bench.services-watch"],
    steps: 2,
    text: include_str!("pipelines/services.toml"),
};

pub(crate) const LANELESS: Machine = Machine {
    name: "bench-laneless",
    tasks: &["bench.laneless-submit", "bench.laneless-watch"],
    steps: 2,
    text: include_str!("pipelines/laneless.toml"),
};

/// The machine that people look at: nobody works on it.
pub(crate) const DESK: Machine =
    Machine { name: "bench-desk", tasks: &[], steps: 0, text: include_str!("pipelines/desk.toml") };

pub(crate) const ALL: [Machine; 6] = [ONE, FIVE, LANES, SERVICES, LANELESS, DESK];

/// Lanes that submissions are spread over, in the machine that has them.
const LANE_COUNT: u64 = 200;
/// The filling that makes a payload about 300 bytes long.
const FILLING: &str = "the quick brown fox jumps over the lazy dog, and the lazy dog looks up, yawns, and goes on \
                       sleeping; nothing that happens on this meadow has ever been of any consequence to it, and \
                       no fox, however quick, has found out what would wake it before noon";

impl Machine {
    #[must_use]
    pub(crate) fn source(&self) -> Source {
        Source::new(format!("{}.toml", self.name), self.text)
    }

    #[must_use]
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }
}

/// A payload no other has: its number, its lane, and filling.
#[must_use]
pub(crate) fn payload() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    numbered(number)
}

#[must_use]
pub(crate) fn numbered(number: u64) -> String {
    format!(r#"{{"n":{number},"lane":"lane-{}","text":"{FILLING}"}}"#, number % LANE_COUNT)
}

/// A payload for a service; those that name none have one of their own.
#[must_use]
pub(crate) fn of_service(number: u64, service: &str) -> String {
    format!(r#"{{"n":{number},"service":"{service}","text":"{FILLING}"}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_loads() {
        for machine in ALL {
            let source = machine.source();
            let loaded = model::pipeline::load(&source).map_err(|problems| problems.render(&source));
            assert_eq!(&*loaded.unwrap().name, machine.name);
        }
    }

    #[test]
    fn the_machine_with_lanes_and_the_one_without_differ_in_nothing_else() {
        let rest = |machine: Machine| {
            let lines = machine.text().lines().filter(|line| !line.starts_with(['#']));
            let lines = lines.filter(|line| !line.starts_with("lane = "));
            lines.collect::<Vec<_>>().join("\n").replace("services", "laneless")
        };
        assert_eq!(rest(SERVICES), rest(LANELESS));
        assert_eq!(SERVICES.text().matches("\nlane = ").count(), 2);
    }

    #[test]
    fn a_payload_has_about_300_bytes() {
        assert!((280..=320).contains(&payload().len()), "{}", payload().len());
    }
}
