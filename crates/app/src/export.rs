//! Everything that a filter finds, page after page.

use model::Refusal;
use store::Query;
use wire::api::SubmissionView;

use crate::App;

/// The rows of a page: what is held in memory of an export at a time.
const PAGE: usize = 200;

/// An export under way: it goes from the newest to the oldest, and holds one page at a time. What is submitted meanwhile is
/// newer than its beginning and not part of it; what moves meanwhile may be passed by or met where it is now.
#[derive(Debug)]
pub struct Export {
    app: App,
    query: Option<Query>,
}

impl App {
    /// Begins to export what a filter finds. The filter's own page does not count. The first look is made by the first call
    /// of [`Export::next`].
    #[must_use]
    pub fn export(&self, query: Query) -> Export {
        Export { app: self.clone(), query: Some(Query { after: None, limit: PAGE, ..query }) }
    }
}

impl Export {
    /// Returns the next submissions, without their documents; `None` at the end. A page of a narrow filter may have none.
    pub async fn next(&mut self) -> Result<Option<Vec<SubmissionView>>, Refusal> {
        let Some(query) = self.query.clone() else { return Ok(None) };
        let page = self.app.list(query).await?;
        match (page.next, &mut self.query) {
            (Some(next), Some(query)) => query.after = Some(next),
            _ => self.query = None,
        }
        Ok(Some(page.submissions))
    }
}
