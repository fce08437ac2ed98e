//! Seats: one for each connection, and the choice of the one that goes when there are too many.
//!
//! A newcomer takes the seat of one of the address that has most, so that whoever comes in numbers displaces itself and
//! nobody else. It is the one that has been longest without progress, and never one for which somebody works.
//! Seats are kept in these orders as they change, so that a flood of newcomers costs a few steps in a tree each,
//! however many are connected: nothing is searched.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

/// A number of a connection, and of a moment: both only grow.
type Number = u64;

#[derive(Debug)]
pub(super) struct Seats<T> {
    max: usize,
    per_address_max: usize,
    last: Number,
    taken: HashMap<Number, Taken<T>>,
    addresses: HashMap<IpAddr, Address>,
    /// The addresses that have a seat to take: the one with most is last, of several the one that rests longest.
    fullest: BTreeSet<(usize, Reverse<Number>, IpAddr)>,
}

#[derive(Debug)]
struct Taken<T> {
    address: IpAddr,
    /// The moment the connection last made progress; `None`: somebody works for it.
    rests_since: Option<Number>,
    /// The owner's means to tell the connection that it is displaced.
    tag: T,
}

#[derive(Debug, Default)]
struct Address {
    count: usize,
    /// Connections for which nobody works, by when they last made progress.
    resting: BTreeMap<Number, Number>,
}

impl Address {
    fn key(&self, address: IpAddr) -> Option<(usize, Reverse<Number>, IpAddr)> {
        self.resting.first_key_value().map(|(oldest, _)| (self.count, Reverse(*oldest), address))
    }
}

/// A newcomer's seat.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) number: Number,
    /// The one who had to go.
    pub(super) displaced: Option<T>,
}

impl<T> Seats<T> {
    pub(super) fn new(max: usize, per_address_max: usize) -> Self {
        Seats {
            max,
            per_address_max,
            last: 0,
            taken: HashMap::new(),
            addresses: HashMap::new(),
            fullest: BTreeSet::new(),
        }
    }

    /// Takes a seat; `None`: there is none, and nobody who could go for it.
    pub(super) fn enter(&mut self, address: IpAddr, tag: T) -> Option<Entry<T>> {
        let own = self.addresses.get(&address).map_or(0, |own| own.count) + 1;
        let displaced = if own > self.per_address_max {
            Some(self.oldest_of(address)?)
        } else if self.taken.len() >= self.max {
            Some(self.one_to_go(address, own)?)
        } else {
            None
        };
        let displaced = displaced.and_then(|number| self.leave(number));
        let number = self.next();
        self.taken.insert(number, Taken { address, rests_since: Some(number), tag });
        self.change(address, |here| {
            here.count += 1;
            here.resting.insert(number, number);
        });
        Some(Entry { number, displaced })
    }

    /// Gives a seat back, if it was not taken from its owner before.
    pub(super) fn leave(&mut self, number: Number) -> Option<T> {
        let taken = self.taken.remove(&number)?;
        self.change(taken.address, |here| {
            here.count -= 1;
            if let Some(since) = taken.rests_since {
                here.resting.remove(&since);
            }
        });
        Some(taken.tag)
    }

    /// Notes that a connection has made progress, and whether somebody works for it now.
    pub(super) fn touch(&mut self, number: Number, working: bool) {
        let now = self.next();
        let Some(taken) = self.taken.get_mut(&number) else { return };
        let address = taken.address;
        let since = (!working).then_some(now);
        let before = std::mem::replace(&mut taken.rests_since, since);
        self.change(address, |here| {
            if let Some(before) = before {
                here.resting.remove(&before);
            }
            if let Some(since) = since {
                here.resting.insert(since, number);
            }
        });
    }

    /// Takes the seat of somebody, for the server's own need of room.
    pub(super) fn displace(&mut self) -> Option<T> {
        let address = self.fullest.last()?.2;
        self.oldest_of(address).and_then(|number| self.leave(number))
    }

    fn one_to_go(&self, address: IpAddr, own: usize) -> Option<Number> {
        let &(most, _, fullest) = self.fullest.last()?;
        // An address that has more than every other makes room itself.
        self.oldest_of(if own > most { address } else { fullest })
    }

