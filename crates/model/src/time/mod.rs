//! Calendars, lines of cron and zones, over the points in time and spans of [`wire::time`]. Nothing here reads a clock.

mod calendar;
mod cron;
mod zone;

pub use calendar::Calendar;
pub use cron::Cron;
pub use wire::time::{Millis, Time, TimeError};
pub use zone::Zone;
