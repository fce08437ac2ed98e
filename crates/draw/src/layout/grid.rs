//! Rows of cells: one for each box, and one for each line on every row between its ends.

use super::{BENDS_MAX, Graph};

/// Room beside a box that a line which returns to it takes, before its label.
pub(super) const LOOP_REACH: f64 = 34.0;

/// A place on a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) row: usize,
    /// The reach of the cell from its line or its box's centre.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    pub(super) is_bend: bool,
    pub(super) x: f64,
    /// Cells on the row above that a line connects it with, and how strongly; likewise below.
    pub(super) above: Vec<(usize, f64)>,
    pub(super) below: Vec<(usize, f64)>,
}

/// A line's cells from top to bottom, the boxes at its ends included.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) link: usize,
    pub(super) upwards: bool,
    pub(super) cells: Vec<usize>,
    /// The cell in which its label is.
    pub(super) label: usize,
}

#[derive(Debug, Default)]
pub(super) struct Grid {
    /// The cells; those of the boxes come first, in their order.
    pub(super) cells: Vec<Cell>,
    /// Each row's cells from left to right. Boxes stand on even rows, labels on odd ones.
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) chains: Vec<Chain>,
}

impl Grid {
    pub(super) fn new(graph: &Graph, upwards: &[bool], ranks: &[usize]) -> Self {
        let rows = ranks.iter().copied().max().map_or(0, |last| 2 * last + 1);
        let mut grid = Grid { rows: vec![Vec::new(); rows], ..Grid::default() };
        for (size, rank) in graph.boxes.iter().zip(ranks) {
            let half = size.width / 2.0;
            let cell =
                Cell { row: 2 * rank, left: half, right: half, height: size.height, ..Cell::default() };
            grid.add(cell);
        }
        for link in graph.links.iter().filter(|link| link.is_loop()) {
            let cell = &mut grid.cells[link.from];
            cell.right += LOOP_REACH + link.label.width;
            cell.height = cell.height.max(link.label.height);
        }
        for index in drawn(graph, ranks) {
            grid.add_chain(graph, index, upwards[index]);
        }
        grid
    }

    fn add(&mut self, cell: Cell) -> usize {
        let index = self.cells.len();
        self.rows[cell.row].push(index);
        self.cells.push(cell);
        index
    }

    fn add_chain(&mut self, graph: &Graph, index: usize, upwards: bool) {
        let link = &graph.links[index];
        let (high, low) = if upwards { (link.to, link.from) } else { (link.from, link.to) };
        let (first, last) = (self.cells[high].row, self.cells[low].row);
        // Next to where the line comes from: there it is read.
        let label_row = if upwards { last - 1 } else { first + 1 };
        let mut chain = Chain { link: index, upwards, cells: vec![high], label: high };
        for row in first + 1..last {
            let mut cell = Cell { row, left: 1.0, right: 1.0, is_bend: true, ..Cell::default() };
            if row == label_row {
                (cell.left, cell.right) = (link.label.width / 2.0, link.label.width / 2.0);
                cell.height = link.label.height;
                chain.label = self.cells.len();
            }
            chain.cells.push(self.add(cell));
        }
        chain.cells.push(low);
        for pair in chain.cells.windows(2) {
            let inner = self.cells[pair[0]].is_bend && self.cells[pair[1]].is_bend;
            let weight = if inner { link.weight() * 4.0 } else { link.weight() };
            self.cells[pair[0]].below.push((pair[1], weight));
            self.cells[pair[1]].above.push((pair[0], weight));
        }
        self.chains.push(chain);
    }

    /// Each cell's place within its row.
    pub(super) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.cells.len()];
        for row in &self.rows {
            row.iter().enumerate().for_each(|(position, &cell)| positions[cell] = position);
        }
        positions
    }
}

/// The lines there is room for, in their order: all of them, unless they are far too many.
fn drawn(graph: &Graph, ranks: &[usize]) -> Vec<usize> {
    let bends = |index: usize| {
        let link = &graph.links[index];
        2 * ranks[link.from].abs_diff(ranks[link.to]) - 1
    };
    let mut links: Vec<usize> =
        (0..graph.links.len()).filter(|&index| !graph.links[index].is_loop()).collect();
    links.sort_by_key(|&index| bends(index));
    let mut sum = 0;
    links.retain(|&index| {
        sum += bends(index);
        sum <= BENDS_MAX
    });
    links.sort_unstable();
    links
}
