//! Submitting: checked by whoever brings it, or aside where that takes longer; then asked of the core, many of one call
//! together.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::admit::{Admission, Application, admit, admit_any, check, enter};
use model::owed::DELIVERY;
use model::schema::Fuel;
use model::token::Bits;
use model::{Code, Name, Pipeline, Refusal};
use tokio::sync::oneshot;

use super::handle::{Engine, Within, heard, submission};
use super::queue::Request;
use crate::clock;
use crate::core::{Answered, Ask, Input, Once, Reply};

/// A call's payloads up to here are checked by the thread that answers it: larger ones take longer than a hop to
/// another thread.
const PAYLOADS_BYTES_MAX: usize = 32 << 10;

impl Engine {
    /// Submits to the newest version of a pipeline.
    pub async fn submit(
        &self,
        pipeline: &str,
        application: Application,
        once: Option<Once>,
    ) -> Result<Answered, Refusal> {
        let pipeline = self.in_force(pipeline)?;
        let mut admissions = self.admissions(&pipeline, vec![application]).await;
        let admission = admissions.pop().expect("one application, one answer")?;
        submission(self.ask(Input::from(Ask::Submit(admission.into())).once(once)).await?)
    }

    /// Submits a message to the outside that was made before.
    pub(super) async fn deliver_again(&self, application: Application) -> Result<Answered, Refusal> {
        let admission =
            self.at_the_door(admit_any(&*self.in_force(DELIVERY)?, application, &mut Fuel::shared()))?;
        submission(self.ask(Ask::Submit(admission.into()).into()).await?)
    }

    /// Submits what has these labels, and refuses the rest with what `outside` says. Each is answered in its place.
    ///
    /// Applications are asked for together, so that they share a commit as far as it has room for them, in the order
    /// given; those that want the same lane, in the order of their ties.
    pub async fn submit_within(
        &self,
        pipeline: &str,
        applications: Vec<(Application, Option<Once>)>,
        within: Within<'_>,
    ) -> Vec<Result<Answered, Refusal>> {
        let pipeline = match self.in_force(pipeline) {
            Ok(pipeline) => pipeline,
            Err(refusal) => return applications.iter().map(|_| Err(refusal.clone())).collect(),
        };
        let (applications, onces): (Vec<_>, Vec<_>) = applications.into_iter().unzip();
        let admissions = self.admissions(&pipeline, applications).await;
        let mut answers: Vec<Option<Result<Answered, Refusal>>> = Vec::with_capacity(admissions.len());
        let mut admitted = Vec::with_capacity(admissions.len());
        for (index, (admission, once)) in admissions.into_iter().zip(onces).enumerate() {
            let admission = admission.and_then(|admission| {
                let inside = (within.covers)(admission.labels());
                if inside { Ok(admission.traced(within.trace.cloned())) } else { Err((within.outside)()) }
            });
            answers.push(None);
            match admission {
                Ok(admission) => admitted.push((index, admission, once)),
                Err(refusal) => answers[index] = Some(Err(refusal)),
            }
        }
        for (index, outcome) in self.ask_together(in_turn(admitted)).await {
            answers[index] = Some(match outcome.and_then(submission) {
                Ok(answered) if answered.duplicate && !(within.covers)(&answered.row.labels) => {
                    Err(taken_elsewhere())
                }
                Err(refusal) if !self.may_be_told(&refusal, within).await => Err(taken_elsewhere()),
                answered => answered,
            });
        }
        answers.into_iter().map(|answer| answer.expect("each was refused or asked for")).collect()
    }

    /// Checks whether an application would be admitted, and submits nothing. Of what the store knows nothing is said: a key
    /// may be taken when it is submitted.
    pub async fn check_application(&self, pipeline: &str, application: Application) -> Result<(), Refusal> {
        let pipeline = self.in_force(pipeline)?;
        let mut admissions = self.admissions(&pipeline, vec![application]).await;
        admissions.pop().expect("one application, one answer").map(drop)
    }

    /// Tells whether a caller may know the open submission a refusal names, and what it says of the payload: of
    /// submissions that are not theirs they learn that a key is taken, and nothing else.
    async fn may_be_told(&self, refusal: &Refusal, within: Within<'_>) -> bool {
        let all = (within.covers)(&BTreeMap::new());
        if all || !matches!(refusal.code, Code::DuplicateKey | Code::KeyConflict) {
            return true;
        }
        let holder = refusal.details.get("submission").and_then(|id| id.as_str()?.parse().ok());
        let Some(holder) = holder else { return true };
        let found = self.read(move |store| store.submission(holder)).await;
        matches!(found, Ok(Some((row, _))) if (within.covers)(&row.labels))
    }

