//! The mail server: where it is, and handing a mail over.
//!
//! A connection for each mail, spoken step by step: only so can be told who refused what. A recipient that the server
//! does not take is final; everything else may be another thing tomorrow.

use std::net::IpAddr;
use std::time::Duration;

use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use lettre::transport::smtp::response::Response;
use url::Url;
use wire::api::Secret;

use crate::tame::tame;

const SUBMISSION_PORT: u16 = 587;
const SUBMISSIONS_PORT: u16 = 465;
/// The time for one step; the pipeline bounds all steps together.
const STEP_WITHIN: Duration = Duration::from_secs(20);
const REPLY_CHARS_MAX: usize = 200;

/// The server that mails are handed to, and the user who hands them over.
#[derive(Debug, Clone)]
pub struct MailServer {
    host: String,
    port: u16,
    tls: Tls,
    user: Option<String>,
    password: Option<Secret>,
    pub(crate) from: Mailbox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tls {
    /// From the first byte.
    Wrapped,
    /// By STARTTLS, or not at all.
    Required,
    /// By STARTTLS where the server, which is this machine, offers it.
    Welcome,
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The server does not take this recipient.
    Refused(String),
    Failed {
        code: String,
        message: String,
    },
}

impl MailServer {
    /// From `smtp://user@host:587`, `smtps://user@host:465`, and what mails say they are from.
    ///
    /// # Errors
    /// A sentence that says what to write instead.
    pub fn read(url: &str, from: &str, password: Option<Secret>) -> Result<MailServer, String> {
        let url =
            Url::parse(url).map_err(|_| "a mail server is written like smtp://user@mail.example:587")?;
        if url.password().is_some() {
            return Err("a password does not belong into an address that others may see".to_owned());
        }
        let host =
            url.host_str().filter(|host| !host.is_empty()).ok_or("the mail server's address has no host")?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let asked = url.query_pairs().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        let tls = match (url.scheme(), asked.iter().map(String::as_str).collect::<Vec<_>>().as_slice()) {
            ("smtps", []) => Tls::Wrapped,
            ("smtp", []) if is_here(&host) => Tls::Welcome,
            ("smtp", [] | ["tls=required"]) => Tls::Required,
            ("smtp", ["tls=none"]) => Tls::Never,
            ("smtp" | "smtps", _) => {
                return Err("after `?` only tls=required or tls=none may stand".to_owned());
            }
            _ => return Err("a mail server's address begins with smtp:// or smtps://".to_owned()),
        };
        let user = Some(url.username()).filter(|user| !user.is_empty());
        let user = user.map(decoded).transpose()?;
        if user.is_some() != password.is_some() {
            return Err("a mail server takes a user name and a password, or neither".to_owned());
        }
        if user.is_some() && tls == Tls::Never && !is_here(&host) {
            return Err("with tls=none everybody on the way could read the password".to_owned());
        }
        let from =
            from.parse().map_err(|_| "mails are from an address like Milepost <noreply@mail.example>")?;
        let usual = if tls == Tls::Wrapped { SUBMISSIONS_PORT } else { SUBMISSION_PORT };
        Ok(MailServer { port: url.port().unwrap_or(usual), host, tls, user, password, from })
    }

    /// Returns what tells the server from other places, for mails that wait to be sent there.
    pub(crate) fn place(&self) -> String {
        format!("smtp {}:{}", self.host, self.port)
    }

