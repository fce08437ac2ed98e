//! A store that does what another does, except where a test says otherwise.

use std::sync::Arc;

use model::{Documents, Json, Name, Submission, SubmissionId};
use store::{
    Changes, Committed, Count, Error, Feed, FeedPage, LaneKey, Late, LeafPage, Line, Oldest, Page, Query,
    Recorded, Store, Take, Taken,
};

/// The calls a test may get in the way of.
pub(crate) trait Between: Send + Sync + std::fmt::Debug {
    fn before_transact(&self, _take: &Take<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn before_registry(&self, _kind: &str) {}

    /// Sees what was read for a decision.
    fn taken(&self, _taken: &Taken) {}

    /// Sees what is about to be committed.
    fn decided(&self, _changes: &Changes) {}
}

#[derive(Debug)]
pub(crate) struct Wrapped<B> {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) between: B,
}

impl<B: Between> Store for Wrapped<B> {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.between.before_transact(take)?;
        self.inner.transact(take, &mut |taken| {
            self.between.taken(&taken);
            let changes = decide(taken);
            self.between.decided(&changes);
            changes
        })
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        self.inner.submission(id)
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.inner.find(query)
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.inner.history(id, after, limit)
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        self.inner.feed(feed)
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        self.inner.leaves(after, limit)
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.inner.act(series, revision)
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        self.inner.tile(level, index)
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        self.inner.line(lane, limit)
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        self.inner.counts()
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        self.inner.oldest()
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        self.inner.late(late)
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.inner.parked(after, limit)
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.between.before_registry(kind);
        self.inner.registry(kind, after, limit)
    }
}
