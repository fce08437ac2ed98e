//! The one connection that writes.

use rusqlite::{Connection, TransactionBehavior};
use store::{Changes, Clock, Committed, Error, Take, Taken};

use crate::checkpoint::Checkpoint;
use crate::connection;
use crate::encode::Scribe;
use crate::error::Fault;
use crate::files::Files;
use crate::folder::Folder;
use crate::hot::Hot;
use crate::reading;
use crate::schema;
use crate::taking;
use crate::writing::{self, Circumstances, Written};

#[derive(Debug)]
pub(crate) struct Writer {
    /// Before the connection: its own is closed first, so that the writer's is the last.
    checkpoint: Checkpoint,
    pub(crate) connection: Connection,
    files: Files,
    /// The position of the newest committed event.
    last_seq: u64,
    hot: Hot,
    scribe: Scribe,
    /// The error after which nothing more is written: what is on the disk is in doubt until a restart has read it.
    stopped: Option<Error>,
}

impl Writer {
    pub(crate) fn open(folder: &Folder) -> Result<Self, Error> {
        let database = &folder.database();
        let mut connection = connection::open_writer(database).map_err(Fault::before_commit)?;
        schema::migrate(&mut connection)?;
        let bounds = reading::bounds(&connection).map_err(Fault::before_commit)?;
        let checkpoint = Checkpoint::of(database, &mut connection).map_err(Fault::before_commit)?;
        Ok(Writer {
            connection,
            files: Files::opened(folder.path()),
            last_seq: bounds.last,
            checkpoint,
            hot: Hot::default(),
            scribe: Scribe::default(),
            stopped: None,
        })
    }

    pub(crate) fn transact(
        &mut self,
        clock: &dyn Clock,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let done = self.commit(clock, take, decide);
        if let Err(error @ Error::Corrupt(_)) = &done {
            self.stopped = Some(error.clone());
        }
        done
    }

    /// A transaction that is not committed, because of an error or because `decide` panicked, is rolled back when it
    /// is dropped.
    fn commit(
        &mut self,
        clock: &dyn Clock,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| Fault::from(error).before_commit())?;
        let now = clock.now();
        let reading = taking::read(&transaction, take, now, &mut self.hot).map_err(Fault::before_commit)?;
        let changes = decide(reading.taken);
        if changes.is_empty() {
            // Somebody looks at the clock every second, so an idle store is no longer displaced than that unnoticed.
            self.files.check()?;
            return Ok(Committed::default());
        }
        let sheets = self.scribe.write(changes);
        let with =
            Circumstances { certain: (take.certain)(now), last_seq: self.last_seq, tips: reading.tips };
        let written = writing::write(&transaction, &sheets, with).map_err(Fault::before_commit)?;
        transaction.commit().map_err(|error| Fault::from(error).while_syncing())?;
        self.files.check()?;
        let Written { committed, touched, hot } = written;
        touched.into_iter().for_each(|id| self.hot.remove(id));
        hot.into_iter().for_each(|warm| self.hot.put(warm));
        self.last_seq = self.last_seq.max(committed.last_seq);
        self.move_log();
        Ok(committed)
    }

    /// Something was committed behind the writer's back.
    pub(crate) fn moved_in(&mut self) -> Result<(), Error> {
        self.hot.clear();
        self.last_seq = reading::bounds(&self.connection).map_err(Fault::before_commit)?.last;
        self.move_log();
        Ok(())
    }

    /// The commit stands whatever happens here, so an error is the answer to the next one.
    fn move_log(&mut self) {
        if let Err(fault) = self.checkpoint.run(&self.connection)
            && let error @ Error::Corrupt(_) = fault.while_syncing()
        {
            self.stopped = Some(error);
        }
    }
}
