//! From cells to shapes: rectangles, and lines that are straight down on rows and curved between them.

use std::fmt::Write as _;

use super::grid::{Grid, LOOP_REACH};
use super::ports;
use super::spine::Stands;
use super::turns::{self, Track};
use super::{Graph, Layout, Rect, Size};

const MARGIN: f64 = 24.0;
/// Between two rows, where nothing moves sideways; more where lines do.
const GAP_MIN: f64 = 16.0;
const GAP_MAX: f64 = 56.0;
/// From here on a line goes far sideways; of so many, each needs more room.
const FAR: f64 = 60.0;
const CROWD_MAX: u32 = 10;
pub(crate) const TIP_LENGTH: f64 = 8.0;

/// A line as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    /// The path's data, from the box it leaves to the tip.
    pub(crate) line: String,
    pub(crate) tip: Tip,
    pub(crate) label: Rect,
}

/// The arrow's point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tip {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) heading: Heading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    Down,
    Up,
    Left,
}

/// Top and bottom of a row.
#[derive(Debug, Clone, Copy, Default)]
struct Band {
    top: f64,
    bottom: f64,
}

impl Band {
    fn middle(self) -> f64 {
        (self.top + self.bottom) / 2.0
    }
}

pub(super) fn draw(graph: &Graph, grid: &Grid, stands: &[Stands]) -> Layout {
    let leftmost = grid.cells.iter().map(|cell| cell.x - cell.left).fold(f64::INFINITY, f64::min);
    let shift = if leftmost.is_finite() { MARGIN - leftmost } else { 0.0 };
    let xs: Vec<f64> = grid.cells.iter().map(|cell| (cell.x + shift).round()).collect();
    let ends = ports::ends(graph, grid, &xs, stands);
    let tracks = turns::tracks(grid, &xs, &ends);
    let bands = bands(grid, &tracks);
    let boxes: Vec<Rect> = graph
        .boxes
        .iter()
        .enumerate()
        .map(|(index, &size)| Rect { x: xs[index], y: bands[grid.cells[index].row].middle(), size })
        .collect();
    let mut routes: Vec<Option<Route>> = vec![None; graph.links.len()];
    for (chain, track) in grid.chains.iter().zip(&tracks) {
        let (high, low) = (chain.cells[0], chain.cells[chain.cells.len() - 1]);
        let points = Points { grid, bands: &bands, cells: &chain.cells, track };
        let (line, tip) = points.line(chain.upwards, [boxes[high].bottom(), boxes[low].top()]);
        let label = Rect {
            x: xs[chain.label],
            y: bands[grid.cells[chain.label].row].middle(),
            size: graph.links[chain.link].label,
        };
        routes[chain.link] = Some(Route { line, tip, label });
    }
    for (index, link) in graph.links.iter().enumerate().filter(|(_, link)| link.is_loop()) {
        routes[index] = Some(around(&boxes[link.from], link.label));
    }
    let right = grid.cells.iter().zip(&xs).map(|(cell, x)| x + cell.right).fold(0.0, f64::max);
    let bottom = bands.last().map_or(0.0, |band| band.bottom);
    Layout { size: Size { width: right + MARGIN, height: bottom }, boxes, routes }
}

/// Rows from top to bottom; where lines go far sideways, or many do, there is more room between two.
fn bands(grid: &Grid, tracks: &[Track]) -> Vec<Band> {
    let mut furthest = vec![0.0_f64; grid.rows.len()];
    let mut crowd = vec![[0_u32; 2]; grid.rows.len()];
    for (chain, track) in grid.chains.iter().zip(tracks) {
        for (at, two) in track.xs.windows(2).enumerate() {
            let row = grid.cells[chain.cells[at]].row;
            let sideways = (two[0] - two[1]).abs();
            furthest[row] = furthest[row].max(sideways);
            crowd[row][usize::from(two[0] > two[1])] += u32::from(sideways > FAR);
        }
    }
    let mut y = 0.0;
    let mut bands = Vec::new();
    for (row, cells) in grid.rows.iter().enumerate() {
        let height = cells.iter().map(|&cell| grid.cells[cell].height).fold(0.0, f64::max);
        bands.push(Band { top: y, bottom: y + height });
        let crowd = crowd[row][0].max(crowd[row][1]).saturating_sub(2).min(CROWD_MAX);
        y += height + (GAP_MIN + furthest[row] * 0.17).min(GAP_MAX).round() + 6.0 * f64::from(crowd);
    }
    bands
}

struct Points<'a> {
    grid: &'a Grid,
    bands: &'a [Band],
    cells: &'a [usize],
    track: &'a Track,
}

impl Points<'_> {
    /// The path in the direction of its arrow. `edges`: the bottom of the upper box and the top of the lower one.
    fn line(&self, upwards: bool, edges: [f64; 2]) -> (String, Tip) {
        let last = self.cells.len() - 1;
        let mut stops: Vec<(f64, f64)> = Vec::new();
        for (at, &x) in self.track.xs.iter().enumerate() {
            let band = self.band(at);
            stops.push((
                x,
                if at == 0 { edges[0] } else { band.top.min(if at == last { edges[1] } else { band.top }) },
            ));
            stops.push((x, if at == last { edges[1] } else { band.bottom }));
        }
        let mut turns = self.track.turns.clone();
        let heading = if upwards { Heading::Up } else { Heading::Down };
        if upwards {
            stops.reverse();
            turns.reverse();
        }
        let end = stops.len() - 1;
        let (x, y) = stops[end];
        // The line ends where the arrow's point begins, and so does its last curve.
        let short = |at: f64| if upwards { at.max(y + TIP_LENGTH) } else { at.min(y - TIP_LENGTH) };
        stops[end].1 = short(y);
        stops[end - 1].1 = short(stops[end - 1].1);
        (trace(&stops, &turns), Tip { x, y, heading })
    }

    fn band(&self, at: usize) -> Band {
        self.bands[self.grid.cells[self.cells[at]].row]
    }
}

/// Straight on rows; between them a curve that leaves and arrives upright and turns at the height it is given.
fn trace(stops: &[(f64, f64)], turns: &[f64]) -> String {
    let mut line = format!("M{} {}", number(stops[0].0), number(stops[0].1));
    for (index, two) in stops.windows(2).enumerate() {
        let ((x, y), (to_x, to_y)) = (two[0], two[1]);
        if (x - to_x).abs() < 0.5 {
            let _ = write!(line, "V{}", number(to_y));
        } else {
            let turn = y.min(to_y) + (y - to_y).abs() * turns[index / 2];
            let (x, turn, to_x, to_y) = (number(x), number(turn), number(to_x), number(to_y));
            let _ = write!(line, "C{x} {turn} {to_x} {turn} {to_x} {to_y}");
        }
    }
    line
}

/// A line that leaves a box on the right and returns to it.
fn around(at: &Rect, label: Size) -> Route {
    let (right, high, low) = (at.right(), at.y - 9.0, at.y + 9.0);
    let out = right + LOOP_REACH - 6.0;
    let line = format!(
        "M{} {}C{} {} {} {} {} {}",
        number(right),
        number(high),
        number(out),
        number(high - 14.0),
        number(out),
        number(low + 14.0),
        number(right + TIP_LENGTH),
        number(low + 2.0)
    );
    let tip = Tip { x: right, y: low, heading: Heading::Left };
    let label = Rect { x: right + LOOP_REACH - 8.0 + label.width / 2.0, y: at.y, size: label };
    Route { line, tip, label }
}

/// One digit after the point is finer than a screen.
pub(crate) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}
