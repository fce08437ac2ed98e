//! The look of pages to one reader: light or dark, and the zone that times are shown in.

use http::HeaderMap;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use wire::{Millis, Time};

use crate::parts::When;
use crate::session::cookie;

/// The cookie's name.
const LOOK: &str = "milepost_look";
const YEAR_S: u32 = 31_536_000;

/// The settings of one reader, which their browser keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// `light` or `dark`; empty is as the machine has it.
    pub(crate) theme: &'static str,
    /// The name of a zone; empty is UTC.
    pub(crate) zone: String,
}

impl Look {
    pub(crate) fn of(headers: &HeaderMap) -> Look {
        let (theme, zone) = cookie(headers, LOOK).and_then(|text| text.split_once(':')).unwrap_or_default();
        Look::new(theme, zone)
    }

    /// Takes settings as far as they make sense.
    pub(crate) fn new(theme: &str, zone: &str) -> Look {
        let theme = ["light", "dark"].into_iter().find(|known| *known == theme).unwrap_or_default();
        let known = TimeZoneDatabase::bundled().get(zone).is_ok();
        Look { theme, zone: if known && zone != "UTC" { zone.to_owned() } else { String::new() } }
    }

    pub(crate) fn keep(&self) -> String {
        format!(
            "{LOOK}={}:{}; Path=/console; Max-Age={YEAR_S}; HttpOnly; SameSite=Strict",
            self.theme, self.zone
        )
    }

    pub(crate) fn zone(&self) -> TimeZone {
        TimeZoneDatabase::bundled().get(&self.zone).unwrap_or(TimeZone::UTC)
    }

    pub(crate) fn zone_name(&self) -> &str {
        if self.zone.is_empty() { "UTC" } else { &self.zone }
    }
}

/// Returns the names of all zones there are.
pub(crate) fn zones() -> Vec<String> {
    TimeZoneDatabase::bundled().available().map(|zone| zone.to_string()).collect()
}

/// The moment and the zone that a page is seen from.
#[derive(Debug, Clone)]
pub(crate) struct Eye {
    pub(crate) now: Time,
    pub(crate) zone: TimeZone,
}

impl Eye {
    /// Returns a time as it is shown: how far from now, and exactly.
    pub(crate) fn when(&self, time: Time) -> When {
        When { stamp: time.to_string(), exact: self.exact(time), relative: relative(self.now, time) }
    }

    pub(crate) fn when_if(&self, time: Option<Time>) -> Option<When> {
        time.map(|time| self.when(time))
    }

    /// Returns the time of day alone, for lines that follow each other closely.
    pub(crate) fn clock(&self, time: Time) -> When {
        let relative = self.shown(time, "%H:%M:%S");
        When { stamp: time.to_string(), exact: self.exact(time), relative }
    }

    fn exact(&self, time: Time) -> String {
        self.shown(time, "%Y-%m-%d %H:%M:%S%.3f %Z")
    }

    fn shown(&self, time: Time, format: &str) -> String {
        let stamp = Timestamp::from_millisecond(time.millis()).unwrap_or_default();
        stamp.to_zoned(self.zone.clone()).strftime(format).to_string()
    }
}

fn millis(count: i64) -> Millis {
    Millis::new(u64::try_from(count).unwrap_or(0))
}

fn relative(now: Time, time: Time) -> String {
    let apart = now.millis().saturating_sub(time.millis());
    match apart {
        0..1_000 => "just now".to_owned(),
        1_000.. => format!("{} ago", span(millis(apart))),
        _ => format!("in {}", span(millis(apart.saturating_neg()))),
    }
}

/// Writes a span in its largest unit, and the next where that still matters.
pub(crate) fn span(span: Millis) -> String {
    let seconds = span.millis() / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |large: u64, unit: &str, small: u64, next: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {next}"),
    };
    match seconds {
        0 if span.millis() > 0 => format!("{} ms", span.millis()),
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min"),
        3_600..86_400 => two(hours, "h", minutes % 60, "min"),
        86_400..864_000 => two(days, "d", hours % 24, "h"),
        _ => format!("{days} d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_units_that_matter() {
        for (millis, text) in [
            (0, "0 s"),
            (12, "12 ms"),
            (59_999, "59 s"),
            (61_000, "1 min"),
            (900_000, "15 min"),
            (3_600_000, "1 h"),
            (90_000_000, "1 d 1 h"),
            (1_728_000_000, "20 d"),
        ] {
            assert_eq!(span(Millis::new(millis)), text);
        }
    }

    #[test]
    fn a_look_is_what_it_can_be() {
        let look = |text: &str| {
            Look::of(
                &[(http::header::COOKIE, format!("milepost_look={text}").parse().unwrap())]
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!(look("dark:Europe/Paris"), Look { theme: "dark", zone: "Europe/Paris".to_owned() });
        assert_eq!(look("pink:Nowhere/Land"), Look::default());
        assert_eq!(look("").zone_name(), "UTC");
        let eye = Eye { now: Time::from_millis(1_000_000), zone: look("dark:Europe/Paris").zone() };
        let when = eye.when(Time::from_millis(0));
        assert_eq!((&*when.relative, &*when.exact), ("16 min ago", "1970-01-01 01:00:00.000 CET"));
        assert_eq!(eye.when(Time::from_millis(1_061_000)).relative, "in 1 min");
    }
}
