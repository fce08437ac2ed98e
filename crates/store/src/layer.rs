//! A store around another.

use model::{Documents, Json, Name, Submission, SubmissionId, Time};

use crate::{
    Changes, Committed, Count, DeadKey, Error, Feed, FeedPage, Hint, LaneKey, Late, LeafPage, Line, Oldest,
    Page, Query, Recorded, SlotEntry, Store, Take, Taken,
};

/// A store that does what another does, except where it has a method of its own: faults, delays, narrower pages.
///
/// Whoever implements it is a [`Store`]; methods have the names and the meaning they have there.
pub trait Layer: Send + Sync + std::fmt::Debug {
    fn inner(&self) -> &dyn Store;

    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.inner().transact(take, decide)
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        self.inner().submission(id)
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.inner().find(query)
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.inner().history(id, after, limit)
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        self.inner().feed(feed)
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        self.inner().leaves(after, limit)
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        self.inner().act(series, revision)
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        self.inner().tile(level, index)
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        self.inner().line(lane, limit)
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        self.inner().counts()
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        self.inner().oldest()
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        self.inner().late(late)
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.inner().parked(after, limit)
    }

    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error> {
        self.inner().dead(after, limit)
    }

    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error> {
        self.inner().slots(after, limit)
    }

    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        self.inner().lanes(pipeline, after, limit)
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.inner().registry(kind, after, limit)
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.inner().registry_back(kind, upto, limit)
    }
}

impl<L: Layer> Store for L {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        Layer::transact(self, take, decide)
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        Layer::submission(self, id)
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        Layer::find(self, query)
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        Layer::history(self, id, after, limit)
    }

    fn feed(&self, feed: &Feed) -> Result<FeedPage, Error> {
        Layer::feed(self, feed)
    }

    fn leaves(&self, after: u64, limit: usize) -> Result<LeafPage, Error> {
        Layer::leaves(self, after, limit)
    }

    fn act(&self, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>, Error> {
        Layer::act(self, series, revision)
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Error> {
        Layer::tile(self, level, index)
    }

    fn line(&self, lane: &LaneKey, limit: usize) -> Result<Line, Error> {
        Layer::line(self, lane, limit)
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        Layer::counts(self)
    }

    fn oldest(&self) -> Result<Vec<Oldest>, Error> {
        Layer::oldest(self)
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        Layer::late(self, late)
    }

    fn parked(&self, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        Layer::parked(self, after, limit)
    }

    fn dead(&self, after: Option<&DeadKey>, limit: usize) -> Result<Vec<(DeadKey, u64)>, Error> {
        Layer::dead(self, after, limit)
    }

    fn slots(&self, after: Option<&SlotEntry>, limit: usize) -> Result<Vec<SlotEntry>, Error> {
        Layer::slots(self, after, limit)
    }

    fn lanes(&self, pipeline: &str, after: &str, limit: usize) -> Result<Vec<Name>, Error> {
        Layer::lanes(self, pipeline, after, limit)
    }

    fn bytes(&self) -> Result<Option<u64>, Error> {
        self.inner().bytes()
    }

    fn backed_up_at(&self) -> Result<Option<Time>, Error> {
        self.inner().backed_up_at()
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        Layer::registry(self, kind, after, limit)
    }

    fn registry_back(&self, kind: &str, upto: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        Layer::registry_back(self, kind, upto, limit)
    }

    fn is_shared(&self) -> bool {
        self.inner().is_shared()
    }

    fn announce(&self, hint: &Hint) {
        self.inner().announce(hint);
    }

    fn listen(&self, heard: Box<dyn Fn(Hint) + Send + Sync>) {
        self.inner().listen(heard);
    }
}
