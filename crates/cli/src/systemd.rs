//! Telling systemd how the service is: sd_notify's protocol, a datagram to the socket the environment names.

use std::time::Duration;

/// The connection to the service manager; none, where there is no manager.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    #[cfg(target_os = "linux")]
    socket: Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notify {
    #[cfg(target_os = "linux")]
    pub(crate) fn of_environment() -> Notify {
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::{SocketAddr, UnixDatagram};

        let Some(name) = std::env::var("NOTIFY_SOCKET").ok().filter(|name| !name.is_empty()) else {
            return Notify::default();
        };
        // An address that begins with @ is one without a file.
        let address = match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(&name),
        };
        let socket = address.and_then(|address| Ok((UnixDatagram::unbound()?, address)));
        if let Err(error) = &socket {
            tracing::warn!(%error, "the service manager cannot be told anything");
        }
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let ours = number("WATCHDOG_PID").is_none_or(|id| id == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|_| ours).map(Duration::from_micros);
        Notify { socket: socket.ok(), watchdog }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_environment() -> Notify {
        Notify::default()
    }

    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    /// Before a reload. Its end is told by `ready`.
    pub(crate) fn reloading(&self) {
        let monotonic = monotonic_micros();
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={monotonic}"));
    }

    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing what was begun");
    }

    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    /// Returns how often `alive` is expected: half of what the manager waits.
    pub(crate) fn every(&self) -> Option<Duration> {
        self.watchdog.filter(|span| !span.is_zero()).map(|span| span / 2)
    }

    /// A message that does not arrive is the manager's loss.
    fn tell(&self, message: &str) {
        #[cfg(target_os = "linux")]
        if let Some((socket, address)) = &self.socket
            && let Err(error) = socket.send_to_addr(message.as_bytes(), address)
        {
            tracing::debug!(%error, "the service manager did not hear");
        }
        #[cfg(not(target_os = "linux"))]
        let _ = message;
    }
}

/// The kernel's monotonic clock, as the manager reads it.
fn monotonic_micros() -> u64 {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000);
        u64::try_from(micros).unwrap_or(0)
    }
    #[cfg(not(unix))]
    0
}
