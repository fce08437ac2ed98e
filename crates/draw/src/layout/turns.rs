//! Keeps lines apart that go sideways between the same two rows.

use super::grid::Grid;
use super::ports::Ends;

/// A line's way: where it is on each row it touches, and how far down between two rows it turns.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) xs: Vec<f64>,
    pub(super) turns: Vec<f64>,
}

/// The part of the room between two rows that lies between the turns of two lines, and of all.
const STEP: f64 = 0.2;
const STEPS_MAX: f64 = 0.56;

pub(super) fn tracks(grid: &Grid, xs: &[f64], ends: &[Ends]) -> Vec<Track> {
    let mut tracks: Vec<Track> = grid
        .chains
        .iter()
        .zip(ends)
        .map(|(chain, ends)| {
            let last = chain.cells.len() - 1;
            let mut places: Vec<f64> = chain.cells.iter().map(|&cell| xs[cell]).collect();
            (places[0], places[last]) = (ends[0], ends[1]);
            Track { xs: places, turns: vec![0.5; last] }
        })
        .collect();
    let mut sideways: Vec<[Vec<(usize, usize)>; 2]> = grid.rows.iter().map(|_| Default::default()).collect();
    for (index, (chain, track)) in grid.chains.iter().zip(&tracks).enumerate() {
        for (at, two) in track.xs.windows(2).enumerate() {
            let row = &mut sideways[grid.cells[chain.cells[at]].row];
            if (two[0] - two[1]).abs() >= 0.5 {
                row[usize::from(two[0] > two[1])].push((index, at));
            }
        }
    }
    for (side, mut lines) in sideways.into_iter().flat_map(|row| row.into_iter().enumerate()) {
        let middle = |&(index, at): &(usize, usize)| tracks[index].xs[at] + tracks[index].xs[at + 1];
        lines.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
        // Whatever is further out turns first: then it lies above the others all the way.
        if side == 0 {
            lines.reverse();
        }
        let count = lines.len() as f64;
        let all = (STEP * (count - 1.0)).min(STEPS_MAX);
        for (place, (index, at)) in lines.into_iter().enumerate() {
            if count > 1.0 {
                tracks[index].turns[at] = 0.5 - all / 2.0 + all * place as f64 / (count - 1.0);
            }
        }
    }
    tracks
}
