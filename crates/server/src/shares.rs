//! Divides what the server has of something among its callers: so much in all, of that so much for one token and so much
//! for one address. What one caller takes too much of is refused to that caller, while others go on.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Code, Name, Refusal};
use tokio::sync::Notify;

use crate::rates;

/// One token has at most a quarter of everything.
const TOKEN_PART: usize = 4;
/// The last sixteenth is for those whose token is for everything: in an emergency they still get in.
const RESERVE_PART: usize = 16;
/// Bounds this small are not divided.
const UNDIVIDED: usize = 16;
/// Bytes that do not matter beside a large answer.
const NEARLY_NOTHING: usize = 64 << 10;
/// The requests that may wait for their share: each of them looks again whenever something is given back.
const WAITING: Bounds = Bounds { all: 4_096, reserve: 256, token: 256, address: 1_024 };

/// The caller whom a request counts for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    pub(crate) token: Option<Name>,
    pub(crate) address: Option<IpAddr>,
    /// Set for an admin whose token is for everything.
    pub(crate) owner: bool,
}

/// The most there may be under way: in all, by one token, from one address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    all: usize,
    reserve: usize,
    token: usize,
    address: usize,
}

impl Bounds {
    /// Divides `all`, of which one address may have `of_address` in a thousand.
    pub(crate) fn new(all: usize, of_address: usize) -> Self {
        let least = all.min(UNDIVIDED);
        Bounds {
            all,
            reserve: all / RESERVE_PART,
            token: (all / TOKEN_PART).max(least),
            address: (all.saturating_mul(of_address.min(1_000)) / 1_000).max(least),
        }
    }
}

/// Something that is bounded, and who has how much of it.
#[derive(Debug, Clone)]
pub(crate) struct Shares(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The thing that is shared, as refusals name it.
    name: &'static str,
    bounds: Bounds,
    taken: Mutex<Taken>,
    /// The requests that wait, counted by the party they are for.
    waiting: Mutex<Taken>,
    /// Told whenever something is given back.
    given_back: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// The share of each party that has any: no more parties than there are requests.
    by: HashMap<Party, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Party {
    Token(Name),
    Address(IpAddr),
}

/// The bound that stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    All,
    Token,
    Address,
}

impl Shares {
    pub(crate) fn new(name: &'static str, bounds: Bounds) -> Self {
        Shares(Arc::new(Inner {
            name,
            bounds,
            taken: Mutex::default(),
            waiting: Mutex::default(),
            given_back: Notify::new(),
        }))
    }

    /// Takes `amount` for a caller, or says whose bound is in the way.
    pub(crate) fn take(&self, who: &Who, amount: usize) -> Result<Share, Refusal> {
        self.try_take(who, amount).map_err(|full| self.refusal(full))
    }

    /// Takes `amount` as soon as there is room for it.
    pub(crate) async fn wait(&self, who: &Who, amount: usize, within: Duration) -> Result<Share, Refusal> {
        let waiting = async {
            loop {
                let given_back = self.0.given_back.notified();
                tokio::pin!(given_back);
                // Listens before it looks: what is given back in between is not missed.
                given_back.as_mut().enable();
                if let Ok(share) = self.try_take(who, amount) {
                    return share;
                }
                given_back.await;
            }
        };
        match self.try_take(who, amount) {
            Ok(share) => Ok(share),
            Err(full) => {
                let _waiter = self.begin_waiting(who).ok_or_else(|| self.refusal(full))?;
                tokio::time::timeout(within, waiting).await.map_err(|_| self.refusal(full))
            }
        }
    }

    /// Counts a request among those that wait, unless the caller has too many of them.
    fn begin_waiting<'a>(&'a self, who: &'a Who) -> Option<Waiter<'a>> {
        let mut waiting = locked(&self.0.waiting);
        waiting.check(&WAITING, who, 1).ok()?;
        waiting.add(who, 1);
        Some(Waiter { shares: self, who })
    }

    /// Takes `amount` whatever the bounds say: it is there already and can only be counted.
    pub(crate) fn count(&self, who: &Who, amount: usize) -> Share {
        let mut taken = self.taken();
        taken.add(who, amount);
        Share { shares: self.clone(), who: who.clone(), amount }
    }

