//! The rule by which messages get the places of a server: who may be sent now, and when the others come again.
//!
//! A message that hangs keeps its place until its time is over, and nobody can tell before that it will. So nobody gets
//! all places: neither one host, nor one submitter, nor all hosts together that are slow or that nobody has heard of yet.
//! However many of them hang, a message of somebody else to a host that answers finds a place.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use model::Name;

/// Places of a server, whoever has them.
pub(crate) const PLACES: usize = 256;
/// Places of one host that answers, and those that one submitter may have of them.
const OF_HOST: Share = Share { all: 8, submitter: 6 };
/// The same for a slow host.
const OF_SLOW_HOST: Share = Share { all: 2, submitter: 1 };
/// A host that takes longer is slow, and so is whatever is under way for longer.
const SLOW: Duration = Duration::from_secs(2);
/// The time that a message to a host is thought to take before anything is known of it.
const USUAL: Duration = Duration::from_millis(100);
pub(crate) const TURN_MIN: Duration = Duration::from_millis(50);
pub(crate) const TURN_MAX: Duration = Duration::from_secs(5 * 60);
/// The time for which a host is remembered after its last message, and the number of hosts that are.
const REMEMBERED_FOR: Duration = Duration::from_secs(60 * 60);
const HOSTS_MAX: usize = 10_000;
const FORGET_EVERY: Duration = Duration::from_secs(60);

/// The host and the submitter that a message counts against.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) host: String,
    pub(crate) submitter: Submitter,
}

/// The one whose submission a message is about, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Submitter {
    Subject(Name),
    /// Everybody who submitted to a pipeline and is not known by name.
    OfPipeline(Name),
    Nobody,
}

/// The experience with a host lately, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Standing {
    Good,
    Unknown,
    Slow,
}

/// The most places of a kind: of everybody together, and of one submitter.
#[derive(Debug, Clone, Copy)]
struct Share {
    all: usize,
    submitter: usize,
}

impl Standing {
    /// The places of hosts of this standing and of worse ones together.
    fn share(self) -> Share {
        match self {
            Standing::Good => Share { all: PLACES, submitter: 96 },
            Standing::Unknown => Share { all: 192, submitter: 48 },
            Standing::Slow => Share { all: 64, submitter: 16 },
        }
    }
}

impl Share {
    /// The part of it that is for everybody. The rest is for submitters that have nothing under way.
    fn open(self) -> usize {
        self.all - self.all / 8
    }
}

/// Something that can be full, and that those who are put off wait for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Line {
    Host(String),
    AtHost(Way),
    Submitter(Submitter, Standing),
    All(Standing),
}

#[derive(Debug)]
struct Going {
    no: u64,
    way: Way,
    standing: Standing,
    since: Instant,
}

impl Going {
    fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    fn standing(&self, now: Instant) -> Standing {
        if self.age(now) > SLOW { Standing::Slow } else { self.standing }
    }
}

#[derive(Debug)]
struct Host {
    /// The time that messages to it take, by what they took lately.
    usual: Duration,
    seen: Instant,
}

/// The messages under way, and what is remembered of those before.
#[derive(Debug, Default)]
pub(crate) struct Places {
    going: Vec<Going>,
    hosts: HashMap<String, Host>,
    /// The turn of the last of those put off, for each line.
    booked: HashMap<Line, Instant>,
    asked: u64,
    /// The time at which what is of no use any more was last forgotten.
    forgot_at: Option<Instant>,
}

impl Places {
    /// Takes a place and returns its number, or says when to come again.
    pub(crate) fn ask(&mut self, way: &Way, now: Instant) -> Result<u64, Duration> {
        let standing = self.standing(&way.host, now);
        if let Some((line, places, takes)) = self.full(way, standing, now) {
            return Err(self.book(line, takes / u32::try_from(places).unwrap_or(u32::MAX), now));
        }
        self.asked += 1;
        self.going.push(Going { no: self.asked, way: way.clone(), standing, since: now });
        Ok(self.asked)
    }

