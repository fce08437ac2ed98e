//! Messages to the outside: listing them, and sending one again.

use model::owed::{Channel, DELIVERY};
use model::{Refusal, Status, SubmissionId};
use store::Query;
use wire::address;
use wire::api::{DeliveryPage, DeliveryView, RedriveBody};

use crate::App;

/// A choice of messages to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryQuery {
    /// The submission that the messages are about.
    pub submission: Option<SubmissionId>,
    pub channel: Option<Channel>,
    pub status: Option<Status>,
    pub limit: usize,
    pub after: Option<SubmissionId>,
}

impl App {
    /// Lists messages, the newest first.
    pub async fn deliveries(&self, query: DeliveryQuery) -> Result<DeliveryPage, Refusal> {
        self.visitor.check_sees(DELIVERY)?;
        let labels = [
            ("submission", query.submission.map(|id| id.to_string().into())),
            ("channel", query.channel.map(|channel| channel.as_str().into())),
        ];
        let labels = labels.into_iter().filter_map(|(label, value)| Some((label.into(), value?)));
        let mut query = Query {
            status: query.status,
            after: query.after,
            limit: query.limit,
            labels: labels.collect(),
            ..Query::default()
        };
        self.visitor.narrow_labels(&mut query.labels)?;
        let (mut deliveries, more) = self.engine.deliveries(query).await?;
        if !self.visitor.delivers() {
            for to in deliveries.iter_mut().filter_map(|delivery| delivery.to.as_mut()) {
                *to = address::shown(to);
            }
        }
        let next = deliveries.last().filter(|_| more).map(|last| last.id);
        Ok(DeliveryPage { deliveries, next })
    }

    /// Sends a message again.
    pub async fn replay(&self, id: SubmissionId, body: RedriveBody) -> Result<DeliveryView, Refusal> {
        self.check_sees(id).await?;
        self.engine.replay(id, self.visitor.caller.clone(), body.reason).await
    }
}
