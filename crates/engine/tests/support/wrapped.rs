//! A store that does what another does, except where a test says otherwise.

use std::sync::Arc;

use model::Json;
use store::{Changes, Committed, Error, Layer, Store, Take, Taken};

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

impl<B: Between> Layer for Wrapped<B> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

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

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        self.between.before_registry(kind);
        self.inner.registry(kind, after, limit)
    }
}
