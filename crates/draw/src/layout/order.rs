//! The order of cells within their rows: as few crossings as a handful of sweeps can find.

use super::grid::Grid;

const SWEEPS: usize = 24;
/// Swapping neighbours costs more than sweeping; on large machines it is left out.
const SWAPS_CELLS_MAX: usize = 1_500;

pub(super) fn order(grid: &mut Grid) {
    start(grid);
    let mut best = (crossings(grid), grid.rows.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let rows = grid.rows.len();
        if sweep % 2 == 0 {
            (1..rows).for_each(|row| sort(grid, row, true));
        } else {
            (0..rows.saturating_sub(1)).rev().for_each(|row| sort(grid, row, false));
        }
        if grid.cells.len() <= SWAPS_CELLS_MAX {
            swap(grid);
        }
        let crossings = crossings(grid);
        if crossings < best.0 {
            best = (crossings, grid.rows.clone());
        }
    }
    grid.rows = best.1;
}

/// Walks down from the top, so that what belongs together begins together.
fn start(grid: &mut Grid) {
    let mut seen = vec![false; grid.cells.len()];
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); grid.rows.len()];
    for root in grid.rows.iter().flatten().copied() {
        let mut stack = vec![root];
        while let Some(cell) = stack.pop() {
            if std::mem::replace(&mut seen[cell], true) {
                continue;
            }
            rows[grid.cells[cell].row].push(cell);
            stack.extend(grid.cells[cell].below.iter().rev().map(|&(below, _)| below));
        }
    }
    grid.rows = rows;
}

/// Puts each cell of a row below (or above) the middle of those it is connected with.
fn sort(grid: &mut Grid, row: usize, downwards: bool) {
    let positions = grid.positions();
    let middle = |cell: usize| {
        let cells = &grid.cells[cell];
        let others = if downwards { &cells.above } else { &cells.below };
        if others.is_empty() {
            return positions[cell] as f64;
        }
        others.iter().map(|&(other, _)| positions[other] as f64).sum::<f64>() / others.len() as f64
    };
    let mut keyed: Vec<(f64, usize)> = grid.rows[row].iter().map(|&cell| (middle(cell), cell)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    grid.rows[row] = keyed.into_iter().map(|(_, cell)| cell).collect();
}

/// Swaps neighbours wherever that takes crossings away.
fn swap(grid: &mut Grid) {
    let mut positions = grid.positions();
    for _ in 0..4 {
        let mut swapped = false;
        for row in 0..grid.rows.len() {
            for at in 1..grid.rows[row].len() {
                let (left, right) = (grid.rows[row][at - 1], grid.rows[row][at]);
                let count = |a: usize, b: usize| {
                    let (a, b) = (&grid.cells[a], &grid.cells[b]);
                    inverted(&a.above, &b.above, &positions) + inverted(&a.below, &b.below, &positions)
                };
                if count(right, left) < count(left, right) {
                    grid.rows[row].swap(at - 1, at);
                    positions.swap(left, right);
                    swapped = true;
                }
            }
        }
        if !swapped {
            break;
        }
    }
}

/// Crossings between the lines of a cell and those of one to its right.
fn inverted(left: &[(usize, f64)], right: &[(usize, f64)], positions: &[usize]) -> usize {
    let crossed =
        |&(other, _): &(usize, f64)| right.iter().filter(|(to, _)| positions[*to] < positions[other]).count();
    left.iter().map(crossed).sum()
}

pub(super) fn crossings(grid: &Grid) -> usize {
    let positions = grid.positions();
    let mut sum = 0;
    for row in &grid.rows {
        let mut ends: Vec<usize> = Vec::new();
        for &cell in row {
            let mut here: Vec<usize> = grid.cells[cell].below.iter().map(|&(to, _)| positions[to]).collect();
            here.sort_unstable();
            ends.extend(here);
        }
        sum += inversions(&ends);
    }
    sum
}

/// Counts the pairs that are in the wrong order, by a tree of counts.
fn inversions(ends: &[usize]) -> usize {
    let size = ends.iter().copied().max().map_or(0, |most| most + 1);
    let mut tree = vec![0usize; size + 1];
    let mut sum = 0;
    for (before, &end) in ends.iter().enumerate() {
        let mut not_after = 0;
        let mut at = end + 1;
        while at > 0 {
            not_after += tree[at];
            at &= at - 1;
        }
        sum += before - not_after;
        at = end + 1;
        while at <= size {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_the_wrong_order_are_counted() {
        assert_eq!(inversions(&[]), 0);
        assert_eq!(inversions(&[0, 1, 1, 2]), 0);
        assert_eq!(inversions(&[2, 1, 0]), 3);
        assert_eq!(inversions(&[1, 3, 0, 2, 0]), 6);
    }
}
