//! This process as the system sees it, under the names every process has them. Elsewhere than on Linux: nothing.

use std::fs;

use prometheus_client::registry::Unit;

use super::scrape::{Kind, Sheet, Value};

/// The unit of times in /proc: a hundredth of a second, on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

pub(super) fn tell(sheet: &mut Sheet) {
    if let Some(seconds) = cpu_seconds() {
        sheet
            .seconds("process_cpu", "Time this process has spent on processors", Kind::Counter)
            .add(Vec::new(), Value::Amount(seconds));
    }
    let mut bytes = |name: &str, help: &str, key: &str| {
        if let Some(value) = status_bytes(key) {
            sheet.family(name, help, Kind::Gauge, Some(Unit::Bytes)).value(Vec::new(), value);
        }
    };
    bytes("process_resident_memory", "Memory that is in use", "VmRSS:");
    bytes("process_virtual_memory", "Memory that is addressed", "VmSize:");
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        sheet.gauge("process_open_fds", "Open file descriptors").value(Vec::new(), open.count() as f64);
    }
    if let Some(max) = fds_max() {
        sheet.gauge("process_max_fds", "File descriptors that may be open").value(Vec::new(), max);
    }
}

/// User and system time, from the fields after the program's name, which may hold anything.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let user: f64 = fields.nth(11)?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

fn status_bytes(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

fn fds_max() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
