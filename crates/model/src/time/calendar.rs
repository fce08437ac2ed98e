use std::collections::BTreeSet;

use jiff::civil::{Date, Time as Clock, Weekday};

use super::{Time, Zone};

/// The days that count as business days: all but Saturdays, Sundays and holidays, as a zone has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calendar {
    pub zone: Zone,
    pub holidays: BTreeSet<Date>,
}

impl Calendar {
    /// The same time of day so many business days later. One that begins on a day off counts from the start of the
    /// next business day.
    #[must_use]
    pub fn after(&self, start: Time, days: u32) -> Time {
        let shown = self.zone.show(start);
        let begins = if self.is_business(shown.date()) {
            Some((shown.date(), shown.time()))
        } else {
            self.next(shown.date()).map(|day| (day, Clock::midnight()))
        };
        let ends = begins.and_then(|(mut day, time)| {
            for _ in 0..days {
                day = self.next(day)?;
            }
            self.zone.read(day.to_datetime(time))
        });
        ends.unwrap_or(Time::MAX)
    }

    fn next(&self, mut day: Date) -> Option<Date> {
        loop {
            day = day.tomorrow().ok()?;
            if self.is_business(day) {
                return Some(day);
            }
        }
    }

    fn is_business(&self, day: Date) -> bool {
        !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) && !self.holidays.contains(&day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().expect(text)
    }

    #[test]
    fn weekends_do_not_count() {
        let calendar = Calendar::default();
        // 2026-11-13 is a Friday.
        assert_eq!(calendar.after(time("2026-11-13T15:00:00Z"), 1), time("2026-11-16T15:00:00Z"));
        assert_eq!(calendar.after(time("2026-11-12T15:00:00Z"), 5), time("2026-11-19T15:00:00Z"));
    }

    #[test]
    fn what_begins_on_a_day_off_counts_from_the_next_business_day() {
        let calendar = Calendar::default();
        assert_eq!(calendar.after(time("2026-11-14T15:00:00Z"), 1), time("2026-11-17T00:00:00Z"));
    }

    #[test]
    fn holidays_are_days_of_the_zone() {
        let holidays = BTreeSet::from(["2026-11-17".parse().unwrap()]);
        let calendar = Calendar { zone: Zone::named("Asia/Tokyo").unwrap(), holidays };
        // Tuesday the 17th in Tokyo begins at 15:00 UTC on Monday.
        assert_eq!(calendar.after(time("2026-11-16T16:00:00Z"), 1), time("2026-11-18T15:00:00Z"));
        assert_eq!(calendar.after(time("2026-11-16T01:00:00Z"), 1), time("2026-11-18T01:00:00Z"));
    }

    #[test]
    fn a_clock_change_keeps_the_time_of_day() {
        let calendar = Calendar { zone: Zone::named("Europe/Paris").unwrap(), ..Calendar::default() };
        // Friday 10:00 summer time to Monday 10:00 winter time.
        assert_eq!(calendar.after(time("2026-10-23T08:00:00Z"), 1), time("2026-10-26T09:00:00Z"));
    }

    #[test]
    fn the_end_of_time_is_as_far_as_it_goes() {
        assert_eq!(Calendar::default().after(Time::MAX, 10), Time::MAX);
    }
}
