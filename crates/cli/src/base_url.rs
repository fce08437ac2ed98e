//! The address of the server as people reach it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use url::Url;

/// Reads an address as `--base-url` takes it: scheme, host and port, and nothing after them.
pub(crate) fn read(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("this is no address: {error}; write https://HOST"))?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none_or(str::is_empty) {
        return Err("it begins with https:// or http:// and a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it is shown to everybody and has no user or password".to_owned());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("it ends behind the host and port: pages are at fixed paths below it".to_owned());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns the address for who was told none: the one that the server listens at.
pub(crate) fn of_listener(address: SocketAddr, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    let ip = match address.ip() {
        // Every address of the machine: this one is an address.
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_scheme_host_and_port() {
        for (text, wanted) in [
            ("https://m.example", "https://m.example"),
            ("HTTPS://M.Example/", "https://m.example"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(wanted));
        }
        for text in [
            "m.example",
            "ftp://m.example",
            "https://ada:secret@m.example",
            "https://m.example/milepost",
            "https://m.example/?a",
            "https://m.example/#a",
            "",
        ] {
            let refused = read(text).expect_err(text);
            assert!(!refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    fn without_an_address_it_is_the_listener_s() {
        let of = |text: &str, tls| of_listener(text.parse().expect("it is an address"), tls);
        assert_eq!(of("10.0.0.1:80", false), "http://10.0.0.1:80");
        assert_eq!(of("0.0.0.0:8443", true), "https://127.0.0.1:8443");
        assert_eq!(of("[::1]:1", false), "http://[::1]:1");
    }
}
