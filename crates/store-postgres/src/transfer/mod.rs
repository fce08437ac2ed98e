//! Moving all of a store. Most tables are copied as they are; events, rows and tips have positions where this store has
//! batches.

mod giving;
mod tables;
mod taking;

use store::Error;
use store::transfer::{Cell, Part, Row, Transfer};

use crate::PostgresStore;

impl Transfer for PostgresStore {
    fn count(&self, part: Part) -> Result<u64, Error> {
        self.read(giving::count(&self.writers, part))
    }

    fn retired(&self) -> Result<u64, Error> {
        self.read(giving::retired(&self.writers))
    }

    fn export(&self, part: Part, after: &[Cell], limit: usize) -> Result<Vec<Row>, Error> {
        self.read(giving::page(&self.writers, part, after, limit))
    }

    fn last(&self, part: Part) -> Result<Option<Vec<Cell>>, Error> {
        self.read(giving::last(&self.writers, part))
    }

    fn begin_import(&self, from: u64, retired: u64) -> Result<(), Error> {
        self.read(taking::begin(&self.writers, from, retired))
    }

    fn import(&self, part: Part, records: &[Row]) -> Result<(), Error> {
        self.read(taking::import(&self.writers, part, records))
    }

    fn end_import(&self) -> Result<(), Error> {
        self.read(taking::end(&self.writers))
    }
}