    /// Hands over a mail and gives the server's reply.
    pub(crate) async fn send(&self, to: &Address, mail: &[u8]) -> Result<String, Unsent> {
        let mut connection = self.connect().await.map_err(failed)?;
        let sent = self.hand_over(&mut connection, to, mail).await;
        // What the server has said it has taken is taken, however the connection ends.
        connection.abort().await;
        sent
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, Trouble> {
        let hello = ClientId::Domain(self.from.email.domain().to_owned());
        let parameters = || TlsParameters::builder(self.host.clone()).build_rustls();
        let wrapped = (self.tls == Tls::Wrapped).then(parameters).transpose()?;
        let place = (self.host.clone(), self.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(place, Some(STEP_WITHIN), &hello, wrapped, None);
        let mut connection = connecting.await?;
        match self.tls {
            Tls::Required => connection.starttls(parameters()?, &hello).await?,
            Tls::Welcome if connection.can_starttls() => connection.starttls(parameters()?, &hello).await?,
            _ => {}
        }
        if let (Some(user), Some(password)) = (&self.user, &self.password) {
            let credentials = Credentials::new(user.clone(), password.0.clone());
            connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await?;
        }
        Ok(connection)
    }

    async fn hand_over(
        &self,
        connection: &mut AsyncSmtpConnection,
        to: &Address,
        mail: &[u8],
    ) -> Result<String, Unsent> {
        let mut parameters = Vec::new();
        if !AsRef::<str>::as_ref(to).is_ascii() {
            if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
                let reply = "the mail server takes only plain addresses, without letters of other alphabets";
                return Err(Unsent::Refused(reply.to_owned()));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        connection.command(Mail::new(Some(self.from.email.clone()), parameters)).await.map_err(failed)?;
        if let Err(error) = connection.command(Rcpt::new(to.clone(), Vec::new())).await {
            return Err(match error.is_permanent() {
                true => Unsent::Refused(said(&error)),
                false => failed(error),
            });
        }
        connection.command(Data).await.map_err(failed)?;
        let reply = connection.message(mail).await.map_err(failed)?;
        Ok(written(&reply))
    }
}

type Trouble = lettre::transport::smtp::Error;

fn failed(error: Trouble) -> Unsent {
    let code = match error.status() {
        Some(code) => format!("smtp-{code}"),
        None if error.is_timeout() => "timeout".to_owned(),
        None if is_tls(&error) => "tls".to_owned(),
        None if error.is_client() => "smtp-unfit".to_owned(),
        None if error.is_response() => "garbled".to_owned(),
        None => "connect".to_owned(),
    };
    Unsent::Failed { code, message: format!("the mail server: {}", said(&error)) }
}

/// Handshakes fail as connections do: only the cause says that it was the certificate.
fn is_tls(error: &Trouble) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(found) = cause {
        let io = found.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if io.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = found.source();
    }
    error.is_tls()
}

fn said(error: &Trouble) -> String {
    tame(&error.to_string(), REPLY_CHARS_MAX)
}

fn written(reply: &Response) -> String {
    let lines: Vec<&str> = reply.message().collect();
    tame(&format!("{} {}", reply.code(), lines.join(" ")), REPLY_CHARS_MAX)
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A user name may have an `@`, which an address writes as `%40`.
fn decoded(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).map_err(|_| "the mail server's user name is no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, password: Option<&str>) -> Result<MailServer, String> {
        MailServer::read(url, "Milepost <noreply@mail.example>", password.map(|text| Secret(text.to_owned())))
    }

    #[test]
    fn an_address_says_where_and_how() {
        for (url, password, port, tls) in [
            ("smtp://mail.example", None, 587, Tls::Required),
            ("smtp://mail.example:25?tls=none", None, 25, Tls::Never),
            ("smtp://localhost:2525", None, 2525, Tls::Welcome),
            ("smtp://[::1]", None, 587, Tls::Welcome),
            ("smtp://127.0.0.1?tls=required", None, 587, Tls::Required),
            ("smtps://ada%40mail.example@mail.example", Some("x"), 465, Tls::Wrapped),
        ] {
            let server = read(url, password).unwrap();
            assert_eq!((server.port, server.tls), (port, tls), "{url}");
        }
        assert_eq!(read("smtps://ada%40x@mail.example", Some("p")).unwrap().user.as_deref(), Some("ada@x"));
    }

    #[test]
    fn what_cannot_be_a_mail_server_is_refused_without_its_password() {
        for (url, password) in [
            ("mail.example", None),
            ("http://mail.example", None),
            ("smtp://", None),
            ("smtp://ada:hunter2@mail.example", None),
            ("smtp://ada@mail.example", None),
            ("smtp://mail.example", Some("hunter2")),
            ("smtp://ada@mail.example?tls=none", Some("hunter2")),
            ("smtp://mail.example?tls=maybe", None),
            ("smtps://mail.example?tls=none", None),
        ] {
            let error = read(url, password).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(MailServer::read("smtp://mail.example", "nobody", None).is_err());
        assert!(!format!("{:?}", read("smtps://ada@x.example", Some("hunter2"))).contains("hunter2"));
    }

    /// Takes one connection and answers everything well but the recipient, which it answers with this.
    async fn refuse_with(listener: tokio::net::TcpListener, reply: String) {
        use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
        let mut stream = BufReader::new(listener.accept().await.unwrap().0);
        let mut said = "220 mail.example\r\n".to_owned();
        loop {
            stream.write_all(said.as_bytes()).await.unwrap();
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            said = if line.starts_with("RCPT") { reply.clone() } else { "250 fine\r\n".to_owned() };
        }
    }

    #[tokio::test]
    async fn a_reply_is_cut_and_cleaned_before_anybody_sees_it() {
        let long = "x".repeat(800);
        for reply in [
            format!("550 {long}\r\n"),
            format!("550-{long}\r\n").repeat(20) + "550 end\r\n",
            "550 no \u{1b}[2Jsuch \u{202e}user\u{0}\u{7}\r\n".to_owned(),
            format!("451 {long}\u{9b}31m\u{200f}\r\n"),
        ] {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("smtp://127.0.0.1:{}?tls=none", listener.local_addr().unwrap().port());
            let refusing = tokio::spawn(refuse_with(listener, reply));
            let unsent = read(&url, None).unwrap().send(&"ada@mail.example".parse().unwrap(), b"x").await;
            let said = match unsent.unwrap_err() {
                Unsent::Refused(reply) => reply,
                Unsent::Failed { message, .. } => message,
            };
            assert!(said.chars().count() <= REPLY_CHARS_MAX + 20, "{said}");
            assert!(said.chars().all(|c| (' '..='~').contains(&c)), "{said:?}");
            refusing.abort();
        }
    }
}
