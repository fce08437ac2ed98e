//! The forms of a submission's page: actions, amendments, redrives, acknowledgements.

use app::Terms;
use wire::api::{AcknowledgeBody, ActBody, ClaimReviewBody, HandOverBody, NoteBody, RedriveBody};
use wire::{Json, Refusal};

use crate::actions;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::Fields;

pub(crate) async fn act(visit: Visit) -> Result<Answer, Refusal> {
    let (id, form) = (visit.id()?, visit.ask.form());
    let done = async {
        let action = form.get("action").ok_or_else(|| app::invalid("say which action to take"))?;
        let body = ActBody {
            reason: form.get("reason").map(str::to_owned),
            data: actions::data(&form)?,
            to: form.get("to").map(Into::into),
        };
        visit.app.act(id, action.into(), body, terms(&form)).await
    };
    let done = done.await;
    let back =
        form.get("back").map_or_else(|| page(&visit), |back| super::sign_in::inside(Some(back)).to_owned());
    visit.told(done, &back, "acted")
}

pub(crate) async fn amend(visit: Visit) -> Result<Answer, Refusal> {
    let (id, form) = (visit.id()?, visit.ask.form());
    let done = async {
        let patch = Json::parse(form.get("patch").unwrap_or_default());
        let patch = patch.map_err(|error| app::invalid(format!("the patch is not strict JSON: {error}")))?;
        visit.app.amend(id, patch, terms(&form)).await
    };
    let done = done.await;
    visit.told(done, &page(&visit), "amended")
}

pub(crate) async fn redrive(visit: Visit) -> Result<Answer, Refusal> {
    let reason = visit.ask.form().get("reason").map(str::to_owned);
    let done = visit.app.redrive(visit.id()?, RedriveBody { reason }).await;
    visit.told(done, &page(&visit), "redriven")
}

pub(crate) async fn acknowledge(visit: Visit) -> Result<Answer, Refusal> {
    let form = visit.ask.form();
    let body = AcknowledgeBody { note: form.get("note").map(str::to_owned) };
    let done = visit.app.acknowledge(visit.id()?, body, terms(&form)).await;
    visit.told(done, &page(&visit), "acknowledged")
}

/// Does nothing where the submission is not what its reader saw.
fn terms(form: &Fields) -> Terms {
    Terms { if_match: form.get("revision").and_then(|text| text.parse().ok()), ..Terms::default() }
}

/// Takes a review on, hands it over or lets it go.
pub(crate) async fn review(visit: Visit) -> Result<Answer, Refusal> {
    let (id, form) = (visit.id()?, visit.ask.form());
    let terms = Terms::default();
    let (done, word) = match (form.get("step"), form.get("to")) {
        (Some("claim"), _) => {
            (visit.app.claim_review(id, ClaimReviewBody::default(), terms).await, "claimed")
        }
        (Some("release"), _) => (visit.app.release_review(id, terms).await, "let-go"),
        (Some("hand-over"), Some(to)) => {
            let body = HandOverBody { to: to.into(), span: None };
            (visit.app.hand_over_review(id, body, terms).await, "handed-over")
        }
        _ => (
            Err(app::invalid(
                "say whether to take the review on, to hand it over (and to whom) or to let it go",
            )),
            "",
        ),
    };
    visit.told(done, &back(&visit, &form), word)
}

pub(crate) async fn note(visit: Visit) -> Result<Answer, Refusal> {
    let (id, form) = (visit.id()?, visit.ask.form());
    let body = NoteBody { text: form.get("text").unwrap_or_default().to_owned() };
    let done = visit.app.note(id, body, Terms::default()).await;
    visit.told(done, &back(&visit, &form), "noted")
}

/// Returns where the form was: the submission's page, or the list it stood in.
fn back(visit: &Visit, form: &Fields) -> String {
    form.get("back").map_or_else(|| page(visit), |back| super::sign_in::inside(Some(back)).to_owned())
}

fn page(visit: &Visit) -> String {
    format!("/console/submissions/{}", visit.ask.part("id"))
}
