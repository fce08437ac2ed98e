//! Moving all of a store into another: what one gives in chunks, the other takes, a commit a chunk.
//!
//! A store has more in it than its contract shows: positions, versions, what events were filed under. So a move is not
//! made of transactions; it copies what is kept, in one form that every store can give and take. Whatever follows from it
//! (index entries, counts) is made anew by whoever takes it.

use model::Digest;
use uuid::Uuid;

use crate::Error;

/// The parts of a store, in the order they are moved: events come before the rows that name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Kind, name; body.
    Registry,
    /// Position; that of the submission's event before, revision, pipeline, state, labels as JSON, leaf, detail.
    Event,
    /// Id; row version, position of the newest event, the row as JSON.
    Submission,
    /// Submission, name; body.
    Document,
    /// Submission; position and revision of the newest event of what has no row.
    Tip,
    /// Subject, route, key; body, when it expires.
    Answer,
    /// Number in line; submission, revision, number, whom it concerns as JSON, body.
    Owed,
    /// Id; submitter, pipeline, payload, key, priority, not before, reason.
    Inbox,
    /// Level, number; the log's hashes.
    Tile,
}

impl Part {
    pub const ALL: [Part; 9] = [
        Part::Registry,
        Part::Event,
        Part::Submission,
        Part::Document,
        Part::Tip,
        Part::Answer,
        Part::Owed,
        Part::Inbox,
        Part::Tile,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Registry => "registry",
            Part::Event => "event",
            Part::Submission => "submission",
            Part::Document => "document",
            Part::Tip => "tip",
            Part::Answer => "answer",
            Part::Owed => "owed",
            Part::Inbox => "inbox",
            Part::Tile => "tile",
        }
    }

    /// Before every key of the part.
    #[must_use]
    pub fn start(self) -> Vec<Cell> {
        let text = || Cell::Text(String::new());
        match self {
            Part::Registry => vec![text(), text()],
            Part::Event | Part::Owed => vec![Cell::Int(i64::MIN)],
            Part::Submission | Part::Tip | Part::Inbox => vec![Cell::Id(Uuid::nil())],
            Part::Document => vec![Cell::Id(Uuid::nil()), text()],
            Part::Answer => vec![text(), text(), text()],
            Part::Tile => vec![Cell::Int(i64::MIN), Cell::Int(i64::MIN)],
        }
    }

    /// Returns the number of a record's cells that are its key. Parts are ordered by key, texts by their bytes.
    #[must_use]
    pub fn key_len(self) -> usize {
        self.start().len()
    }

    /// Returns which cell of a record names a position. If that position is retired, the cell names none.
    #[must_use]
    pub fn position(self) -> Option<usize> {
        match self {
            Part::Event | Part::Tip => Some(1),
            Part::Submission => Some(2),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    Id(Uuid),
}

impl Cell {
    /// The same bytes for the same value, and others for any other.
    fn write(&self, bytes: &mut Vec<u8>) {
        let (tag, value): (u8, &[u8]) = match self {
            Cell::Null => (0, &[]),
            Cell::Int(value) => (1, &value.to_be_bytes()),
            Cell::Text(value) => (2, value.as_bytes()),
            Cell::Bytes(value) => (3, value),
            Cell::Id(value) => (4, value.as_bytes()),
        };
        bytes.push(tag);
        bytes.extend((value.len() as u64).to_be_bytes());
        bytes.extend(value);
    }

    pub fn int(&self) -> Result<i64, Error> {
        match self {
            Cell::Int(value) => Ok(*value),
            other => Err(Error::corrupt(format!("a number was moved as {other:?}"))),
        }
    }

    pub fn text(&self) -> Result<&str, Error> {
        match self {
            Cell::Text(value) => Ok(value),
            other => Err(Error::corrupt(format!("a text was moved as {other:?}"))),
        }
    }
}

pub type Row = Vec<Cell>;

/// A store that can be moved. Nobody else is at work on either side while it is.
pub trait Transfer {
    fn count(&self, part: Part) -> Result<u64, Error>;

    /// The last position that was retired.
    fn retired(&self) -> Result<u64, Error>;

    /// At most so many records after a key, in the order of keys, at least one if there is one. Fewer where they are
    /// large.
    fn export(&self, part: Part, after: &[Cell], limit: usize) -> Result<Vec<Row>, Error>;

    /// The key of the last record there is.
    fn last(&self, part: Part) -> Result<Option<Vec<Cell>>, Error>;

    /// Begins to take what `from` stands for, or goes on with it; from now on nobody can open the store for anything
    /// else. Anything that is there already, or is of another move, is refused.
    fn begin_import(&self, from: u64, retired: u64) -> Result<(), Error>;

    /// Takes records, which follow those that are there. One commit.
    fn import(&self, part: Part, records: &[Row]) -> Result<(), Error>;

    /// All is there: the store can be opened.
    fn end_import(&self) -> Result<(), Error>;
}

/// The progress of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub part: Part,
    /// The records moved so far, of all parts.
    pub done: u64,
    pub total: u64,
}

