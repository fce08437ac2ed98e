//! The bounded queues before the core.
//!
//! Three queues are filled by callers; the fourth, internal work, is pulled from the store and cannot overflow. Each
//! has a reserved share of every batch, so a flood of submissions cannot keep a worker from finishing: what is asked
//! of the engine shrinks before what it has promised does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::core::{Ask, ClaimMany, Input, Reply};
use model::{Code, Command, Name, Refusal};

/// An input and whoever waits for its answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) input: Input,
    pub(super) reply: oneshot::Sender<Reply>,
    pub(super) stays: Stays,
}

impl Request {
    pub(super) fn new(input: Input, reply: oneshot::Sender<Reply>) -> Request {
        Request { input, reply, stays: Stays::No }
    }

    fn claim(&self) -> Option<&ClaimMany> {
        match &self.input.ask {
            Ask::Claim(claim) => Some(claim),
            _ => None,
        }
    }

    /// Sets whether a claim looks at its queue, or only takes what the batch brings.
    fn look(&mut self, looks: bool) {
        if let Ask::Claim(claim) = &mut self.input.ask {
            claim.arriving = !looks;
        }
    }

    /// Nobody would do the work.
    fn is_idle(&self) -> bool {
        self.reply.is_closed() && self.claim().is_some()
    }
}

/// The rule for a claim that finds nothing: whether it stays with the engine until there is something for it.
#[derive(Debug)]
pub(super) enum Stays {
    No,
    /// After a first look. Told when that is done.
    Looks(oneshot::Sender<()>),
    Waits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueueClass {
    /// Finish, fail, snooze, give back, renew: refusing these would lose work that is done.
    Settlements,
    /// Actions, claims, definitions, and whatever is asked rarely.
    Actions,
    /// New work: the first to be shed.
    Submits,
}

impl QueueClass {
    const ALL: [QueueClass; 3] = [QueueClass::Settlements, QueueClass::Actions, QueueClass::Submits];

    fn of(ask: &Ask) -> QueueClass {
        match ask {
            Ask::Submit(_) => QueueClass::Submits,
            Ask::Tell(
                _,
                Command::Act(_)
                | Command::Amend(_)
                | Command::Redrive(_)
                | Command::Acknowledge(_)
                | Command::Review(_)
                | Command::Note(_)
                | Command::Migrate(_),
            ) => QueueClass::Actions,
            Ask::Tell(..) => QueueClass::Settlements,
            _ => QueueClass::Actions,
        }
    }

    fn name(self) -> &'static str {
        match self {
            QueueClass::Settlements => "settlements",
            QueueClass::Actions => "actions",
            QueueClass::Submits => "submits",
        }
    }

    /// Returns the part of a batch of `size` that is this lane's even when the others want more.
    fn share(self, size: usize) -> usize {
        match self {
            QueueClass::Settlements => size / 2,
            QueueClass::Actions | QueueClass::Submits => size / 4,
        }
    }

    /// Returns the number of requests that may wait.
    fn capacity(self) -> usize {
        match self {
            QueueClass::Settlements => 32_768,
            QueueClass::Actions => 8_192,
            QueueClass::Submits => 8_192,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Queues {
    inner: Mutex<Inner>,
    filled: Condvar,
}

/// One of the queues, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueReport {
    pub name: &'static str,
    pub waiting: usize,
    pub capacity: usize,
    /// Sent away since the start because it was full.
    pub shed: u64,
}

#[derive(Debug, Default)]
struct Inner {
    classes: [VecDeque<Request>; 3],
    /// Claims that found nothing. They come along with every batch for what it brings, and go back if that is nothing.
    waiting: Vec<Request>,
    shed: [u64; 3],
    /// No more is taken in; what waits is still done.
    closed: bool,
    /// The number of requests that have to be there before the thread is woken.
    wanted: usize,
}

/// The requests a batch may wait for once there is something to do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct More {
    /// The number of requests that are likely to come.
    pub(super) expected: usize,
    pub(super) linger: Duration,
}

/// The requests that the thread got to do.
pub(super) struct Drawn {
    pub(super) requests: Vec<Request>,
    pub(super) waiting: Vec<Request>,
    /// Closed and empty: time to go.
    pub(super) over: bool,
}

impl Queues {
    pub(super) fn push(&self, request: Request) -> Result<(), Refusal> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.push(request)?;
        let enough = inner.len() >= inner.wanted;
        drop(inner);
        if enough {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// All of them at once, one after the other; those there is no room for are refused. They are of one kind.
    pub(super) fn push_all(&self, requests: Vec<Request>) -> Vec<Result<(), Refusal>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let pushed = requests.into_iter().map(|request| inner.push(request)).collect();
        let enough = inner.len() >= inner.wanted;
        drop(inner);
        if enough {
            self.filled.notify_one();
        }
        pushed
    }

