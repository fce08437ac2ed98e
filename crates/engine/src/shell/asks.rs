//! The questions that callers put to the core, one method each.

use model::command::{Acknowledge, Act, Amend, Note, Redrive, Review};
use model::entry::EntryChange;
use model::{Command, LeaseToken, Refusal, SubmissionId};

use super::Engine;
use super::handle::{submission, unexpected};
use crate::core::{Answered, Ask, Cursor, CursorName, Input, MoveCursor, Once, Output, Reply};
use crate::holds::Hold;

impl Engine {
    pub async fn act(&self, id: SubmissionId, act: Act, once: Option<Once>) -> Result<Answered, Refusal> {
        submission(self.ask(Input::from(Ask::Tell(id, Command::Act(act))).once(once)).await?)
    }

    pub async fn amend(
        &self,
        id: SubmissionId,
        amend: Amend,
        once: Option<Once>,
    ) -> Result<Answered, Refusal> {
        submission(self.ask(Input::from(Ask::Tell(id, Command::Amend(amend))).once(once)).await?)
    }

    /// Sets a dead letter going again.
    pub async fn redrive(&self, id: SubmissionId, redrive: Redrive) -> Result<Answered, Refusal> {
        submission(self.ask(Ask::Tell(id, Command::Redrive(redrive)).into()).await?)
    }

    /// Says that somebody has looked into how a submission ended.
    pub async fn acknowledge(
        &self,
        id: SubmissionId,
        acknowledge: Acknowledge,
        once: Option<Once>,
    ) -> Result<Answered, Refusal> {
        submission(self.ask(Input::from(Ask::Tell(id, Command::Acknowledge(acknowledge))).once(once)).await?)
    }

    /// Disposes of a review.
    pub async fn review(
        &self,
        id: SubmissionId,
        review: Review,
        once: Option<Once>,
    ) -> Result<Answered, Refusal> {
        submission(self.ask(Input::from(Ask::Tell(id, Command::Review(review))).once(once)).await?)
    }

    /// Writes a note.
    pub async fn note(&self, id: SubmissionId, note: Note, once: Option<Once>) -> Result<Answered, Refusal> {
        submission(self.ask(Input::from(Ask::Tell(id, Command::Note(note))).once(once)).await?)
    }

    pub async fn hold(&self, hold: Hold) -> Result<Hold, Refusal> {
        held(self.ask(Ask::Hold(Box::new(hold)).into()).await?)
    }

    pub async fn release(&self, id: &str) -> Result<Hold, Refusal> {
        held(self.ask(Ask::Release(id.into()).into()).await?)
    }

    /// Moves the position of a named reader of the feed.
    pub async fn move_cursor(&self, cursor: MoveCursor) -> Result<Cursor, Refusal> {
        cursor_of(self.ask(Ask::MoveCursor(cursor).into()).await?)
    }

    /// Lets go of the position of a named reader of the feed.
    pub async fn drop_cursor(&self, cursor: CursorName) -> Result<Cursor, Refusal> {
        cursor_of(self.ask(Ask::DropCursor(cursor).into()).await?)
    }

    /// Changes an entry of a system, if it is what is expected.
    pub async fn put_entry(&self, change: EntryChange) -> Result<(), Refusal> {
        self.ask(Ask::PutEntry(Box::new(change)).into()).await.map(|_| ())
    }

    /// Settles or renews a lease.
    pub async fn settle(&self, token: LeaseToken, command: Command) -> Reply {
        self.ask(Ask::Tell(token.submission, command).into()).await
    }
}

fn held(output: Output) -> Result<Hold, Refusal> {
    match output {
        Output::Hold(hold) => Ok(*hold),
        _ => Err(unexpected()),
    }
}

fn cursor_of(output: Output) -> Result<Cursor, Refusal> {
    match output {
        Output::Cursor(cursor) => Ok(cursor),
        _ => Err(unexpected()),
    }
}
