use std::str::FromStr;

use super::{Time, TimeError, Zone};

/// A line of cron in a zone: five fields, or six with seconds first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    line: croner::Cron,
    zone: Zone,
}

impl Cron {
    pub fn new(line: &str, zone: Zone) -> Result<Self, TimeError> {
        let fields = line.split_ascii_whitespace().count();
        if !(5..=6).contains(&fields) || line.len() > 200 {
            return Err(TimeError("a cron line has five fields, or six with seconds first".to_owned()));
        }
        let line =
            croner::Cron::from_str(line).map_err(|error| TimeError(format!("no cron line: {error}")))?;
        let cron = Cron { line, zone };
        match cron.after(Time::EPOCH) {
            Some(_) => Ok(cron),
            None => Err(TimeError("this cron line names a day that never comes".to_owned())),
        }
    }

    /// The first time it names after this one.
    #[must_use]
    pub fn after(&self, time: Time) -> Option<Time> {
        let next = self.line.find_next_occurrence(&self.zone.show(time), false).ok()?;
        Some(Time::from_millis(next.timestamp().as_millisecond()))
    }

    /// The last time it names that is not after this one.
    #[must_use]
    pub fn until(&self, time: Time) -> Option<Time> {
        let last = self.line.find_previous_occurrence(&self.zone.show(time), true).ok()?;
        Some(Time::from_millis(last.timestamp().as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().expect(text)
    }

    fn cron(line: &str, zone: &str) -> Cron {
        Cron::new(line, Zone::named(zone).unwrap()).unwrap()
    }

    #[test]
    fn a_line_names_times_of_its_zone() {
        let daily = cron("30 9 * * *", "America/New_York");
        assert_eq!(daily.after(time("2026-07-01T00:00:00Z")), Some(time("2026-07-01T13:30:00Z")));
        assert_eq!(daily.after(time("2026-12-01T00:00:00Z")), Some(time("2026-12-01T14:30:00Z")));
        assert_eq!(daily.after(time("2026-07-01T13:30:00Z")), Some(time("2026-07-02T13:30:00Z")));
    }

    #[test]
    fn the_last_time_may_be_now() {
        let hourly = cron("0 * * * *", "UTC");
        assert_eq!(hourly.until(time("2026-07-01T13:30:00Z")), Some(time("2026-07-01T13:00:00Z")));
        assert_eq!(hourly.until(time("2026-07-01T13:00:00Z")), Some(time("2026-07-01T13:00:00Z")));
        assert_eq!(hourly.until(time("2026-07-01T13:00:00.500Z")), Some(time("2026-07-01T13:00:00Z")));
    }

    #[test]
    fn a_line_without_any_time_is_refused() {
        for line in ["", "* * * *", "61 * * * *", "0 0 30 2 *", "a b c d e", "@daily"] {
            assert!(Cron::new(line, Zone::default()).is_err(), "{line:?} was taken");
        }
    }
}
