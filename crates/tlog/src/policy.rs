//! Policy files (C2SP tlog-policy): which logs, which witnesses, and how many of them must have seen a checkpoint.

use crate::note::{Algorithm, Signature, VerifierKey};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub key: VerifierKey,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessLine {
    /// The name by which groups call the witness; opaque bytes.
    pub name: Vec<u8>,
    pub key: VerifierKey,
    pub url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Witness(usize),
    Group(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    name: Vec<u8>,
    needed: usize,
    members: Vec<Member>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    pub logs: Vec<LogLine>,
    pub witnesses: Vec<WitnessLine>,
    groups: Vec<Group>,
    /// `None`: no cosignature is asked for.
    quorum: Option<Member>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the policy: {reason}")]
pub struct PolicyError {
    /// Counted from 1; 0 where something is missing from all of it.
    pub line: usize,
    pub reason: String,
}

/// More lines than this are no policy.
const LINES_MAX: usize = 10_000;

impl Policy {
    pub fn parse(text: &[u8]) -> Result<Self, PolicyError> {
        let mut reader = Reader::default();
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let at = |reason: String| PolicyError { line: index + 1, reason };
            if index >= LINES_MAX {
                return Err(at("it goes on for too long".to_owned()));
            }
            if line.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
                return Err(at("it has a control character".to_owned()));
            }
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
            let words: Vec<&[u8]> = line.split(blank).filter(|word| !word.is_empty()).collect();
            if words.first().is_some_and(|word| !word.starts_with(b"#")) {
                reader.line(&words).map_err(at)?;
            }
        }
        match reader.quorum_seen {
            true => Ok(reader.policy),
            false => Err(PolicyError {
                line: 0,
                reason: "it says no quorum; `quorum none` asks for none".to_owned(),
            }),
        }
    }

    /// The witness a signature names, by place and key.
    pub(crate) fn witness_of(&self, signature: &Signature) -> Option<(usize, &VerifierKey)> {
        let is = |key: &VerifierKey| key.name() == signature.name && key.id() == signature.id;
        self.witnesses.iter().map(|witness| &witness.key).enumerate().find(|(_, key)| is(key))
    }

    /// Tells whether these witnesses, by their place in the file, are enough.
    #[must_use]
    pub fn is_satisfied_by(&self, cosigned: &[usize]) -> bool {
        // Members are declared before their group, so one pass from the first group on suffices.
        let mut groups: Vec<bool> = Vec::new();
        let holds = |groups: &[bool], member: Member| match member {
            Member::Witness(index) => cosigned.contains(&index),
            Member::Group(index) => groups[index],
        };
        for group in &self.groups {
            let count = group.members.iter().filter(|member| holds(&groups, **member)).count();
            groups.push(count >= group.needed);
        }
        self.quorum.is_none_or(|quorum| holds(&groups, quorum))
    }
}

#[derive(Default)]
struct Reader {
    policy: Policy,
    quorum_seen: bool,
    /// Each name may be a member once.
    used: Vec<Member>,
}

impl Reader {
    fn line(&mut self, words: &[&[u8]]) -> Result<(), String> {
        match words {
            [b"log", key, url @ ..] if url.len() <= 1 => self.log(key, url.first()),
            [b"witness", name, key, url @ ..] if url.len() <= 1 => self.witness(name, key, url.first()),
            [b"group", name, needed, members @ ..] => self.group(name, needed, members),
            [b"quorum", name] => self.quorum(name),
            _ => Err("it reads log KEY [URL], witness NAME KEY [URL], group NAME N MEMBER.. or quorum NAME"
                .to_owned()),
        }
    }

    fn log(&mut self, key: &[u8], url: Option<&&[u8]>) -> Result<(), String> {
        let key = read_key(key, Algorithm::Ed25519)?;
        if self.policy.logs.iter().any(|log| log.key.public() == key.public()) {
            return Err("the log's key is there already".to_owned());
        }
        self.policy.logs.push(LogLine { key, url: read_url(url)? });
        Ok(())
    }

    fn witness(&mut self, name: &[u8], key: &[u8], url: Option<&&[u8]>) -> Result<(), String> {
        self.check_new(name)?;
        let key = read_key(key, Algorithm::CosignatureV1)?;
        if self.policy.witnesses.iter().any(|witness| witness.key.public() == key.public()) {
            return Err("the witness's key is there already".to_owned());
        }
        self.policy.witnesses.push(WitnessLine { name: name.to_vec(), key, url: read_url(url)? });
        Ok(())
    }

    fn group(&mut self, name: &[u8], needed: &[u8], names: &[&[u8]]) -> Result<(), String> {
        self.check_new(name)?;
        let mut members = Vec::new();
        for name in names {
            let member = self.find(name)?;
            if self.used.contains(&member) {
                return Err(format!("{} is a member already", shown(name)));
            }
            self.used.push(member);
            members.push(member);
        }
        let number = || std::str::from_utf8(needed).ok().and_then(crate::note::decimal);
        let needed = match needed {
            b"all" => members.len(),
            b"any" => 1,
            _ => number().and_then(|number| usize::try_from(number).ok()).unwrap_or(0),
        };
        if needed == 0 || needed > members.len() {
            return Err("a group needs all, any, or a number from 1 to that of its members".to_owned());
        }
        self.policy.groups.push(Group { name: name.to_vec(), needed, members });
        Ok(())
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), String> {
        if std::mem::replace(&mut self.quorum_seen, true) {
            return Err("there is one quorum".to_owned());
        }
        self.policy.quorum = if name == b"none" { None } else { Some(self.find(name)?) };
        Ok(())
    }

    fn check_new(&self, name: &[u8]) -> Result<(), String> {
        if name == b"none" || self.find(name).is_ok() {
            return Err(format!("the name {} is taken", shown(name)));
        }
        Ok(())
    }

    fn find(&self, name: &[u8]) -> Result<Member, String> {
        let witness = self.policy.witnesses.iter().position(|witness| witness.name == name);
        let group = self.policy.groups.iter().position(|group| group.name == name);
        let found = witness.map(Member::Witness).or(group.map(Member::Group));
        found.ok_or_else(|| format!("{} is not declared above", shown(name)))
    }
}

fn read_key(text: &[u8], algorithm: Algorithm) -> Result<VerifierKey, String> {
    let text = std::str::from_utf8(text).map_err(|_| "the key is not text".to_owned())?;
    let key: VerifierKey = text.parse().map_err(|error: crate::note::KeyError| error.to_string())?;
    if key.algorithm() == algorithm {
        Ok(key)
    } else {
        Err("the key is of the wrong kind for this line".to_owned())
    }
}

fn read_url(url: Option<&&[u8]>) -> Result<Option<String>, String> {
    let read =
        |url: &&[u8]| String::from_utf8(url.to_vec()).map_err(|_| "the address is not text".to_owned());
    url.map(read).transpose()
}

fn shown(name: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(name))
}