    fn oldest_of(&self, address: IpAddr) -> Option<Number> {
        let here = self.addresses.get(&address)?;
        here.resting.first_key_value().map(|(_, number)| *number)
    }

    fn next(&mut self) -> Number {
        self.last += 1;
        self.last
    }

    /// Changes what an address has, and its rank with it.
    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut Address)) {
        let here = self.addresses.entry(address).or_default();
        if let Some(key) = here.key(address) {
            self.fullest.remove(&key);
        }
        change(here);
        if let Some(key) = here.key(address) {
            self.fullest.insert(key);
        }
        if here.count == 0 {
            self.addresses.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [127, 0, 0, last].into()
    }

    /// Enters connections of these addresses, tagged in order.
    fn seats(max: usize, per_address_max: usize, addresses: &[u8]) -> (Seats<usize>, Vec<Number>) {
        let mut seats = Seats::new(max, per_address_max);
        let enter = |(tag, last): (usize, &u8)| seats.enter(address(*last), tag).unwrap().number;
        let numbers = addresses.iter().enumerate().map(enter).collect();
        (seats, numbers)
    }

    /// The one who goes for a newcomer; the outer `None`: the newcomer.
    fn gone(seats: &mut Seats<usize>, last: u8) -> Option<Option<usize>> {
        seats.enter(address(last), 99).map(|entry| entry.displaced)
    }

    #[test]
    fn nobody_goes_while_there_is_room() {
        let (mut seats, numbers) = seats(3, 3, &[1, 1]);
        assert_eq!(gone(&mut seats, 2), Some(None));
        assert_eq!(gone(&mut seats, 2), Some(Some(0)));
        assert_eq!(seats.leave(numbers[0]), None, "its seat is another's");
        assert_eq!(seats.leave(numbers[1]), Some(1));
        assert_eq!(gone(&mut seats, 3), Some(None));
    }

    #[test]
    fn the_address_with_most_makes_room_by_its_longest_at_rest() {
        let (mut seats, numbers) = seats(5, 5, &[1, 2, 2, 2, 3]);
        seats.touch(numbers[1], false);
        assert_eq!(gone(&mut seats, 4), Some(Some(2)));
        assert_eq!(gone(&mut seats, 5), Some(Some(3)), "still the one with most");
        // All have one: whoever rests longest.
        seats.touch(numbers[0], false);
        assert_eq!(gone(&mut seats, 6), Some(Some(4)));
    }

    #[test]
    fn a_newcomer_of_the_fullest_address_displaces_its_own() {
        let (mut seats, _) = seats(4, 5, &[1, 1, 2, 2]);
        assert_eq!(gone(&mut seats, 2), Some(Some(2)), "it would have three");
        assert_eq!(gone(&mut seats, 3), Some(Some(0)), "the two are equal; this one is older");
    }

    #[test]
    fn nobody_goes_for_whom_somebody_works() {
        let (mut seats, numbers) = seats(3, 3, &[1, 1, 2]);
        for number in &numbers[..2] {
            seats.touch(*number, true);
        }
        assert_eq!(gone(&mut seats, 1), None, "an address whose connections all work waits");
        assert_eq!(gone(&mut seats, 3), Some(Some(2)));
        seats.touch(numbers[1], false);
        assert_eq!(gone(&mut seats, 4), Some(Some(1)));
        let (mut seats, numbers) = self::seats(1, 1, &[1]);
        seats.touch(numbers[0], true);
        assert_eq!((gone(&mut seats, 2), seats.displace()), (None, None));
    }

    #[test]
    fn an_address_over_its_bound_displaces_its_own() {
        let (mut seats, numbers) = seats(9, 2, &[1, 1, 2]);
        assert_eq!(gone(&mut seats, 1), Some(Some(0)));
        seats.touch(numbers[1], true);
        assert_eq!(gone(&mut seats, 1), Some(Some(99)));
        assert_eq!(gone(&mut seats, 2), Some(None));
    }

    #[test]
    fn nothing_is_kept_of_those_who_left() {
        let (mut seats, numbers) = seats(9, 9, &[1, 1, 2, 3]);
        seats.touch(numbers[1], true);
        seats.touch(numbers[2], false);
        for number in numbers {
            seats.leave(number).unwrap();
        }
        assert!(seats.taken.is_empty() && seats.addresses.is_empty() && seats.fullest.is_empty());
    }
}
