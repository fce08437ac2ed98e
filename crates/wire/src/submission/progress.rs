//! The progress of a running task.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// The progress of a task, as its worker tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The amount that is done, in whatever the worker counts.
    pub done: u64,
    /// The whole amount, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The thing it is at, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

impl Progress {
    pub const LINE_CHARS_MAX: usize = 200;

    /// Returns what is kept of it. A line that is too long is cut and what would break it is made a space, for no task should
    /// fail by what it says about itself.
    #[must_use]
    pub fn reported(&self, at: Time) -> Reported {
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let line = |line: &String| {
            let one: String = line.chars().map(plain).collect();
            one.trim().chars().take(Self::LINE_CHARS_MAX).collect()
        };
        let line = self.line.as_ref().map(line).filter(|line: &String| !line.is_empty());
        Reported { done: self.done, total: self.total, line, at }
    }
}

/// The last progress that was told, kept with the lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    pub done: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    pub at: Time,
}

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.done)?;
        if let Some(total) = self.total {
            write!(f, " of {total}")?;
        }
        self.line.as_ref().map_or(Ok(()), |line| write!(f, ", {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_and_stays_one_line() {
        let told = |line: &str| Progress { done: 3, total: Some(9), line: Some(line.to_owned()) };
        let kept = |line: &str| told(line).reported(Time::from_millis(0)).line;
        assert_eq!(kept(" copying\na.nc\t\u{7} "), Some("copying a.nc".to_owned()));
        assert_eq!(kept(&"ü".repeat(500)), Some("ü".repeat(200)));
        assert_eq!(kept(" \n"), None);
        assert_eq!(told("a.nc").reported(Time::from_millis(0)).to_string(), "3 of 9, a.nc");
    }
}