    /// Frees a place and remembers how long it was taken.
    pub(crate) fn leave(&mut self, no: u64, now: Instant) {
        let Some(at) = self.going.iter().position(|going| going.no == no) else { return };
        let gone = self.going.swap_remove(at);
        let took = gone.age(now);
        let host = self.hosts.entry(gone.way.host).or_insert(Host { usual: USUAL, seen: now });
        *host = Host { usual: (host.usual + took) / 2, seen: now };
        self.forget(now);
    }

    /// Forgets what nobody asks for any more, or every address ever used would be kept.
    fn forget(&mut self, now: Instant) {
        if self.forgot_at.is_none_or(|forgot_at| now >= forgot_at + FORGET_EVERY) {
            self.booked.retain(|_, booked| *booked > now);
            self.hosts.retain(|_, host| host.seen + REMEMBERED_FOR > now);
            self.forgot_at = Some(now);
        }
        if self.hosts.len() > HOSTS_MAX {
            let oldest = self.hosts.iter().min_by_key(|(_, host)| host.seen).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.hosts.remove(&name));
        }
    }

    fn standing(&self, host: &str, now: Instant) -> Standing {
        let hangs = |going: &Going| going.way.host == host && going.age(now) > SLOW;
        match self.hosts.get(host) {
            Some(known) if known.usual > SLOW => Standing::Slow,
            _ if self.going.iter().any(hangs) => Standing::Slow,
            Some(_) => Standing::Good,
            None => Standing::Unknown,
        }
    }

    /// The first line that has no place for a message: with its places, and the time that one of them is taken for.
    fn full(&self, way: &Way, standing: Standing, now: Instant) -> Option<(Line, usize, Duration)> {
        let (of_host, share) = match standing {
            Standing::Slow => (OF_SLOW_HOST, standing.share()),
            _ => (OF_HOST, standing.share()),
        };
        let is_new = self.going.iter().all(|going| going.way.submitter != way.submitter);
        let all = if is_new { share.all } else { share.open() };
        let same_host = |going: &Going| going.way.host == way.host;
        let same_way = |going: &Going| going.way == *way;
        let of_submitter =
            |going: &Going| going.way.submitter == way.submitter && going.standing(now) >= standing;
        let of_all = |going: &Going| going.standing(now) >= standing;
        let usual = self.hosts.get(&way.host).map_or(USUAL, |host| host.usual);
        type Belongs<'a> = &'a dyn Fn(&Going) -> bool;
        type MakeLine<'a> = &'a dyn Fn() -> Line;
        let lines: [(Belongs<'_>, usize, MakeLine<'_>); 4] = [
            (&same_host, of_host.all, &|| Line::Host(way.host.clone())),
            (&same_way, of_host.submitter, &|| Line::AtHost(way.clone())),
            (&of_submitter, share.submitter, &|| Line::Submitter(way.submitter.clone(), standing)),
            (&of_all, all, &|| Line::All(standing)),
        ];
        lines.into_iter().find_map(|(belongs, places, line)| {
            let ages = self.going.iter().filter(|going| belongs(going)).map(|going| going.age(now));
            let (count, oldest) = ages.fold((0, usual), |(count, oldest), age| (count + 1, oldest.max(age)));
            (count >= places).then(|| (line(), places, oldest))
        })
    }

    /// The next turn in a line that moves on once in `pace`.
    fn book(&mut self, line: Line, pace: Duration, now: Instant) -> Duration {
        let booked = self.booked.entry(line).or_insert(now);
        *booked = (*booked).max(now) + pace;
        if *booked > now + TURN_MAX {
            // Nobody is put off for longer, and those who would be do not all come back at once.
            *booked = now + TURN_MAX / 2;
        }
        (*booked - now).max(TURN_MIN)
    }
}

#[cfg(test)]
mod tests;
