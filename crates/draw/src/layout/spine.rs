//! Decides which boxes stand straight below each other.

use super::Graph;

/// The position of a line relative to the boxes at its upper and its lower end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stands {
    pub(super) below_upper: bool,
    pub(super) above_lower: bool,
}

impl Stands {
    /// Both boxes and the line are one upright.
    pub(super) fn upright(self) -> bool {
        self.below_upper && self.above_lower
    }
}

/// Tells for each link whether it stands straight below and above the boxes at its ends.
///
/// Each box has at most one such line above it and one below it. Those on the longest ways come first: they are what a
/// machine is about. The others bend once rather than twice where they can.
pub(super) fn stands(graph: &Graph, upwards: &[bool], ranks: &[usize]) -> Vec<Stands> {
    let above = lengths(graph, upwards, |from, to| (to, from));
    let below = lengths(graph, upwards, |from, to| (from, to));
    let mut links: Vec<usize> = (0..graph.links.len()).filter(|&at| !graph.links[at].is_loop()).collect();
    links.sort_by_key(|&at| {
        let link = &graph.links[at];
        (!link.main, std::cmp::Reverse(above[link.from] + below[link.to]))
    });
    let (mut left, mut met) = (vec![false; graph.boxes.len()], vec![false; graph.boxes.len()]);
    let mut stands = vec![Stands::default(); graph.links.len()];
    for &at in links.iter().filter(|&&at| !upwards[at] && !graph.links[at].returns) {
        let link = &graph.links[at];
        // A long upright that is not what the machine is about would pull its box away from those it belongs to.
        let short = ranks[link.from].abs_diff(ranks[link.to]) == 1;
        if (link.main || short) && !left[link.from] && !met[link.to] {
            (left[link.from], met[link.to]) = (true, true);
            stands[at] = Stands { below_upper: true, above_lower: true };
        }
    }
    for at in links {
        let link = &graph.links[at];
        if stands[at].upright() {
            continue;
        }
        let (upper, lower) = if upwards[at] { (link.to, link.from) } else { (link.from, link.to) };
        if !met[lower] {
            (met[lower], stands[at].above_lower) = (true, true);
        } else if !left[upper] {
            (left[upper], stands[at].below_upper) = (true, true);
        }
    }
    stands
}

/// Counts for each box the main lines that follow each other from the box on.
fn lengths(graph: &Graph, upwards: &[bool], turn: impl Fn(usize, usize) -> (usize, usize)) -> Vec<usize> {
    let count = graph.boxes.len();
    let (mut before, mut waiting) = (vec![Vec::new(); count], vec![0usize; count]);
    for (link, &upwards) in graph.links.iter().zip(upwards) {
        if link.main && !upwards && !link.is_loop() {
            let (near, far) = turn(link.from, link.to);
            before[far].push(near);
            waiting[near] += 1;
        }
    }
    let mut lengths = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|&at| waiting[at] == 0).collect();
    while let Some(far) = ready.pop() {
        for &near in &before[far] {
            lengths[near] = lengths[near].max(lengths[far] + 1);
            waiting[near] -= 1;
            if waiting[near] == 0 {
                ready.push(near);
            }
        }
    }
    lengths
}
