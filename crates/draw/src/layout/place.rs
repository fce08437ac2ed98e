//! Decides how far from the left each cell is.
//!
//! A line between its ends is one *block*: it runs straight down unless it must cross another. Blocks are pulled
//! towards what they are connected with, and pushed apart where they come too close; a last pass from left to right
//! leaves nothing closer than allowed.

use super::grid::{Cell, Grid};
use super::spine::Stands;

const ROUNDS: usize = 240;
const PUSHES: usize = 4;
const EASES: usize = 24;
const MIDDLE_PULL: f64 = 0.05;

struct Pair {
    left: usize,
    right: usize,
    gap: f64,
}

/// Something that moves as one.
#[derive(Default)]
struct Block {
    x: f64,
    weight: f64,
    /// Blocks it is connected with, and how strongly.
    pulls: Vec<(usize, f64)>,
}

pub(super) fn place(grid: &mut Grid, stands: &[Stands]) {
    let owner = owners(grid, stands);
    let pairs = pairs(grid, &owner);
    let mut blocks = blocks(grid, &owner);
    settle(&mut blocks, &pairs);
    for round in 0..ROUNDS {
        // Smaller and smaller steps: in the end nobody is pushed further than he was pulled.
        let step = 0.6 * (1.0 - round as f64 / ROUNDS as f64);
        let middle = middle(&blocks);
        let wanted: Vec<f64> = blocks.iter().map(|block| wanted(block, &blocks, middle)).collect();
        for (block, wanted) in blocks.iter_mut().zip(wanted) {
            block.x += (wanted - block.x) * step;
        }
        for push in 0..PUSHES {
            if push % 2 == 0 {
                pairs.iter().for_each(|pair| part(&mut blocks, pair));
            } else {
                pairs.iter().rev().for_each(|pair| part(&mut blocks, pair));
            }
        }
    }
    settle(&mut blocks, &pairs);
    ease(&mut blocks, &pairs);
    for (cell, &owner) in grid.cells.iter_mut().zip(&owner) {
        cell.x = blocks[owner].x;
    }
}

/// A piece of a line between two rows that should be upright.
struct Piece {
    upper: usize,
    lower: usize,
    /// The rank of the piece's wish where two cross.
    rank: u8,
}

/// Returns each cell's block: the bends of a line share one, and so do the boxes at the ends of an upright, as long
/// as no two cross.
fn owners(grid: &Grid, stands: &[Stands]) -> Vec<usize> {
    let positions = grid.positions();
    let mut pieces: Vec<Vec<Piece>> = grid.rows.iter().map(|_| Vec::new()).collect();
    for chain in &grid.chains {
        let stands = stands[chain.link];
        for two in chain.cells.windows(2) {
            let rank = match [grid.cells[two[0]].is_bend, grid.cells[two[1]].is_bend] {
                _ if stands.upright() => 0,
                [true, true] => 1,
                [false, _] if stands.below_upper => 2,
                [_, false] if stands.above_lower => 2,
                _ => continue,
            };
            pieces[grid.cells[two[0]].row].push(Piece { upper: two[0], lower: two[1], rank });
        }
    }
    let mut owner: Vec<usize> = (0..grid.cells.len()).collect();
    for pieces in &mut pieces {
        pieces.sort_by_key(|piece| piece.rank);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for piece in pieces {
            let (upper, lower) = (positions[piece.upper], positions[piece.lower]);
            if taken.iter().all(|&(other, below)| (upper < other) == (lower < below)) {
                taken.push((upper, lower));
                owner[piece.lower] = owner[piece.upper];
            }
        }
    }
    owner
}

fn blocks(grid: &Grid, owner: &[usize]) -> Vec<Block> {
    let mut blocks: Vec<Block> = grid.cells.iter().map(|_| Block::default()).collect();
    for (cell, &from) in grid.cells.iter().zip(owner) {
        blocks[from].weight += 1.0;
        for &(other, weight) in cell.above.iter().chain(&cell.below) {
            if owner[other] != from {
                blocks[from].pulls.push((owner[other], weight));
                blocks[from].weight += weight;
            }
        }
    }
    blocks
}

