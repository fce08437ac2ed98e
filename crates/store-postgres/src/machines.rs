//! Connecting to the first of several machines that answers.
//!
//! The library tries one after the other, too, but waits for ever for one that takes a connection and then says
//! nothing: a machine that is frozen would keep everybody from the one that has taken over.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, Error};

use crate::tls::{self, Tls};

pub(crate) type Socket =
    tokio_postgres::Connection<tokio_postgres::Socket, tls::Stream<tokio_postgres::Socket>>;

pub(crate) struct Machines {
    /// One for each of them.
    configs: Vec<Config>,
    tls: Tls,
    /// The time each machine has to connect.
    within: Duration,
}

impl Machines {
    pub(crate) fn new(config: &Config, tls: Tls, within: Duration) -> Machines {
        let hosts = config.get_hosts().len();
        let configs =
            if hosts < 2 { vec![config.clone()] } else { (0..hosts).map(|no| only(config, no)).collect() };
        Machines { configs, tls, within }
    }

    pub(crate) async fn connect(&self) -> Result<(Client, Socket), Error> {
        let mut failure = None;
        for config in &self.configs {
            let error = match timeout(self.within, config.connect(self.tls.clone())).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(error)) => error,
                Err(_) => Error::__private_api_timeout(),
            };
            // What a database says is worth more than that a machine says nothing.
            if failure.as_ref().is_none_or(|kept: &Error| kept.as_db_error().is_none()) {
                failure = Some(error);
            }
        }
        Err(failure.expect("there is at least one machine"))
    }
}

type Connecting<'a> = Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

impl Connect for Machines {
    fn connect(&self, _config: &Config) -> Connecting<'_> {
        Box::pin(async move {
            let (client, connection) = Machines::connect(self).await?;
            // How it ends is told to whoever uses it.
            let polling = tokio::spawn(async move { drop(connection.await) });
            Ok((client, polling))
        })
    }
}

/// The same way to one of the machines.
fn only(config: &Config, no: usize) -> Config {
    let mut one = Config::new();
    match &config.get_hosts()[no] {
        Host::Tcp(name) => one.host(name),
        Host::Unix(path) => one.host_path(path),
    };
    config.get_hostaddrs().get(no).map(|address| one.hostaddr(*address));
    let ports = config.get_ports();
    ports.get(no).or(ports.first()).map(|port| one.port(*port));
    config.get_user().map(|user| one.user(user));
    config.get_password().map(|password| one.password(password));
    config.get_dbname().map(|name| one.dbname(name));
    config.get_options().map(|options| one.options(options));
    config.get_application_name().map(|name| one.application_name(name));
    config.get_connect_timeout().map(|within| one.connect_timeout(*within));
    config.get_tcp_user_timeout().map(|within| one.tcp_user_timeout(*within));
    config.get_keepalives_interval().map(|pause| one.keepalives_interval(pause));
    config.get_keepalives_retries().map(|times| one.keepalives_retries(times));
    one.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_machines_keeps_all_that_was_said_about_it() {
        let all = "postgres://ada:x@a:1,b:2/app?application_name=n&target_session_attrs=read-write&options=-cjit%3Doff\
                   &sslmode=require&keepalives=0&keepalives_idle=7&keepalives_interval=8&keepalives_retries=9\
                   &connect_timeout=3&tcp_user_timeout=4&channel_binding=disable";
        let alone = all.replace("a:1,b:2", "b:2");
        let (all, alone): (Config, Config) =
            (all.parse().expect("it is one"), alone.parse().expect("it is one"));
        assert_eq!(only(&all, 1), alone);
        assert_ne!(only(&all, 0), alone);
    }
}
