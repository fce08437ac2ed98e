//! Notifications of an event: addresses are found and messages written in the decision, and owed to `delivery` in its
//! commit.
//!
//! No notification fails a move. What is not found or cannot be written is said in the event, and nothing is sent.

use uuid::Uuid;

use super::guard_view::Moment;
use super::message::{self, Mail, Written};
use super::moves::Walk;
use crate::Name;
use crate::digest::Digest;
use crate::event::{Event, Notified};
use crate::expr::{Budget, Expr};
use crate::json::{Json, Value};
use crate::owed::{Channel, Delivery, Effect, Owed, Recipient};
use crate::pipeline::{Edge, Kind, Notify};
use crate::submission::{Failure, Submission, SubmissionId};

/// Addresses one channel of a notification has.
pub const ADDRESSES_MAX: usize = 20;
/// Deliveries one command makes, and the bytes of their messages.
pub const DELIVERIES_MAX: usize = 100;
const BYTES_MAX: usize = 1 << 20;

/// The event to tell of.
struct News<'a> {
    event: &'a Event,
    cause: Uuid,
    /// The submission after the event, with its tries as they were.
    row: Submission,
    moment: Moment<'a>,
}

impl<'a> Walk<'a> {
    /// The edge that leads nowhere and says whom a dead letter tells: that of what it died of, else that of `on.error`.
    pub(super) fn last_word(&self, error: &Failure) -> Option<&'a Edge> {
        let state = self.state();
        let own = match &*error.code {
            "crashing" => state.on_crashed.as_slice(),
            "guard-error" => state.on_guard_error.as_slice(),
            _ => &[],
        };
        let on_error = match &state.kind {
            Kind::Task { on_error, .. } | Kind::Join { on_error, .. } => on_error.as_slice(),
            _ => &[],
        };
        let moment = Moment { error: Some(error), ..Moment::default() };
        let fits = |edge: &&Edge| match &edge.when {
            None => true,
            Some(_) => {
                let alone = std::slice::from_ref(*edge);
                self.sight.choose(self.row(), moment, alone).is_ok_and(|chosen| chosen.is_some())
            }
        };
        own.iter().chain(on_error).filter(|edge| edge.to.is_none() && !edge.notify.is_empty()).find(fits)
    }

    /// Owes what an event tells to those it names, each once.
    pub(super) fn notify(
        &mut self,
        event: &Event,
        hash: Digest,
        moment: Moment<'_>,
        names: &[&[Name]],
    ) -> Vec<Notified> {
        let mut notified = Vec::new();
        if names.iter().all(|names| names.is_empty()) {
            return notified;
        }
        let row = Submission { attempt: event.leaf.attempt, ..self.row().clone() };
        let moment = Moment { event: Some(event), links: self.context.links.as_deref(), ..moment };
        let news = News { event, cause: Event::id_of(hash), row, moment };
        let mut budget = Budget::default();
        let mut told: Vec<&Name> = Vec::new();
        for name in names.iter().copied().flatten() {
            if told.contains(&name) {
                continue;
            }
            told.push(name);
            let notify = self.pipeline.notify.get(name).expect("the file was checked: it is declared");
            let channels = [(Channel::Mail, &notify.mail), (Channel::Webhook, &notify.webhook)];
            for (channel, address) in channels {
                if let Some(address) = address {
                    let way = Way { name, notify, channel, address };
                    notified.push(self.notify_by(&way, &news, &mut budget));
                }
            }
        }
        notified
    }

    fn notify_by(&mut self, way: &Way<'_>, news: &News<'_>, budget: &mut Budget) -> Notified {
        let mut notified =
            Notified { name: way.name.clone(), channel: way.channel, deliveries: Vec::new(), problem: None };
        let found = self.sight.told(&news.row, news.moment, way.address, budget);
        let found = match found {
            Ok(value) => addresses(&value, way.channel),
            Err(error) => Err(format!("no address: {error}")),
        };
        let Addresses { good, problem } = match found {
            Ok(found) => found,
            Err(problem) => {
                notified.problem = Some(problem);
                return notified;
            }
        };
        notified.problem = problem;
        let Written { subject, body, problem } = self.message(way, news, budget);
        notified.problem = notified.problem.or(problem);
        for to in good {
            let delivery = Delivery {
                cause: news.cause,
                name: way.name.clone(),
                channel: way.channel,
                to,
                subject: subject.clone(),
                body: body.clone(),
                submission: news.row.id,
                pipeline: self.pipeline.name.clone(),
            };
            match self.owe_delivery(delivery) {
                Some(id) => notified.deliveries.push(id),
                None => notified.problem = Some("too much to send at once; the rest is left out".to_owned()),
            }
        }
        notified
    }

    fn message(&self, way: &Way<'_>, news: &News<'_>, budget: &mut Budget) -> Written {
        match way.channel {
            Channel::Webhook => message::webhook(self.pipeline, news.event, &news.row),
            Channel::Mail => match &way.notify.template {
                None => message::plain_mail(self.pipeline, news.event, &news.row, news.moment.links),
                Some(template) => {
                    let mut mail = Mail::new(self.pipeline, news.event, &news.row);
                    mail.fill(template, &mut |expr| self.sight.told(&news.row, news.moment, expr, budget));
                    mail.written()
                }
            },
        }
    }

    /// `None` where a command tells more people than one may.
    fn owe_delivery(&mut self, delivery: Delivery) -> Option<SubmissionId> {
        let size = delivery.body.as_str().len() + delivery.to.len();
        if self.told.count >= DELIVERIES_MAX || self.told.bytes + size > BYTES_MAX {
            return None;
        }
        self.told.count += 1;
        self.told.bytes += size;
        let id = delivery.id(self.context.now);
        let effect = Effect::Deliver(Box::new(delivery));
        self.owe(Owed { to: Recipient::Submission(id), effect });
        Some(id)
    }
}

