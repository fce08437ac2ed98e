//! Requests that never became a submission: sent by somebody who did not wait for the answer, under an id they know, so
//! the answer is an event. The only one under that id, and the whole of its history.

use crate::Name;
use crate::actor::{Caller, Right};
use crate::context::{Chance, Context};
use crate::digest::Digest;
use crate::event::{Change, Detail, Event, Leaf, NewDocuments, Pseudonym, Salts};
use crate::json::Json;
use crate::pipeline::Pipeline;
use crate::refusal::Refusal;
use crate::submission::{Failure, SubmissionId};

/// A request to submit, as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct Unborn<'a> {
    pub id: SubmissionId,
    pub caller: &'a Caller,
    /// The pipeline it names, which may not exist.
    pub pipeline: &'a Name,
    /// The pipeline of that name, where there is one.
    pub definition: Option<&'a Pipeline>,
    /// The payload as it came, which may be no JSON.
    pub payload: &'a str,
}

/// The reason why there is no submission.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'a> {
    Refused(&'a Refusal),
    /// An open submission with its key stands for it.
    Merged(SubmissionId),
}

/// The words for the result in the leaf, where a submission's leaf names a state.
pub const REFUSED: &str = "refused";
pub const MERGED: &str = "merged";

/// The event that says so.
#[must_use]
pub fn unborn(sent: Unborn<'_>, fate: Fate<'_>, context: &Context) -> Event {
    let mut chance = Chance::new(context.seed);
    let (to, trigger, metadata, change) = match fate {
        Fate::Refused(refusal) => {
            let error = Failure { code: refusal.code.as_str().into(), message: refusal.message.clone() };
            let metadata = serde_json::json!({
                "pipeline": &**sent.pipeline, "code": &*error.code, "message": error.message,
            });
            let trigger = error.code.clone();
            (REFUSED, trigger, metadata, Change::Refused { pipeline: sent.pipeline.clone(), error })
        }
        Fate::Merged(into) => {
            let metadata = serde_json::json!({ "pipeline": &**sent.pipeline, "submission": into });
            (MERGED, "duplicate".into(), metadata, Change::Merged { pipeline: sent.pipeline.clone(), into })
        }
    };
    let metadata = Json::from_stored(&metadata.to_string());
    let (payload_salt, metadata_salt) = (chance.bits(), chance.bits());
    let actor = sent.caller.actor();
    let leaf = Leaf {
        format: Leaf::FORMAT,
        kind: change.kind(),
        definition: sent.definition.map_or(Digest::NONE, |pipeline| pipeline.digest),
        submission: sent.id,
        revision: 1,
        previous: None,
        at: context.now,
        from: None,
        to: to.into(),
        trigger,
        actor: Pseudonym::of(&actor, &context.pseudonyms),
        right: Right::Role(sent.caller.role),
        held: false,
        attempt: 1,
        payload: Some(Digest::salted(payload_salt, sent.payload)),
        output: None,
        metadata: Some(Digest::salted(metadata_salt, metadata.as_str())),
    };
    let salts = Salts { payload: Some(payload_salt), output: None, metadata: Some(metadata_salt) };
    let detail = Detail { actor: actor.name, metadata: Some(metadata), salts, notified: Vec::new(), change };
    Event { leaf, detail, documents: NewDocuments::default(), bytes: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Code;
    use crate::role::Role;
    use crate::time::Time;

    fn context() -> Context {
        Context {
            now: Time::from_millis(1_000),
            reachable_since: Time::EPOCH,
            hold: None,
            lane_free: false,
            arrivals: 0,
            key_holder: None,
            slots: [].into(),
            settler: None,
            seed: [7; 32],
            tank: crate::schema::Tank::full(),
            pseudonyms: [9; 32],
            links: None,
        }
    }

    #[test]
    fn a_refusal_is_one_event_that_says_why_and_hides_what_was_sent() {
        let (caller, pipeline) = (Caller::new("sql:ada", Role::Submitter), Name::from("nowhere"));
        let id = SubmissionId::new(Time::from_millis(5), [3; 10]);
        let payload = "{\"secret\": tru}";
        let sent = Unborn { id, caller: &caller, pipeline: &pipeline, definition: None, payload };
        let refusal = Refusal::new(Code::InvalidJson, "it ends too early");
        let event = unborn(sent, Fate::Refused(&refusal), &context());
        assert_eq!((event.leaf.submission, event.leaf.revision, &event.leaf.from), (id, 1, &None));
        assert_eq!((&*event.leaf.to, &*event.leaf.trigger), ("refused", "invalid-json"));
        assert_eq!(event.leaf.definition, Digest::NONE);
        assert_eq!(event.error().map(|error| &*error.message), Some("it ends too early"));
        assert_eq!(event.unborn_pipeline(), Some(&pipeline));
        let (leaf, detail) = event.to_stored();
        assert_eq!(Event::from_stored(&leaf, &detail).ok(), Some(event.clone()));
        assert!(!String::from_utf8_lossy(&leaf).contains("secret"));
        let salt = event.detail.salts.payload.expect("the payload is salted");
        assert_eq!(event.leaf.payload, Some(Digest::of_parts(&[&salt.0, payload.as_bytes()])));
    }

    #[test]
    fn what_was_merged_names_the_submission_that_stands_for_it() {
        let (caller, pipeline) = (Caller::new("sql:ada", Role::Submitter), Name::from("plain"));
        let (id, into) = (SubmissionId::NIL, SubmissionId::new(Time::from_millis(5), [3; 10]));
        let sent = Unborn { id, caller: &caller, pipeline: &pipeline, definition: None, payload: "{}" };
        let event = unborn(sent, Fate::Merged(into), &context());
        assert_eq!((&*event.leaf.to, &*event.leaf.trigger), ("merged", "duplicate"));
        assert_eq!(event.detail.change, Change::Merged { pipeline, into });
        assert!(event.detail.metadata.is_some_and(|metadata| metadata.as_str().contains(&into.to_string())));
    }
}