    /// Puts all of them into the queue at once, and waits for the answers.
    async fn ask_together(&self, admitted: Vec<(usize, Admission, Option<Once>)>) -> Vec<(usize, Reply)> {
        let (mut requests, mut waiting) = (Vec::new(), Vec::new());
        for (index, admission, once) in admitted {
            let (reply, answer) = oneshot::channel();
            let input = self.in_name(Input::from(Ask::Submit(admission.into())).once(once));
            requests.push(Request::new(input, reply));
            waiting.push((index, answer));
        }
        let pushed = self.queues.push_all(requests);
        let mut outcomes = Vec::with_capacity(waiting.len());
        for ((index, answer), pushed) in waiting.into_iter().zip(pushed) {
            let outcome = match pushed {
                Ok(()) => heard(answer.await),
                Err(refusal) => Err(refusal),
            };
            outcomes.push((index, outcome.inspect_err(|refusal| self.metrics.refused(refusal.code))));
        }
        outcomes
    }

    /// Admits what a call brings, each in its place: small ones here, the others aside.
    async fn admissions(
        &self,
        pipeline: &Arc<Pipeline>,
        applications: Vec<Application>,
    ) -> Vec<Result<Admission, Refusal>> {
        let (mut fuel, mut room) = (Fuel::little(), PAYLOADS_BYTES_MAX);
        let mut admissions = Vec::with_capacity(applications.len());
        let mut aside = Vec::new();
        for (index, mut application) in applications.into_iter().enumerate() {
            let bytes = application.payload.as_str().len();
            let checked = (bytes <= room).then(|| check(pipeline, &mut application, &mut fuel));
            room = room.saturating_sub(bytes);
            match checked {
                Some(Ok(checked)) => {
                    admissions.push(self.at_the_door(enter(pipeline, application, checked)));
                }
                Some(Err(refusal)) if refusal.code != Code::TooComplex => {
                    admissions.push(self.at_the_door(Err(refusal)));
                }
                _ => {
                    admissions.push(Err(not_looked_at()));
                    aside.push((index, application));
                }
            }
        }
        if let Some((_, first)) = aside.first() {
            let caller = first.caller.name.clone();
            let places: Vec<usize> = aside.iter().map(|(index, _)| *index).collect();
            let (engine, pipeline) = (self.clone(), pipeline.clone());
            let work = move || {
                let mut fuel = Fuel::whole();
                let admit = |(_, application)| engine.at_the_door(admit(&pipeline, application, &mut fuel));
                aside.into_iter().map(admit).collect::<Vec<_>>()
            };
            match self.aside(&caller, work).await {
                Ok(done) => places.into_iter().zip(done).for_each(|(place, one)| admissions[place] = one),
                Err(refusal) => {
                    self.metrics.refused(refusal.code);
                    places.into_iter().for_each(|place| admissions[place] = Err(refusal.clone()));
                }
            }
        }
        admissions
    }

    /// Counts a refusal at the door like one of the core, and makes what was admitted ready for the log.
    fn at_the_door(&self, admission: Result<Admission, Refusal>) -> Result<Admission, Refusal> {
        let admission = admission.inspect_err(|refusal| self.metrics.refused(refusal.code))?;
        Ok(admission.sealed(Bits(clock::entropy())))
    }
}

/// Orders those that want the same lane by their ties, in the places they had among all: where they do not fit one
/// commit, the first of them are in the first.
fn in_turn<T>(admitted: Vec<(usize, Admission, T)>) -> Vec<(usize, Admission, T)> {
    let mut by_lane: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    for (place, (_, admission, _)) in admitted.iter().enumerate() {
        if let Some(lane) = admission.lane() {
            by_lane.entry(lane.clone()).or_default().push(place);
        }
    }
    let mut target: Vec<usize> = (0..admitted.len()).collect();
    for places in by_lane.values().filter(|places| places.len() > 1) {
        let mut ordered = places.clone();
        ordered.sort_by_key(|place| admitted[*place].1.tie_order().cloned());
        for (from, to) in ordered.into_iter().zip(places) {
            target[from] = *to;
        }
    }
    let mut placed: Vec<_> = target.into_iter().zip(admitted).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, one)| one).collect()
}

fn not_looked_at() -> Refusal {
    Refusal::new(Code::Internal, "this was not looked at; nothing was submitted")
}

fn taken_elsewhere() -> Refusal {
    Refusal::new(Code::DuplicateKey, "an open submission has this key already")
}
