//! Measures what Milepost does in a second, beside what this disk, this store and a bare server do in the same run.
//!
//! Absolute figures are of one machine at one hour; the ratios are what carries over. Every acknowledged call is on disk.

mod bare;
mod home;
mod machine;
mod naive;
mod pipelines;
mod raw;
mod report;
mod run;
mod spread;
mod stopwatch;
mod workload;

pub use machine::MachineFacts;
pub use report::{Figure, Ratio, Report, Unit};
pub use run::{Plan, Workload, run};
