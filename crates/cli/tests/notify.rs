//! Messages from a server to a service manager.
#![cfg(target_os = "linux")]

use crate::common;

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use common::milepost;
use tempfile::TempDir;

fn hear(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 4_096];
    let length = socket.recv(&mut bytes).expect("it says something in time");
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

/// Passes over signs of life.
fn hear_word(socket: &UnixDatagram) -> String {
    loop {
        let message = hear(socket);
        if message != "WATCHDOG=1" {
            return message;
        }
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn told(socket: &UnixDatagram, name: &str) {
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let folder = TempDir::new().unwrap();
    let mut command = milepost(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(folder.path().join("data")).env("NOTIFY_SOCKET", name).env("WATCHDOG_USEC", "200000");
    let (mut child, url) = common::listening(command, &Arc::default());
    let ready = hear(socket);
    assert!(ready.starts_with("READY=1\n") && url.ends_with(ready.rsplit(' ').next().unwrap()), "{ready}");
    assert_eq!(hear(socket), "WATCHDOG=1");
    assert_eq!(hear(socket), "WATCHDOG=1");
    signal(&child, "HUP");
    assert!(hear_word(socket).starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert!(hear_word(socket).starts_with("READY=1"));
    signal(&child, "TERM");
    assert!(hear_word(socket).starts_with("STOPPING=1"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_service_manager_is_told_what_happens() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notify");
    told(&UnixDatagram::bind(&path).unwrap(), path.to_str().unwrap());
}

#[test]
fn a_socket_without_a_file_is_told_too() {
    let name = format!("milepost-notify-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    told(&UnixDatagram::bind_addr(&address).unwrap(), &format!("@{name}"));
}

#[test]
fn the_unit_is_hardened_and_fits_the_server() {
    let unit = include_str!("../../../packaging/milepost.service");
    let lines: Vec<_> = unit.lines().map(str::trim).collect();
    for wanted in [
        "Type=notify-reload",
        "DynamicUser=yes",
        "StateDirectory=milepost",
        "ProtectSystem=strict",
        "NoNewPrivileges=yes",
        "ProtectHome=yes",
        "PrivateTmp=yes",
        "PrivateDevices=yes",
        "MemoryDenyWriteExecute=yes",
        "CapabilityBoundingSet=",
        "SystemCallFilter=@system-service",
        "Restart=on-failure",
        "WantedBy=multi-user.target",
    ] {
        assert!(lines.contains(&wanted), "{wanted}");
    }
    let start = lines.iter().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    // Its flags are flags that there are.
    let words: Vec<_> = start.split(' ').skip(1).collect();
    assert_eq!(words[0], "serve");
    let said = common::run(&["serve", "--help"]).ends(0);
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        assert!(said.stdout.contains(flag), "{flag}");
    }
    assert!(lines.iter().all(|line| line.is_empty() || line.starts_with(['#', '[']) || line.contains('=')));
}