    pub(super) fn report(&self) -> Vec<QueueReport> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let report = |lane: QueueClass| QueueReport {
            name: lane.name(),
            waiting: inner.classes[lane as usize].len(),
            capacity: lane.capacity(),
            shed: inner.shed[lane as usize],
        };
        QueueClass::ALL.map(report).into()
    }

    pub(super) fn close(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.filled.notify_one();
    }

    /// Waits for work, at most `patience`, and takes a batch of it.
    ///
    /// Once there is some it waits a little for more: those who were answered a moment ago are about to come back, and a
    /// batch of all of them costs one sync instead of two.
    pub(super) fn next(&self, size: usize, patience: Duration, more: More) -> Drawn {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = self.wait(inner, 1, patience);
        let some = !inner.closed && inner.len() > 0;
        let mut inner = if some { self.wait(inner, more.expected.min(size), more.linger) } else { inner };
        let mut requests = inner.draw(size);
        requests.retain(|request| !request.is_idle());
        let waiting = std::mem::take(&mut inner.waiting);
        Drawn { over: inner.closed && requests.is_empty() && inner.len() == 0, requests, waiting }
    }

    /// Blocks until `wanted` requests are queued, `patience` has passed, or the queue is closed.
    fn wait<'a>(
        &self,
        mut inner: MutexGuard<'a, Inner>,
        wanted: usize,
        patience: Duration,
    ) -> MutexGuard<'a, Inner> {
        inner.wanted = wanted;
        let short = |inner: &mut Inner| !inner.closed && inner.len() < wanted;
        let waited = self.filled.wait_timeout_while(inner, patience, short);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.wanted = usize::MAX;
        inner
    }

    /// Has claims that wait look at their queues, as many as there is work for. Those that take only some of a task's work
    /// all do: only they can tell whether it is theirs.
    pub(super) fn call(&self, ready: &BTreeMap<Name, usize>) {
        if ready.is_empty() {
            return;
        }
        let mut left = ready.clone();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let called: Vec<_> = inner.waiting.extract_if(.., |request| is_called(request, &mut left)).collect();
        if called.is_empty() {
            return;
        }
        for mut request in called {
            request.look(true);
            inner.classes[QueueClass::Actions as usize].push_back(request);
        }
        let enough = inner.len() >= inner.wanted;
        drop(inner);
        if enough {
            self.filled.notify_one();
        }
    }

    /// Counts the claims that wait, between one batch and the next.
    pub(super) fn waiting(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).waiting.len()
    }

    /// Puts claims back among those that wait, at the front: they have waited longer.
    pub(super) fn go_on_waiting(&self, mut requests: Vec<Request>) {
        requests.retain(|request| !request.reply.is_closed());
        requests.iter_mut().for_each(|request| request.look(false));
        let waiting = &mut self.inner.lock().unwrap_or_else(PoisonError::into_inner).waiting;
        requests.append(waiting);
        *waiting = requests;
    }
}

/// Takes what the claim would take off what is left.
fn is_called(request: &Request, left: &mut BTreeMap<Name, usize>) -> bool {
    let Some(claim) = request.claim() else { return false };
    if !claim.pipelines.is_empty() || !claim.labels.is_empty() {
        return claim.tasks.iter().any(|task| left.contains_key(task));
    }
    let some = claim.tasks.iter().find(|task| left.get(*task).is_some_and(|count| *count > 0));
    let count = some.and_then(|task| left.get_mut(task));
    count.map(|count| *count = count.saturating_sub(claim.max)).is_some()
}