/// Neighbours on a row, from left to right in such an order that nobody is looked at before all to his left are.
fn pairs(grid: &Grid, owner: &[usize]) -> Vec<Pair> {
    let mut after: Vec<Vec<(usize, f64)>> = vec![Vec::new(); grid.cells.len()];
    let mut waiting = vec![0usize; grid.cells.len()];
    for row in &grid.rows {
        for two in row.windows(2) {
            let gap = gap(&grid.cells[two[0]], &grid.cells[two[1]]);
            after[owner[two[0]]].push((owner[two[1]], gap));
            waiting[owner[two[1]]] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..grid.cells.len()).filter(|&block| waiting[block] == 0).rev().collect();
    let mut pairs = Vec::new();
    while let Some(left) = ready.pop() {
        for &(right, gap) in &after[left] {
            pairs.push(Pair { left, right, gap });
            waiting[right] -= 1;
            if waiting[right] == 0 {
                ready.push(right);
            }
        }
    }
    debug_assert!(waiting.iter().all(|&left| left == 0), "blocks that do not cross have an order");
    pairs
}

fn gap(left: &Cell, right: &Cell) -> f64 {
    let between = match (left.is_bend, right.is_bend) {
        (false, false) => 32.0,
        (true, true) => 14.0,
        _ => 20.0,
    };
    left.right + right.left + between
}

/// The middle of what is connected, weakly wanted by all: what hangs on nothing else does not drift away.
fn middle(blocks: &[Block]) -> f64 {
    let weight: f64 = blocks.iter().map(|block| block.weight).sum();
    blocks.iter().map(|block| block.x * block.weight).sum::<f64>() / weight.max(1.0)
}

fn wanted(block: &Block, blocks: &[Block], middle: f64) -> f64 {
    let pull =
        |sum: (f64, f64), &(other, weight): &(usize, f64)| (sum.0 + blocks[other].x * weight, sum.1 + weight);
    let (sum, weight) = block.pulls.iter().fold((middle * MIDDLE_PULL, MIDDLE_PULL), pull);
    sum / weight
}

/// Pushes two that are too close apart, the lighter one further.
fn part(blocks: &mut [Block], pair: &Pair) {
    let (left, right) = (&blocks[pair.left], &blocks[pair.right]);
    let lack = left.x + pair.gap - right.x;
    if lack > 0.0 {
        let share = right.weight / (left.weight + right.weight);
        blocks[pair.left].x -= lack * share;
        blocks[pair.right].x += lack * (1.0 - share);
    }
}

/// From left to right, moves whatever is still too close.
fn settle(blocks: &mut [Block], pairs: &[Pair]) {
    for pair in pairs {
        blocks[pair.right].x = blocks[pair.right].x.max(blocks[pair.left].x + pair.gap);
    }
}

/// Moves each to where it wants to be as far as its neighbours leave it room.
fn ease(blocks: &mut [Block], pairs: &[Pair]) {
    let (mut lefts, mut rights) = (vec![Vec::new(); blocks.len()], vec![Vec::new(); blocks.len()]);
    for pair in pairs {
        lefts[pair.right].push((pair.left, pair.gap));
        rights[pair.left].push((pair.right, pair.gap));
    }
    for pass in 0..EASES {
        let middle = middle(blocks);
        for index in 0..blocks.len() {
            let at = if pass % 2 == 0 { index } else { blocks.len() - 1 - index };
            let low =
                lefts[at].iter().map(|&(left, gap)| blocks[left].x + gap).fold(f64::NEG_INFINITY, f64::max);
            let high =
                rights[at].iter().map(|&(right, gap)| blocks[right].x - gap).fold(f64::INFINITY, f64::min);
            // Not the other way round: rounding may leave no room at all, and then the left neighbour decides.
            blocks[at].x = wanted(&blocks[at], blocks, middle).min(high).max(low);
        }
    }
}