    fn try_take(&self, who: &Who, amount: usize) -> Result<Share, Full> {
        let mut taken = self.taken();
        taken.check(&self.0.bounds, who, amount)?;
        taken.add(who, amount);
        Ok(Share { shares: self.clone(), who: who.clone(), amount })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        locked(&self.0.taken)
    }

    fn refusal(&self, full: Full) -> Refusal {
        let Inner { name, bounds, .. } = &*self.0;
        let own = |whose: &str, bound: usize| {
            let message = format!("{whose} has {bound} {name} under way; wait until some of them end");
            Refusal::new(Code::RateLimited, message).with("max", bound).with("retry_after_s", 1)
        };
        match full {
            Full::All => {
                Refusal::new(Code::Overloaded, format!("too many {name} at once; try again in a moment"))
            }
            Full::Token => own("your token", bounds.token),
            Full::Address => own("your address", bounds.address),
        }
    }
}

fn locked(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request that waits, until it is dropped.
struct Waiter<'a> {
    shares: &'a Shares,
    who: &'a Who,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        locked(&self.shares.0.waiting).remove(self.who, 1);
    }
}

impl Taken {
    fn check(&self, bounds: &Bounds, who: &Who, amount: usize) -> Result<(), Full> {
        let reserve = if who.owner { 0 } else { bounds.reserve };
        if self.all + amount > bounds.all - reserve {
            return Err(Full::All);
        }
        for party in who.parties() {
            let (bound, full) = match party {
                Party::Token(_) => (bounds.token, Full::Token),
                Party::Address(_) => (bounds.address, Full::Address),
            };
            if self.by.get(&party).copied().unwrap_or(0) + amount > bound {
                return Err(full);
            }
        }
        Ok(())
    }

    /// Tells whether a share is all that its caller has, or nearly: the body of the same request may count beside it.
    fn alone(&self, share: &Share) -> bool {
        let party = share.who.parties().next();
        party.is_none_or(|party| self.by.get(&party).copied().unwrap_or(0) <= share.amount + NEARLY_NOTHING)
    }

    fn add(&mut self, who: &Who, amount: usize) {
        self.all += amount;
        for party in who.parties() {
            *self.by.entry(party).or_default() += amount;
        }
    }

    fn remove(&mut self, who: &Who, amount: usize) {
        self.all -= amount;
        for party in who.parties() {
            if let Some(count) = self.by.get_mut(&party) {
                *count -= amount;
                if *count == 0 {
                    self.by.remove(&party);
                }
            }
        }
    }
}

impl Who {
    fn parties(&self) -> impl Iterator<Item = Party> {
        let token = self.token.clone().map(Party::Token);
        let address = self.address.map(|address| Party::Address(rates::caller(address)));
        token.into_iter().chain(address)
    }
}

/// A part of what is shared; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Shares,
    who: Who,
    amount: usize,
}

impl Share {
    /// Takes more, or gives back what is over, until it is `amount`. Whoever has nothing else under way may have any amount:
    /// there are answers larger than a share, and they are to be had one at a time.
    pub(crate) fn resize(&mut self, amount: usize) -> Result<(), Refusal> {
        if let Some(more) = amount.checked_sub(self.amount) {
            let mut taken = self.shares.taken();
            let checked = taken.check(&self.shares.0.bounds, &self.who, more);
            if let Err(full) = checked.or_else(|full| taken.alone(self).then_some(()).ok_or(full)) {
                drop(taken);
                return Err(self.shares.refusal(full));
            }
            taken.add(&self.who, more);
            self.amount = amount;
            return Ok(());
        }
        self.shrink(amount);
        Ok(())
    }

