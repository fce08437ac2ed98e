//! A store's whole address in one line: the database's own, with what is ours among its parameters.

use std::error::Error as _;

use store::Error;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::connection::Settings;

/// The most connections one server may be told to keep.
const CONNECTIONS_MAX: usize = 1_000;

impl Settings {
    /// Reads `postgres://user:password@host:5432/database?schema=milepost&readers=8&writers=2`. Everything but the last
    /// three is the database's.
    ///
    /// # Errors
    /// When it is no such address. What it says never has a part of the address in it that may be a password.
    pub fn parse(address: &str) -> Result<Settings, Error> {
        let credentials = address.find('@').unwrap_or(0);
        let Some(query) = address[credentials..].find('?').map(|at| at + credentials) else {
            let settings = Settings::new(address);
            return config(&settings.url).map(|_| settings);
        };
        let (url, parameters) = (&address[..query], &address[query + 1..]);
        let mut settings = Settings::new(url);
        let mut others = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) => settings.schema = schema(name)?,
                Some(("readers", count)) => settings.readers = connections("readers", count)?,
                Some(("writers", count)) => settings.writers = connections("writers", count)?,
                _ => others.push(parameter),
            }
        }
        if !others.is_empty() {
            settings.url = format!("{url}?{}", others.join("&"));
        }
        config(&settings.url).map(|_| settings)
    }

    /// Returns the store's place in words for people, without user and password.
    #[must_use]
    pub fn place(&self) -> String {
        let Ok(config) = config(&self.url) else { return "PostgreSQL".to_owned() };
        let port = |no: usize| config.get_ports().get(no).or(config.get_ports().first()).unwrap_or(&5432);
        let hosts = config.get_hosts().iter().enumerate().map(|(no, host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(no)),
            Host::Unix(path) => format!("{}:{}", path.display(), port(no)),
        });
        let hosts = hosts.collect::<Vec<_>>().join(",");
        let database = config.get_dbname().unwrap_or("postgres");
        format!("PostgreSQL at {hosts}, database {database}, schema {}", self.schema)
    }
}

fn schema(name: &str) -> Result<String, Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    // PostgreSQL cuts longer names off without a word.
    if name.is_empty() || name.len() > 63 || !name.chars().all(fits) {
        return Err(Error::unavailable(
            "`schema` in the store's address is a name of up to 63 letters, digits, `_` and `-`",
        ));
    }
    Ok(name.to_owned())
}

fn connections(what: &str, count: &str) -> Result<usize, Error> {
    let count: Option<usize> = count.parse().ok();
    count.filter(|count| (1..=CONNECTIONS_MAX).contains(count)).ok_or_else(|| {
        Error::unavailable(format!(
            "`{what}` in the store's address is a number of connections, 1 to {CONNECTIONS_MAX}"
        ))
    })
}

/// The database's own part of an address.
pub(crate) fn config(url: &str) -> Result<Config, Error> {
    const FORM: &str = "postgres://user:password@host:5432/database";
    let credentials = url.find('@').map_or(0, |at| at + 1);
    let after = url[credentials..].split('?').next().unwrap_or_default();
    if after.contains('@') {
        // The end of a password would pass for a machine's name, and be told as one.
        return Err(Error::unavailable(format!(
            "the address of PostgreSQL has more than one `@`; it looks like {FORM}, with %40 for an `@` in a password"
        )));
    }
    url.parse().map_err(|error: tokio_postgres::Error| {
        // Of all reasons only this one repeats nothing of the address: a stray `@` or `?` makes any part look like another.
        let reason = error.source().map(ToString::to_string);
        let reason = reason.filter(|reason| reason.starts_with("invalid value for option"));
        let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        Error::unavailable(format!(
            "the address of PostgreSQL cannot be read{reason}; it looks like {FORM}, with %40 for an `@` in a password"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_taken_out_of_the_address() {
        let settings = Settings::parse(
            "postgres://ada:s%3Fcret@db1:5432,db2:5433/app?schema=mile_1&target_session_attrs=read-write&readers=9&writers=3",
        );
        let settings = settings.expect("it is in order");
        assert_eq!(
            settings.url,
            "postgres://ada:s%3Fcret@db1:5432,db2:5433/app?target_session_attrs=read-write"
        );
        assert_eq!((&*settings.schema, settings.readers, settings.writers), ("mile_1", 9, 3));
        assert_eq!(settings.place(), "PostgreSQL at db1:5432,db2:5433, database app, schema mile_1");
        let plain = Settings::parse("postgres://localhost/app?schema=a").expect("it is in order");
        assert_eq!((&*plain.url, &*plain.schema), ("postgres://localhost/app", "a"));
        assert_eq!(Settings::parse("postgres://localhost/app").expect("it is in order").schema, "milepost");
    }

    #[test]
    fn address_that_cannot_be_read_does_not_show_its_password() {
        for address in [
            "postgres://ada:hunter2@host:port/app",
            "postgres://ada:x@hunter2@host/app",
            "postgres://ada:x@y/hunter2@host/app",
            "postgres://ada:hun@ter2&hunter2=1/app?hunter2",
            "postgres://ada:hunter2@host/app?hunter2=1",
            "postgres://ada:hunter2@host/app?sslmode=hunter2",
            "postgres://ada:hunter2@host/app?schema=hunter2%20",
            "postgres://ada:hunter2@host/app?readers=hunter2",
            "hunter2",
        ] {
            let error = Settings::parse(address).expect_err(address).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn number_of_connections_is_one() {
        for count in ["0", "1001", "-1", "many", ""] {
            let error =
                Settings::parse(&format!("postgres://h/d?writers={count}")).expect_err(count).to_string();
            assert!(error.contains("`writers`"), "{error}");
        }
    }
}
