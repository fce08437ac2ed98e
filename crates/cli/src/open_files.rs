//! The number of files a process may have open: each connection is one.

/// The files that a server needs beside its connections: the store, the log, connections of its own.
const OTHERS: u64 = 512;

/// Raises what the system allows this process as far as `connections` need it. Most systems start programs with far less
/// than they may have.
#[cfg(unix)]
pub(crate) fn allow(connections: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // None is no limit.
    let Some(now) = current.filter(|now| *now < wanted) else { return };
    let possible = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(possible), maximum }).is_ok();
    let allowed = if raised { possible } else { now };
    if allowed < wanted {
        tracing::warn!(
            allowed,
            wanted,
            "the system allows fewer open files than --connections needs; raise it (`ulimit -n`, LimitNOFILE=)"
        );
    }
}

#[cfg(not(unix))]
pub(crate) fn allow(_: usize) {}