/// The figures that were compared on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The number of records of each part.
    pub counts: Vec<(Part, u64)>,
    /// Over the bytes of all events, in sequence.
    pub events: Digest,
}

/// From one store into another.
#[allow(missing_debug_implementations, reason = "stores hold other people's documents")]
#[derive(Clone, Copy)]
pub struct Move<'a> {
    pub source: &'a dyn Transfer,
    pub target: &'a dyn Transfer,
    /// Records in a commit.
    pub chunk: usize,
}

impl Move<'_> {
    /// Copies everything, going on where a move of the same source was cut off, and compares both sides at the end.
    pub fn run(&self, progress: &mut dyn FnMut(Progress) -> Result<(), Error>) -> Result<Moved, Error> {
        let Move { source, target, .. } = *self;
        let retired = source.retired()?;
        let counts = Part::ALL.iter().map(|part| Ok((*part, source.count(*part)?)));
        let counts = counts.collect::<Result<Vec<_>, Error>>()?;
        target.begin_import(fingerprint(source, retired, &counts)?, retired)?;
        let total = counts.iter().map(|(_, count)| count).sum();
        let mut done = 0;
        for (part, count) in &counts {
            let mut here = target.count(*part)?;
            let mut after = target.last(*part)?.unwrap_or_else(|| part.start());
            while here < *count {
                progress(Progress { part: *part, done: done + here, total })?;
                let records = self.page(source, *part, &after, retired)?;
                let Some(last) = records.last() else { break };
                target.import(*part, &records)?;
                after = last[..part.key_len()].to_vec();
                here += records.len() as u64;
            }
            done += here;
            progress(Progress { part: *part, done, total })?;
        }
        let moved = self.compare(retired)?;
        target.end_import()?;
        Ok(moved)
    }

    /// Without positions that are retired: they name nothing.
    fn page(
        &self,
        store: &dyn Transfer,
        part: Part,
        after: &[Cell],
        retired: u64,
    ) -> Result<Vec<Row>, Error> {
        let mut records = store.export(part, after, self.chunk)?;
        if let Some(cell) = part.position() {
            for record in &mut records {
                let position = record[cell].int()?;
                if u64::try_from(position).is_ok_and(|position| position <= retired) {
                    record[cell] = Cell::Int(0);
                }
            }
        }
        Ok(records)
    }

    fn compare(&self, retired: u64) -> Result<Moved, Error> {
        let mut moved = Moved { counts: Vec::new(), events: Digest::NONE };
        for part in Part::ALL {
            let (given, taken) =
                (self.digest(self.source, part, retired)?, self.digest(self.target, part, retired)?);
            if given != taken {
                return Err(Error::corrupt(format!(
                    "{} records of {} were given with the digest {} and {} were taken with {}; empty the target and \
                     begin again",
                    given.0,
                    part.as_str(),
                    given.1,
                    taken.0,
                    taken.1
                )));
            }
            moved.counts.push((part, given.0));
            if part == Part::Event {
                moved.events = given.1;
            }
        }
        if self.target.retired()? != retired {
            return Err(Error::corrupt("the target does not begin where the source does; begin again"));
        }
        Ok(moved)
    }

    /// Returns the number of records of a part, and one digest of them all, one after the other.
    fn digest(&self, store: &dyn Transfer, part: Part, retired: u64) -> Result<(u64, Digest), Error> {
        let (mut count, mut digest, mut after) = (0, Digest::NONE, part.start());
        let mut bytes = Vec::new();
        loop {
            let records = self.page(store, part, &after, retired)?;
            let Some(last) = records.last() else { return Ok((count, digest)) };
            after = last[..part.key_len()].to_vec();
            for record in &records {
                bytes.clear();
                record.iter().for_each(|cell| cell.write(&mut bytes));
                digest = Digest::of_parts(&[&digest.0, &bytes]);
            }
            count += records.len() as u64;
        }
    }
}

/// Stands for a source as it is: whoever goes on with a move must find it unchanged.
fn fingerprint(source: &dyn Transfer, retired: u64, counts: &[(Part, u64)]) -> Result<u64, Error> {
    let mut bytes = retired.to_be_bytes().to_vec();
    for (part, count) in counts {
        bytes.extend(count.to_be_bytes());
        for cell in source.last(*part)?.into_iter().flatten() {
            cell.write(&mut bytes);
        }
    }
    let digest = Digest::of(&bytes).0;
    // Stores keep it as a signed number.
    Ok(u64::from_be_bytes(std::array::from_fn(|index| digest[index])) >> 1)
}