    /// Gives back what is over `amount`.
    pub(crate) fn shrink(&mut self, amount: usize) {
        let over = self.amount.saturating_sub(amount);
        self.amount -= over;
        self.shares.taken().remove(&self.who, over);
        self.shares.0.given_back.notify_waiters();
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn token(name: &str) -> Who {
        Who { token: Some(name.into()), address: Some([10, 0, 0, 1].into()), owner: false }
    }

    fn shares(all: usize) -> Shares {
        Shares::new("requests", Bounds::new(all, 500))
    }

    fn most(shares: &Shares, who: &Who) -> Vec<Share> {
        std::iter::from_fn(|| shares.take(who, 1).ok()).collect()
    }

    #[test]
    fn one_token_has_a_quarter_and_one_address_its_part() {
        let shares = shares(160);
        let ada = most(&shares, &token("ada"));
        assert_eq!(ada.len(), 40);
        let refusal = shares.take(&token("ada"), 1).unwrap_err();
        assert_eq!((refusal.code, &refusal.details["max"]), (Code::RateLimited, &40.into()));
        let bob = most(&shares, &token("bob"));
        assert_eq!(bob.len(), 40, "the address has half");
        assert!(shares.take(&token("cyd"), 1).unwrap_err().message.contains("your address"));
        let elsewhere = Who { address: Some([10, 0, 0, 2].into()), ..token("cyd") };
        assert!(shares.take(&elsewhere, 1).is_ok());
        drop((ada, bob));
        assert!(shares.taken().by.is_empty(), "nothing is kept of callers who have nothing");
        assert_eq!(most(&shares, &token("ada")).len(), 40);
    }

    #[test]
    fn the_last_places_are_the_owners() {
        let shares = shares(160);
        let mut others = Vec::new();
        for number in 0..10 {
            let who = Who { address: Some([10, 0, 0, number].into()), ..token(&format!("t{number}")) };
            others.extend(most(&shares, &who));
        }
        assert_eq!(others.len(), 150);
        let stranger = Who { address: Some([10, 0, 1, 1].into()), ..Who::default() };
        assert_eq!(shares.take(&stranger, 1).unwrap_err().code, Code::Overloaded);
        let owner = Who { owner: true, address: Some([10, 0, 1, 2].into()), ..token("root") };
        assert_eq!(most(&shares, &owner).len(), 10);
    }

    #[test]
    fn small_bounds_are_not_divided() {
        assert_eq!(most(&shares(2), &token("ada")).len(), 2);
        assert_eq!(most(&shares(0), &token("ada")).len(), 0);
    }

    #[test]
    fn what_is_counted_by_force_is_given_back_too() {
        let shares = shares(160);
        let mut large = shares.count(&token("ada"), 1_000);
        assert!(shares.take(&token("ada"), 1).is_err());
        large.shrink(10);
        assert_eq!(most(&shares, &token("ada")).len(), 30);
        drop(large);
        assert_eq!(shares.taken().all, 0);
    }

    #[test]
    fn a_share_grows_within_the_bounds_and_beyond_them_alone() {
        let (shares, mb) = (shares(160 << 20), 1 << 20);
        let mut one = shares.take(&token("ada"), 30 * mb).unwrap();
        let other = shares.take(&token("ada"), 5 * mb).unwrap();
        assert_eq!(one.resize(36 * mb).unwrap_err().code, Code::RateLimited);
        one.resize(35 * mb).unwrap();
        assert_eq!(shares.taken().all, 40 * mb);
        drop(other);
        one.resize(1_000 * mb).unwrap();
        assert!(shares.take(&token("ada"), 1).is_err());
        one.resize(10 * mb).unwrap();
        assert!(shares.take(&token("ada"), 30 * mb).is_ok());
    }

    #[tokio::test]
    async fn whoever_waits_gets_what_is_given_back() {
        let shares = shares(160);
        let mut taken = most(&shares, &token("ada"));
        let long = Duration::from_secs(600);
        let ada = token("ada");
        let waiting = shares.wait(&ada, 2, long);
        tokio::pin!(waiting);
        assert!(waiting.as_mut().now_or_never().is_none());
        taken.pop();
        assert!(waiting.as_mut().now_or_never().is_none(), "two are wanted");
        taken.pop();
        assert!(waiting.await.is_ok());
        let refused = shares.wait(&ada, 41, Duration::ZERO).await.unwrap_err();
        assert_eq!(refused.code, Code::RateLimited);
    }

    #[tokio::test]
    async fn only_so_many_of_one_caller_wait() {
        let shares = shares(160);
        let (ada, long) = (token("ada"), Duration::from_secs(600));
        let taken = most(&shares, &ada);
        let mut waiting: Vec<_> = (0..256).map(|_| Box::pin(shares.wait(&ada, 1, long))).collect();
        assert!(waiting.iter_mut().all(|waiting| waiting.as_mut().now_or_never().is_none()));
        let refused = shares.wait(&ada, 1, long).now_or_never().expect("at once");
        assert_eq!(refused.unwrap_err().code, Code::RateLimited);
        drop((taken, waiting.pop()));
        assert!(waiting.pop().unwrap().await.is_ok());
        drop(waiting);
        assert!(locked(&shares.0.waiting).by.is_empty());
    }
}
