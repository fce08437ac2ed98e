//! Chance out of one number: the same seed draws the same run, on every machine.

/// The splitmix64 generator: small, well mixed, and nobody else's to change.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// A stream of its own, so that how often one part draws does not change what another part gets.
    #[must_use]
    pub(crate) fn fork(&mut self) -> Self {
        Chance(self.draw())
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, `bound`. The bias of a remainder is of no matter here.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub(crate) fn per_mille(&mut self, share: u64) -> bool {
        self.below(1_000) < share
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("a place in a list fits the address space")
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.index(list.len())]
    }

    pub(crate) fn seed<const N: usize>(&mut self) -> [u8; N] {
        let mut word = [0; 8];
        std::array::from_fn(|index| {
            if index % 8 == 0 {
                word = self.draw().to_be_bytes();
            }
            word[index % 8]
        })
    }
}