impl Inner {
    fn push(&mut self, request: Request) -> Result<(), Refusal> {
        let lane = QueueClass::of(&request.input.ask);
        if self.closed {
            return Err(Refusal::new(Code::Draining, "the server is stopping; try again in a moment"));
        }
        let queue = &mut self.classes[lane as usize];
        if queue.len() >= lane.capacity() {
            self.shed[lane as usize] += 1;
            return Err(Refusal::new(Code::Overloaded, "too much is waiting; try again in a second"));
        }
        queue.push_back(request);
        Ok(())
    }

    fn len(&self) -> usize {
        self.classes.iter().map(VecDeque::len).sum()
    }

    /// Each lane its share, then the rest in order of importance. Settlements come first in the batch.
    fn draw(&mut self, size: usize) -> Vec<Request> {
        let mut counts = QueueClass::ALL.map(|lane| self.classes[lane as usize].len().min(lane.share(size)));
        let mut left = size - counts.iter().sum::<usize>();
        for lane in QueueClass::ALL {
            let more = (self.classes[lane as usize].len() - counts[lane as usize]).min(left);
            counts[lane as usize] += more;
            left -= more;
        }
        let mut requests = Vec::with_capacity(counts.iter().sum());
        for lane in QueueClass::ALL {
            requests.extend(self.classes[lane as usize].drain(..counts[lane as usize]));
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::command::{Renew, Snooze};
    use model::token::Bits;
    use model::{LeaseToken, Millis, SubmissionId, Time};

    fn settlement() -> Ask {
        let submission = SubmissionId::new(Time::from_millis(0), [0; 10]);
        let token = LeaseToken { submission, lease_no: 1, bits: Bits([0; 16]) };
        Ask::Tell(submission, Command::Snooze(Snooze { token, span: Millis::ZERO }))
    }

    fn claim() -> Ask {
        let (tasks, pipelines, labels) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ask::Claim(ClaimMany {
            worker: "w".into(),
            tasks,
            pipelines,
            labels,
            max: 1,
            arriving: false,
            only: None,
            lease: None,
        })
    }

    /// Somebody asks this and waits for the answer.
    fn ask(queues: &Queues, ask: Ask) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        queues.push(Request::new(ask.into(), reply)).unwrap();
        answer
    }

    fn refused(queues: &Queues, ask: Ask) -> Code {
        queues.push(Request::new(ask.into(), oneshot::channel().0)).unwrap_err().code
    }

    #[test]
    fn a_flood_of_claims_leaves_settlements_their_share() {
        let queues = Queues::default();
        let _claims: Vec<_> = (0..100).map(|_| ask(&queues, claim())).collect();
        let _settlements: Vec<_> = (0..10).map(|_| ask(&queues, settlement())).collect();
        let batch = queues.next(20, Duration::ZERO, More::default());
        assert_eq!(batch.requests.len(), 20);
        let settled = batch
            .requests
            .iter()
            .filter(|request| QueueClass::of(&request.input.ask) == QueueClass::Settlements)
            .count();
        assert_eq!(settled, 10);
    }

    #[test]
    fn an_unused_share_goes_to_who_wants_it() {
        let queues = Queues::default();
        let _claims: Vec<_> = (0..100).map(|_| ask(&queues, claim())).collect();
        assert_eq!(queues.next(20, Duration::ZERO, More::default()).requests.len(), 20);
    }

    #[test]
    fn a_full_queue_refuses_and_the_others_do_not() {
        let queues = Queues::default();
        let _claims: Vec<_> = (0..QueueClass::Actions.capacity()).map(|_| ask(&queues, claim())).collect();
        assert_eq!(refused(&queues, claim()), Code::Overloaded);
        let _settlement = ask(&queues, settlement());
        let told: Vec<_> = queues.report().iter().map(|queue| (queue.waiting, queue.shed)).collect();
        assert_eq!(told, [(1, 0), (QueueClass::Actions.capacity(), 1), (0, 0)]);
    }

    #[test]
    fn a_closed_queue_hands_out_what_it_has_and_then_ends() {
        let queues = Queues::default();
        let _settlement = ask(&queues, settlement());
        queues.close();
        assert_eq!(refused(&queues, settlement()), Code::Draining);
        let batch = queues.next(10, Duration::from_secs(60), More::default());
        assert_eq!((batch.requests.len(), batch.over), (1, false));
        assert!(queues.next(10, Duration::from_secs(60), More::default()).over);
    }

    #[test]
    fn a_batch_waits_for_those_who_are_about_to_come_back() {
        let queues = Queues::default();
        drop(ask(&queues, settlement()));
        let more = More { expected: 3, linger: Duration::from_secs(60) };
        std::thread::scope(|scope| {
            let batch = scope.spawn(|| queues.next(10, Duration::from_secs(60), more));
            (0..2).for_each(|_| drop(ask(&queues, settlement())));
            assert_eq!(batch.join().unwrap().requests.len(), 3);
        });
        drop(ask(&queues, settlement()));
        let nobody = More { expected: 3, linger: Duration::from_millis(1) };
        assert_eq!(queues.next(10, Duration::from_secs(60), nobody).requests.len(), 1, "and not for ever");
    }

    fn waiting(
        queues: &Queues,
        claims: impl IntoIterator<Item = ClaimMany>,
    ) -> Vec<oneshot::Receiver<Reply>> {
        let (requests, answers) = claims
            .into_iter()
            .map(|claim| {
                let (reply, answer) = oneshot::channel();
                (Request { stays: Stays::Waits, ..Request::new(Ask::Claim(claim).into(), reply) }, answer)
            })
            .unzip();
        queues.go_on_waiting(requests);
        answers
    }

    fn wanting(task: &str, max: usize) -> ClaimMany {
        let (tasks, pipelines, labels) = (vec![task.into()], Vec::new(), BTreeMap::new());
        ClaimMany {
            worker: "w".into(),
            tasks,
            pipelines,
            labels,
            max,
            arriving: false,
            only: None,
            lease: None,
        }
    }

    /// Returns whether each claim of the next batch looks at its queue, and what the claim asks for.
    fn next_claims(queues: &Queues) -> Vec<(bool, Name, usize)> {
        let batch = queues.next(20, Duration::ZERO, More::default());
        let claims = batch.requests.iter().chain(&batch.waiting).filter_map(Request::claim);
        claims.map(|claim| (!claim.arriving, claim.tasks[0].clone(), claim.max)).collect()
    }

    #[test]
    fn as_many_look_as_there_is_work_for_and_the_others_go_on_waiting() {
        let queues = Queues::default();
        let choosy = ClaimMany { pipelines: vec!["p".into()], ..wanting("a", 5) };
        let _answers = waiting(
            &queues,
            [wanting("a", 1), wanting("b", 1), wanting("a", 2), wanting("a", 3), choosy, wanting("a", 4)],
        );
        queues.call(&[("a".into(), 2)].into());
        let expected = [
            (true, "a", 1),
            (true, "a", 2),
            (true, "a", 5),
            (false, "b", 1),
            (false, "a", 3),
            (false, "a", 4),
        ];
        assert_eq!(next_claims(&queues), expected.map(|(looks, task, max)| (looks, task.into(), max)));
    }

    #[test]
    fn a_claim_whose_caller_went_away_is_not_looked_after() {
        let queues = Queues::default();
        drop(ask(&queues, claim()));
        let answer = ask(&queues, Ask::Claim(wanting("a", 1)));
        let answers = waiting(&queues, [wanting("b", 1)]);
        assert_eq!(next_claims(&queues), [(true, "a".into(), 1), (false, "b".into(), 1)]);
        drop((answer, answers));
    }

    #[test]
    fn a_renewal_is_a_settlement() {
        let submission = SubmissionId::new(Time::from_millis(0), [0; 10]);
        let token = LeaseToken { submission, lease_no: 1, bits: Bits([0; 16]) };
        let ask = Ask::Tell(submission, Command::Renew(Renew { token, progress: None }));
        assert_eq!(QueueClass::of(&ask), QueueClass::Settlements);
    }
}
