//! The machine, and how quickly its disk says that something is safe.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::spread::Spread;
use crate::stopwatch::{now, wait_until};

const SYNCS: u32 = 500;
const PACED_SYNCS: u32 = 100;
const BLOCK: [u8; 4096] = [7; 4096];

#[derive(Debug, Clone, Serialize)]
pub struct MachineFacts {
    pub processor: String,
    pub cores: usize,
    pub memory_bytes: u64,
    pub kernel: String,
    /// One 4 KB append and fdatasync, on the disk that is measured.
    pub sync_p50: Duration,
    pub sync_p99: Duration,
}

impl MachineFacts {
    pub(crate) fn find(folder: &Path) -> Result<MachineFacts> {
        let sync = sync_times(folder)?;
        Ok(MachineFacts {
            processor: line("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism()?.get(),
            memory_bytes: line("/proc/meminfo", "MemTotal").and_then(|text| kilobytes(&text)).unwrap_or(0),
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            sync_p50: sync.at(0.5),
            sync_p99: sync.at(0.99),
        })
    }
}

/// Syncs one right after the other.
fn sync_times(folder: &Path) -> Result<Spread> {
    measure(folder, SYNCS, |_| ())
}

/// Syncs of a disk that has little else to do.
pub(crate) fn paced_syncs(folder: &Path, pace: Duration) -> Result<Spread> {
    let begin = now();
    measure(folder, PACED_SYNCS, |number| wait_until(begin + pace * number))
}

fn measure(folder: &Path, count: u32, wait: impl Fn(u32)) -> Result<Spread> {
    let path = folder.join("sync-times");
    let mut file = File::create(&path)?;
    let mut spread = Spread::default();
    for number in 0..count {
        wait(number);
        let began = now();
        file.write_all(&BLOCK)?;
        file.sync_data()?;
        spread.add(began.elapsed());
    }
    std::fs::remove_file(path)?;
    Ok(spread)
}

/// Returns what a file of the kernel says behind a name and a colon.
fn line(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kilobytes(text: &str) -> Option<u64> {
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