/// One channel of a notification.
struct Way<'a> {
    name: &'a Name,
    notify: &'a Notify,
    channel: Channel,
    address: &'a Expr,
}

struct Addresses {
    good: Vec<String>,
    problem: Option<String>,
}

/// One address or a list of them, each once.
fn addresses(value: &Value, channel: Channel) -> Result<Addresses, String> {
    let list = match value {
        Value::Null => return Err("no address".to_owned()),
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut found = Addresses { good: Vec::new(), problem: None };
    for value in list {
        let address = match value {
            Value::Null => continue,
            Value::String(text) if text.trim().is_empty() => continue,
            Value::String(text) => fit(text.trim(), channel),
            other => Err(format!("an address must be a string, not {}", other.kind())),
        };
        match address {
            Ok(address) if found.good.contains(&address) => {}
            Ok(_) if found.good.len() == ADDRESSES_MAX => {
                found.problem = Some(format!("more than {ADDRESSES_MAX} addresses; the rest is left out"));
            }
            Ok(address) => found.good.push(address),
            Err(problem) => found.problem = Some(problem),
        }
    }
    if found.good.is_empty() {
        return Err(found.problem.unwrap_or_else(|| "no address".to_owned()));
    }
    Ok(found)
}

/// The address, if something could be sent to it. Whoever sends looks closer.
fn fit(address: &str, channel: Channel) -> Result<String, String> {
    let (fits, what) = match channel {
        Channel::Mail => (is_mail_address(address), "not a mail address"),
        Channel::Webhook => (is_url(address), "not an http or https URL"),
    };
    if fits { Ok(address.to_owned()) } else { Err(what.to_owned()) }
}

fn is_mail_address(address: &str) -> bool {
    const BYTES_MAX: usize = 254;
    const LOCAL_BYTES_MAX: usize = 64;
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    // What would mean something else in a header, or a second address.
    let odd = |c: char| c.is_whitespace() || c.is_control() || "<>()[],;:\\\"@".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('-') && !part.ends_with('-');
    address.len() <= BYTES_MAX
        && local.len() <= LOCAL_BYTES_MAX
        && !local.is_empty()
        && !local.contains(odd)
        && domain.split('.').all(part)
        && domain.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '.')
}

fn is_url(address: &str) -> bool {
    const BYTES_MAX: usize = 2_000;
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let Some(rest) = rest else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // Credentials in an address would be stored, shown and logged with it.
    address.len() <= BYTES_MAX
        && !host.is_empty()
        && !host.contains('@')
        && !address.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"\\".contains(c))
}

/// Returns the text of a value in a message: strings as they are, nothing for null, everything else as JSON.
pub(super) fn plain(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => Json::from_value(&other).as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_addresses_are_plausible_ones_and_nothing_that_steers_a_header() {
        for good in ["a@b", "ada@example.com", "o'hara+x=y@xn--bcher-kva.example", "operator@localhost"] {
            assert!(is_mail_address(good), "{good}");
        }
        let long = format!("{}@example.com", "a".repeat(65));
        for bad in [
            "ada",
            "@b",
            "a@",
            "a@b@c",
            "a b@c",
            "a@b\r\nBcc: c@d",
            "a@b,c@d",
            "<a@b>",
            "a@-b",
            "a@b..c",
            "a@b.",
            "\"a\"@b",
            &long,
        ] {
            assert!(!is_mail_address(bad), "{bad}");
        }
    }

    #[test]
    fn endpoints_are_web_addresses_without_credentials() {
        for good in ["https://hooks.example/1?x=y", "http://10.0.0.1:8080", "https://[::1]/"] {
            assert!(is_url(good), "{good}");
        }
        let long = format!("https://a/{}", "a".repeat(2_000));
        for bad in ["ftp://a", "https://", "https:///x", "//a", "https://u:p@a/", "https://a/\nx", &long] {
            assert!(!is_url(bad), "{bad}");
        }
    }

    #[test]
    fn a_list_is_bounded_and_tells_each_once() {
        let list = |count: usize| {
            Value::Array((0..count).map(|n| Value::from(format!("a{n}@b").as_str())).collect())
        };
        let found = addresses(&list(25), Channel::Mail).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((found.good.len(), found.problem.is_some()), (20, true));
        let twice = Value::Array(vec![Value::from("a@b"), Value::from(" a@b "), Value::Null]);
        let found = addresses(&twice, Channel::Mail).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((found.good, found.problem), (vec!["a@b".to_owned()], None));
    }

    #[test]
    fn nothing_found_is_said_without_repeating_it() {
        for (value, problem) in [
            (Value::Null, "no address"),
            (Value::from("  "), "no address"),
            (Value::Array(vec![]), "no address"),
            (Value::from(7_i64), "an address must be a string, not number"),
            (Value::from("secret"), "not a mail address"),
        ] {
            assert_eq!(addresses(&value, Channel::Mail).err().as_deref(), Some(problem));
        }
    }
}
