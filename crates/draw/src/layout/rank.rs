//! On which row each box stands.

use super::Graph;

/// Passes over all boxes in which some may still move to a better row.
const PASSES: usize = 30;

/// Rows are counted from the top. Lines lead at least one row down, and together as few as can be.
pub(super) fn ranks(graph: &Graph, upwards: &[bool]) -> Vec<usize> {
    let arcs: Vec<Arc> = graph
        .links
        .iter()
        .zip(upwards)
        .filter(|(link, _)| !link.is_loop())
        .map(|(link, &upwards)| {
            let (high, low) = if upwards { (link.to, link.from) } else { (link.from, link.to) };
            Arc { high, low, weight: link.weight() }
        })
        .collect();
    let mut ranks = longest_ways(graph.boxes.len(), &arcs);
    let (above, below) = neighbours(graph.boxes.len(), &arcs);
    for _ in 0..PASSES {
        let mut moved = false;
        for at in 0..ranks.len() {
            let better = better_rank(at, &ranks, &above[at], &below[at]);
            moved |= std::mem::replace(&mut ranks[at], better) != better;
        }
        if !moved {
            break;
        }
    }
    let top = ranks.iter().copied().min().unwrap_or_default();
    ranks.iter().map(|rank| rank - top).collect()
}

struct Arc {
    high: usize,
    low: usize,
    weight: f64,
}

type Neighbours = Vec<Vec<(usize, f64)>>;

fn neighbours(boxes: usize, arcs: &[Arc]) -> (Neighbours, Neighbours) {
    let (mut above, mut below) = (vec![Vec::new(); boxes], vec![Vec::new(); boxes]);
    for arc in arcs {
        above[arc.low].push((arc.high, arc.weight));
        below[arc.high].push((arc.low, arc.weight));
    }
    (above, below)
}

fn longest_ways(boxes: usize, arcs: &[Arc]) -> Vec<usize> {
    let mut ranks = vec![0; boxes];
    let mut waiting = vec![0; boxes];
    arcs.iter().for_each(|arc| waiting[arc.low] += 1);
    let (_, below) = neighbours(boxes, arcs);
    let mut ready: Vec<usize> = (0..boxes).filter(|&at| waiting[at] == 0).collect();
    while let Some(at) = ready.pop() {
        for &(low, _) in &below[at] {
            ranks[low] = ranks[low].max(ranks[at] + 1);
            waiting[low] -= 1;
            if waiting[low] == 0 {
                ready.push(low);
            }
        }
    }
    ranks
}

/// Returns the rank that is as near to the heavier side as the rows of the neighbours allow.
fn better_rank(at: usize, ranks: &[usize], above: &[(usize, f64)], below: &[(usize, f64)]) -> usize {
    let highest = above.iter().map(|&(other, _)| ranks[other] + 1).max();
    let lowest = below.iter().map(|&(other, _)| ranks[other] - 1).min();
    let pull = |side: &[(usize, f64)]| side.iter().map(|(_, weight)| weight).sum::<f64>();
    match (highest, lowest) {
        (Some(highest), None) => highest,
        (None, Some(lowest)) => lowest,
        (Some(highest), Some(lowest)) if pull(above) > pull(below) => highest.min(lowest),
        (Some(highest), Some(lowest)) if pull(above) < pull(below) => highest.max(lowest),
        _ => ranks[at],
    }
}
