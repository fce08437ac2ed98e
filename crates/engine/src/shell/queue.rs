//! The bounded queues before the core.
//!
//! Three queues are filled by callers; the fourth, internal work, is pulled from the store and cannot overflow. Each
//! has a reserved share of every batch, so a flood of submissions cannot keep a worker from finishing: what is asked
//! of the engine shrinks before what it has promised does.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::core::{Ask, Input, Outcome};
use model::{Code, Command, Refusal};

/// An input and whoever waits for its answer.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) input: Input,
    pub(super) reply: oneshot::Sender<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// Finish, fail, snooze, renew: refusing these would lose work that is done.
    Settlements,
    /// Actions, claims, definitions.
    Actions,
    /// New work: the first to be shed.
    Submits,
}

impl Lane {
    const ALL: [Lane; 3] = [Lane::Settlements, Lane::Actions, Lane::Submits];

    fn of(ask: &Ask) -> Lane {
        match ask {
            Ask::By(_, ask) => Lane::of(ask),
            Ask::Submit(_) => Lane::Submits,
            Ask::Tell(_, Command::Act(_) | Command::Amend(_) | Command::Redrive(_) | Command::Migrate(_))
            | Ask::Claim(_)
            | Ask::Apply(_)
            | Ask::Hold(_)
            | Ask::Release(_)
            | Ask::MoveCursor(_)
            | Ask::Tick(_)
            | Ask::Start(_)
            | Ask::Stop(_)
            | Ask::Operate(_)
            | Ask::Drop { .. }
            | Ask::Present { .. }
            | Ask::Leave { .. }
            | Ask::LookAside(_)
            | Ask::TakeDuty { .. }
            | Ask::Retire { .. }
            | Ask::Log(_)
            | Ask::Endpoint(_)
            | Ask::Token(_) => Lane::Actions,
            Ask::Tell(..) => Lane::Settlements,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Lane::Settlements => "settlements",
            Lane::Actions => "actions",
            Lane::Submits => "submits",
        }
    }

    /// Of a batch of `size`, what is this lane's even when the others want more.
    fn share(self, size: usize) -> usize {
        match self {
            Lane::Settlements => size / 2,
            Lane::Actions | Lane::Submits => size / 4,
        }
    }

    /// How many may wait.
    fn capacity(self) -> usize {
        match self {
            Lane::Settlements => 32_768,
            Lane::Actions => 8_192,
            Lane::Submits => 8_192,
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
    lanes: [VecDeque<Job>; 3],
    /// Claims that found nothing. They come along with every batch, and go back if it brought them nothing.
    waiting: Vec<Job>,
    shed: [u64; 3],
    /// No more is taken in; what waits is still done.
    closed: bool,
    /// How much has to be there before the thread is woken.
    wanted: usize,
}

/// What a batch may wait for once there is something to do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct More {
    /// How many are likely to ask.
    pub(super) expected: usize,
    pub(super) linger: Duration,
}

/// What the thread got to do.
pub(super) struct Batch {
    pub(super) jobs: Vec<Job>,
    pub(super) waiting: Vec<Job>,
    /// Closed and empty: time to go.
    pub(super) over: bool,
}

impl Queues {
    pub(super) fn push(&self, job: Job) -> Result<(), Refusal> {
        let lane = Lane::of(&job.input.ask);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.closed {
            return Err(Refusal::new(Code::Draining, "the server is stopping; try again in a moment"));
        }
        let queue = &mut inner.lanes[lane as usize];
        if queue.len() >= lane.capacity() {
            inner.shed[lane as usize] += 1;
            return Err(Refusal::new(Code::Overloaded, "too much is waiting; try again in a second"));
        }
        queue.push_back(job);
        let enough = inner.len() >= inner.wanted;
        drop(inner);
        if enough {
            self.filled.notify_one();
        }
        Ok(())
    }

    pub(super) fn report(&self) -> Vec<QueueReport> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let report = |lane: Lane| QueueReport {
            name: lane.name(),
            waiting: inner.lanes[lane as usize].len(),
            capacity: lane.capacity(),
            shed: inner.shed[lane as usize],
        };
        Lane::ALL.map(report).into()
    }

    pub(super) fn close(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.filled.notify_one();
    }

    /// Waits for work, at most `patience`, and takes a batch of it.
    ///
    /// Once there is some it waits a little for more: those who were answered a moment ago are about to come back, and a
    /// batch of all of them costs one sync instead of two.
    pub(super) fn next(&self, size: usize, patience: Duration, more: More) -> Batch {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = self.wait(inner, 1, patience);
        let some = !inner.closed && inner.len() > 0;
        let mut inner = if some { self.wait(inner, more.expected.min(size), more.linger) } else { inner };
        let jobs = inner.draw(size);
        let waiting = std::mem::take(&mut inner.waiting);
        Batch { over: inner.closed && jobs.is_empty(), jobs, waiting }
    }

    /// Until so much is there.
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

