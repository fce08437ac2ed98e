use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use super::{Time, TimeError};

/// A time zone by its name in the database that comes with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Zone(TimeZone::UTC)
    }
}

impl Zone {
    pub fn named(name: &str) -> Result<Self, TimeError> {
        let zone = TimeZoneDatabase::bundled().get(name);
        zone.map(Zone).map_err(|_| TimeError(format!("no time zone `{name}`; write one like Europe/Paris")))
    }

    /// Up to a day before the year 9999 ends: every zone must be able to show the time.
    pub(super) fn show(&self, time: Time) -> Zoned {
        let (first, last) = (Timestamp::MIN.as_second() * 1_000, Timestamp::MAX.as_second() * 1_000);
        let millis = time.millis().clamp(first, last);
        let shown = Timestamp::from_millisecond(millis).expect("brought into its range");
        shown.to_zoned(self.0.clone())
    }

    pub(super) fn read(&self, local: jiff::civil::DateTime) -> Option<Time> {
        let shown = local.to_zoned(self.0.clone()).ok()?;
        Some(Time::from_millis(shown.timestamp().as_millisecond()))
    }
}
