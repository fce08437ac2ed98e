//! Messages to the outside: looking at them, and sending one again.

use model::admit::{Application, Door};
use model::command::Redrive;
use model::owed::{Again, DELIVERY};
use model::{Caller, Code, Name, Refusal, Submission, SubmissionId};
use store::{Page, Query, Room, Store};
use wire::api::DeliveryView;

use super::Engine;

impl Engine {
    /// A page of deliveries with what they say. The query's pipeline is not looked at.
    pub async fn deliveries(&self, query: Query) -> Result<(Vec<DeliveryView>, bool), Refusal> {
        let query = Query { pipeline: Some(DELIVERY.into()), ..query };
        self.read(move |store| {
            let Page { rows, more, .. } = store.find(&query)?;
            let (mut views, mut room) = (Vec::new(), Room::default());
            for row in &rows {
                if !room.is_left() {
                    return Ok((views, true));
                }
                views.push(shown(store, row, &mut room)?);
            }
            Ok((views, more))
        })
        .await
    }

    /// Finds who made a submission, while that is there to be read.
    pub async fn submitter_of(&self, id: SubmissionId) -> Option<Name> {
        let found = self.read(move |store| store.submission(id)).await.ok()?;
        found.map(|(row, _)| row.submitter).filter(|submitter| !submitter.is_empty())
    }

    /// Sends a message once more: a dead one goes on, one that has ended is submitted anew under the same cause and
    /// name, so that a receiver who got it knows it for a repeat.
    pub async fn replay(
        &self,
        id: SubmissionId,
        caller: Caller,
        reason: Option<String>,
    ) -> Result<DeliveryView, Refusal> {
        let found = self.read(move |store| store.submission(id)).await?;
        let (row, documents) = found
            .filter(|(row, _)| &*row.pipeline == DELIVERY)
            .ok_or_else(|| Refusal::new(Code::UnknownSubmission, format!("no delivery {id}")))?;
        let answered = match Again::of(&row)? {
            Again::Redrive => self.redrive(id, Redrive { caller, reason }).await?,
            Again::Submit => {
                let payload = documents.payload;
                let application = Application {
                    caller,
                    payload,
                    key: None,
                    priority: None,
                    not_before: None,
                    reason,
                    door: Door::Api,
                };
                self.deliver_again(application).await?
            }
        };
        self.read(move |store| shown(store, &answered.row, &mut Room::default())).await
    }
}

fn shown(store: &dyn Store, row: &Submission, room: &mut Room) -> Result<DeliveryView, store::Error> {
    let documents = store.submission(row.id)?.map(|(_, documents)| documents).unwrap_or_default();
    room.take(documents.payload.as_str().len());
    Ok(model::view::delivery(row, &documents))
}
