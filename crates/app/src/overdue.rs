//! Submissions that have missed a service level, the longest ago first.

use model::{Name, Refusal, Submission, Time};
use wire::api::OverduePage;

use crate::App;
use crate::by_time::{AT_ONCE, Look, TimePlace};
use crate::seal::Seal;

impl App {
    /// Lists what has missed a service level, in one pipeline or in all that the visitor sees.
    pub async fn overdue(
        &self,
        pipeline: Option<Name>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<OverduePage, Refusal> {
        let seal = Seal(self.engine.secret_for("overdue"));
        let after = after.map(|text| TimePlace::read(text, &seal)).transpose()?;
        let versions = self.engine.pipelines().current();
        let lists = match pipeline {
            Some(name) => {
                self.visitor.check_sees(&name)?;
                self.in_force(&versions, &name)?;
                vec![name]
            }
            None => {
                let names = versions.all().map(|pipeline| pipeline.name.clone());
                names.filter(|name| self.visitor.sees(name)).collect()
            }
        };
        let most = if self.visitor.labels.is_empty() { limit + 1 } else { AT_ONCE };
        let mut look = Look { lists, due: missed_at, until: self.engine.now(), after, most };
        let visitor = self.visitor.clone();
        let page = self.engine.read(move |store| look.page(store, limit, &|row| visitor.sees_row(row)));
        let page = page.await?;
        let next = page.next.map(|next| next.shown(&seal));
        Ok(OverduePage { submissions: page.rows.iter().map(|row| self.listed(row)).collect(), next })
    }
}

fn missed_at(row: &Submission) -> Option<Time> {
    row.clocks.iter().map(|clock| clock.due_at).min()
}
