//! A message as a mail.

use std::time::{Duration, SystemTime};

use engine::Engine;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MessageBuilder};
use model::{Json, Time};
use serde_json::json;
use worker::{Failure, Outcome};

use crate::lines::Lines;
use crate::message::Message;
use crate::places::Way;
use crate::smtp::{MailServer, Unsent};

#[derive(Debug, Clone)]
pub(crate) struct Mails {
    pub(crate) engine: Engine,
    pub(crate) server: MailServer,
    pub(crate) lines: Lines,
}

impl Mails {
    pub(crate) async fn send(&self, payload: &Json) -> Result<Outcome, Failure> {
        let message = Message::read(payload)?;
        let Some(to) = recipient(&message.to) else {
            return Ok(Outcome::new("refused").output(json!({ "reply": "this is no mail address" })));
        };
        let mail = written(&message, &self.server.from, to.clone(), self.engine.now())?;
        let way = Way { host: self.server.place(), submitter: message.submitter(&self.engine).await };
        let _place = match self.lines.enter(&way).await {
            Ok(place) => place,
            Err(turn) => return Ok(Outcome::snooze(turn)),
        };
        match self.server.send(&to.email, &mail).await {
            Ok(reply) => Ok(Outcome::new("sent").output(json!({ "reply": reply }))),
            Err(Unsent::Refused(reply)) => Ok(Outcome::new("refused").output(json!({ "reply": reply }))),
            Err(Unsent::Failed { code, message }) => Err(Failure::new(code, message)),
        }
    }
}

/// One recipient: a list of them would let a payload send mail to whomever it likes, and a line end write headers.
fn recipient(to: &str) -> Option<Mailbox> {
    if to.chars().any(char::is_control) { None } else { to.trim().parse().ok() }
}

fn written(message: &Message<'_>, from: &Mailbox, to: Mailbox, now: Time) -> Result<Vec<u8>, Failure> {
    let body: String = serde_json::from_str(message.body.get())
        .map_err(|_| Failure::new("unexpected-payload", "the body of a mail is text").permanent())?;
    let subject: String = message
        .subject
        .as_deref()
        .unwrap_or(&message.name)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let since = Duration::from_millis(u64::try_from(now.millis()).unwrap_or_default());
    let mail = MessageBuilder::new()
        .from(from.clone())
        .to(to)
        .subject(subject)
        .date(SystemTime::UNIX_EPOCH + since)
        // The same for every try, so that whoever gets it twice can tell.
        .message_id(Some(format!("<{}@{}>", message.id(), from.email.domain())))
        .header(AutoSubmitted)
        .header(ContentType::TEXT_PLAIN)
        .body(body)
        .map_err(|error| {
            Failure::new("unexpected-payload", format!("this makes no mail: {error}")).permanent()
        })?;
    Ok(mail.formatted())
}

/// Nobody wrote this by hand: answering machines stay silent (RFC 3834).
#[derive(Debug, Clone, Copy)]
struct AutoSubmitted;

const AUTO_SUBMITTED: &str = "auto-generated";

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(AutoSubmitted::name(), AUTO_SUBMITTED.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(subject: &str, to: &str, body: serde_json::Value) -> Result<String, Failure> {
        let payload = json!({ "cause": "e1", "name": "author", "to": to, "subject": subject, "body": body });
        let payload = Json::from(payload);
        let message = Message::read(&payload)?;
        let from = "Milepost <noreply@milepost.example>".parse().unwrap();
        let to = recipient(to).ok_or_else(|| Failure::new("refused", ""))?;
        let mail = written(&message, &from, to, Time::from_millis(1_800_000_000_000))?;
        Ok(String::from_utf8(mail).unwrap())
    }

    #[test]
    fn a_mail_has_the_headers_of_one_that_nobody_wrote_by_hand() {
        let mail = mail("It is published", "Ada <ada@example.com>", json!("Hello\nAda")).unwrap();
        let (head, body) = mail.split_once("\r\n\r\n").unwrap();
        for line in [
            "From: Milepost <noreply@milepost.example>",
            "To: Ada <ada@example.com>",
            "Subject: It is published",
            "Auto-Submitted: auto-generated",
            "Date: Fri, 15 Jan 2027 08:00:00 +0000",
            "Content-Type: text/plain; charset=utf-8",
        ] {
            assert!(head.lines().any(|found| found == line), "{line}\n{head}");
        }
        let id = head.lines().find_map(|line| line.strip_prefix("Message-ID: <")).unwrap();
        assert!(id.ends_with("@milepost.example>") && id.len() > 40, "{id}");
        assert_eq!(body, "Hello\r\nAda");
    }

    #[test]
    fn no_line_of_a_payload_becomes_a_header() {
        let mail = mail("a\r\nBcc: eve@example.com\r\n\r\nhi", "ada@example.com", json!("x")).unwrap();
        let head = mail.split_once("\r\n\r\n").unwrap().0;
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{head}");
        for to in
            ["ada@example.com\r\nBcc: eve@example.com", "ada@example.com, eve@example.com", "ada", "@", ""]
        {
            assert_eq!(recipient(to), None, "{to:?}");
        }
        assert_eq!(recipient("Ada <ada@example.com>").unwrap().email.to_string(), "ada@example.com");
    }

    #[test]
    fn a_body_that_is_no_text_makes_no_mail() {
        let failure = mail("s", "ada@example.com", json!({ "a": 1 })).unwrap_err();
        assert!(!failure.retryable, "{failure}");
    }
}