    /// Has a claim wait for what batches bring. Whoever waits no longer is forgotten with the next batch.
    pub(super) fn stay(&self, job: Job) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).waiting.push(job);
    }

    /// How many claims wait, between one batch and the next.
    pub(super) fn waiting(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).waiting.len()
    }

    /// Those who have waited longer come first.
    pub(super) fn go_on_waiting(&self, mut jobs: Vec<Job>) {
        jobs.retain(|job| !job.reply.is_closed());
        let waiting = &mut self.inner.lock().unwrap_or_else(PoisonError::into_inner).waiting;
        jobs.append(waiting);
        *waiting = jobs;
    }
}

impl Inner {
    fn len(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum()
    }

    /// Each lane its share, then the rest in order of importance. Settlements come first in the batch.
    fn draw(&mut self, size: usize) -> Vec<Job> {
        let mut counts = Lane::ALL.map(|lane| self.lanes[lane as usize].len().min(lane.share(size)));
        let mut left = size - counts.iter().sum::<usize>();
        for lane in Lane::ALL {
            let more = (self.lanes[lane as usize].len() - counts[lane as usize]).min(left);
            counts[lane as usize] += more;
            left -= more;
        }
        let mut jobs = Vec::with_capacity(counts.iter().sum());
        for lane in Lane::ALL {
            jobs.extend(self.lanes[lane as usize].drain(..counts[lane as usize]));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ClaimMany;
    use model::command::{Renew, Snooze};
    use model::token::Bits;
    use model::{Millis, SubmissionId, Time, Token};
    use std::collections::BTreeMap;

    fn settlement() -> Ask {
        let submission = SubmissionId::new(Time::from_millis(0), [0; 10]);
        let token = Token { submission, lease_no: 1, bits: Bits([0; 16]) };
        Ask::Tell(submission, Command::Snooze(Snooze { token, span: Millis::ZERO }))
    }

    fn claim() -> Ask {
        let (tasks, pipelines, labels) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ask::Claim(ClaimMany { worker: "w".into(), tasks, pipelines, labels, max: 1, arriving: false })
    }

    fn job(ask: Ask) -> Job {
        Job { input: ask.into(), reply: oneshot::channel().0 }
    }

    #[test]
    fn a_flood_of_claims_leaves_settlements_their_share() {
        let queues = Queues::default();
        for _ in 0..100 {
            queues.push(job(claim())).unwrap();
        }
        for _ in 0..10 {
            queues.push(job(settlement())).unwrap();
        }
        let batch = queues.next(20, Duration::ZERO, More::default());
        assert_eq!(batch.jobs.len(), 20);
        let settled = batch.jobs.iter().filter(|job| Lane::of(&job.input.ask) == Lane::Settlements).count();
        assert_eq!(settled, 10);
    }

    #[test]
    fn an_unused_share_goes_to_who_wants_it() {
        let queues = Queues::default();
        for _ in 0..100 {
            queues.push(job(claim())).unwrap();
        }
        assert_eq!(queues.next(20, Duration::ZERO, More::default()).jobs.len(), 20);
    }

    #[test]
    fn a_full_queue_refuses_and_the_others_do_not() {
        let queues = Queues::default();
        for _ in 0..Lane::Actions.capacity() {
            queues.push(job(claim())).unwrap();
        }
        assert_eq!(queues.push(job(claim())).unwrap_err().code, Code::Overloaded);
        queues.push(job(settlement())).unwrap();
        let told: Vec<_> = queues.report().iter().map(|queue| (queue.waiting, queue.shed)).collect();
        assert_eq!(told, [(1, 0), (Lane::Actions.capacity(), 1), (0, 0)]);
    }

    #[test]
    fn a_closed_queue_hands_out_what_it_has_and_then_ends() {
        let queues = Queues::default();
        queues.push(job(settlement())).unwrap();
        queues.close();
        assert_eq!(queues.push(job(settlement())).unwrap_err().code, Code::Draining);
        let batch = queues.next(10, Duration::from_secs(60), More::default());
        assert_eq!((batch.jobs.len(), batch.over), (1, false));
        assert!(queues.next(10, Duration::from_secs(60), More::default()).over);
    }

    #[test]
    fn a_batch_waits_for_those_who_are_about_to_come_back() {
        let queues = Queues::default();
        queues.push(job(settlement())).unwrap();
        let more = More { expected: 3, linger: Duration::from_secs(60) };
        std::thread::scope(|scope| {
            let batch = scope.spawn(|| queues.next(10, Duration::from_secs(60), more));
            (0..2).for_each(|_| queues.push(job(settlement())).unwrap());
            assert_eq!(batch.join().unwrap().jobs.len(), 3);
        });
        queues.push(job(settlement())).unwrap();
        let nobody = More { expected: 3, linger: Duration::from_millis(1) };
        assert_eq!(queues.next(10, Duration::from_secs(60), nobody).jobs.len(), 1, "and not for ever");
    }

    #[test]
    fn a_renewal_is_a_settlement() {
        let submission = SubmissionId::new(Time::from_millis(0), [0; 10]);
        let token = Token { submission, lease_no: 1, bits: Bits([0; 16]) };
        let ask = Ask::Tell(submission, Command::Renew(Renew { token }));
        assert_eq!(Lane::of(&ask), Lane::Settlements);
    }
}
