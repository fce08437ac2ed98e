//! Limits the requests of a caller: by the token it shows and by the address it comes from.
//!
//! Each caller has one number: until when its requests so far last at the allowed rate. What lasts further than the
//! burst is refused, with the time after which it is not. Nothing is counted in the store: two servers allow twice.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{Code, Refusal};

/// Callers remembered at a time; more share one allowance until some have been quiet for a while.
const CALLERS_MAX: usize = 20_000;
/// A caller of the whole server who was quiet may be this far ahead of its rate.
const BURST: Duration = Duration::from_secs(5);
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// An allowance for each caller of a kind.
#[derive(Debug)]
pub(crate) struct Rates<K> {
    /// The part of the time that one request takes.
    step: Option<Duration>,
    /// A caller who was quiet may be this far ahead of its rate. At least one request is in every allowance.
    ahead_max: Duration,
    callers: Mutex<Callers<K>>,
}

#[derive(Debug)]
struct Callers<K> {
    /// `None` are all those who find no room of their own.
    until: HashMap<Option<K>, Instant>,
    /// The time at which quiet callers were last looked for: not with every request of a flood.
    swept_at: Option<Instant>,
}

impl<K: Hash + Eq> Rates<K> {
    /// None: as many as they like.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        Rates::of(per_second.map(|rate| (Duration::from_secs(1) / rate.max(1), BURST)))
    }

    /// Allows a request every so often, and a caller who was quiet so many at once.
    pub(crate) fn every(step: Duration, burst: u32) -> Self {
        Rates::of(Some((step, step.saturating_mul(burst))))
    }

    fn of(rate: Option<(Duration, Duration)>) -> Self {
        let (step, ahead_max) =
            rate.map_or((None, Duration::ZERO), |(step, most)| (Some(step), most.max(step)));
        Rates { step, ahead_max, callers: Mutex::new(Callers { until: HashMap::new(), swept_at: None }) }
    }

    pub(crate) fn take(&self, caller: K, now: Instant) -> Result<(), Refusal> {
        let Some(step) = self.step else { return Ok(()) };
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let Callers { until, swept_at } = &mut *callers;
        let mut caller = Some(caller);
        if until.len() >= CALLERS_MAX && !until.contains_key(&caller) {
            if swept_at.is_none_or(|at| now.saturating_duration_since(at) >= SWEEP_EVERY) {
                *swept_at = Some(now);
                until.retain(|_, until| *until > now);
            }
            if until.len() >= CALLERS_MAX {
                caller = None;
            }
        }
        let lasts = until.entry(caller).or_insert(now);
        let ahead = lasts.saturating_duration_since(now);
        if ahead + step > self.ahead_max {
            return Err(refused((ahead + step).saturating_sub(self.ahead_max)));
        }
        *lasts = now + ahead + step;
        Ok(())
    }
}

fn refused(wait: Duration) -> Refusal {
    // Rounded up: somebody who comes back when told to is let in.
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Refusal::new(Code::RateLimited, format!("too many requests; go on in {seconds} seconds"))
        .with("retry_after_s", seconds)
}

/// Returns the caller that an address stands for. In IPv6 one caller has a whole network of addresses.
pub(crate) fn caller(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !(u128::from(u64::MAX)))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rates: &Rates<u32>, caller: u32, now: Instant) -> usize {
        std::iter::repeat_with(|| rates.take(caller, now)).take(1_000).take_while(Result::is_ok).count()
    }

    #[test]
    fn a_caller_has_a_burst_and_then_its_rate() {
        let (rates, start) = (Rates::new(Some(10)), engine::clock::instant());
        assert_eq!(count(&rates, 1, start), 50);
        assert_eq!(count(&rates, 2, start), 50, "others have their own");
        let refusal = rates.take(1, start).unwrap_err();
        assert_eq!((refusal.code, &refusal.details["retry_after_s"]), (Code::RateLimited, &1.into()));
        assert_eq!(count(&rates, 1, start + Duration::from_secs(1)), 10);
        assert_eq!(count(&Rates::new(None), 1, start), 1_000);
    }

    #[test]
    fn a_form_takes_a_few_a_minute() {
        let (rates, start) = (Rates::every(Duration::from_secs(10), 3), engine::clock::instant());
        assert_eq!(count(&rates, 1, start), 3);
        assert_eq!(rates.take(1, start).unwrap_err().details["retry_after_s"], 10);
        assert_eq!(count(&rates, 1, start + Duration::from_secs(10)), 1);
        assert_eq!(count(&rates, 1, start + Duration::from_secs(600)), 3);
    }

    #[test]
    fn who_comes_when_told_to_is_let_in() {
        let (rates, now) = (Rates::new(Some(1)), engine::clock::instant());
        assert_eq!(count(&rates, 1, now), 5);
        let wait = rates.take(1, now).unwrap_err().details["retry_after_s"].as_u64().unwrap();
        rates.take(1, now + Duration::from_secs(wait)).unwrap();
    }

    #[test]
    fn many_callers_take_bounded_memory() {
        let (rates, now) = (Rates::new(Some(1)), engine::clock::instant());
        let refused = (0..50_000).filter(|caller| rates.take(*caller, now).is_err()).count();
        assert!(refused > 0, "those over the bound share");
        assert!(rates.callers.lock().unwrap().until.len() <= CALLERS_MAX + 1);
        rates.take(60_000, now + Duration::from_secs(60)).unwrap();
        assert_eq!(rates.callers.lock().unwrap().until.len(), 1, "quiet ones are forgotten");
    }

    #[test]
    fn a_network_of_ipv6_is_one_caller() {
        let of = |text: &str| caller(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
