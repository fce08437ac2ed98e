//! Places the boxes and lines of a machine: a layered drawing, top to bottom.
//!
//! Cycles are opened, boxes are put on rows so that lines lead downwards, every line gets a place of its own on each row
//! it passes and its label a place on a row between, rows are ordered for few crossings, and then everything is pulled
//! towards what it is connected to as far as the room allows. Because lines own their places, they never run through a
//! box or a label. Pure arithmetic on what is given: the same graph gives the same drawing.

mod acyclic;
mod grid;
mod order;
mod place;
mod ports;
mod rank;
mod route;
mod spine;
mod turns;

#[cfg(test)]
mod tests;

pub(super) use route::{Heading, Route, TIP_LENGTH, Tip, number};

/// Lines that would need more places on rows than this together are left out, longest first: a hostile machine may
/// have thousands of lines over hundreds of rows.
const BENDS_MAX: usize = 4_000;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A rectangle by its centre.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) size: Size,
}

impl Rect {
    pub(super) fn left(&self) -> f64 {
        self.x - self.size.width / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.size.width / 2.0
    }

    pub(super) fn top(&self) -> f64 {
        self.y - self.size.height / 2.0
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.size.height / 2.0
    }
}

/// The graph to draw: boxes by number, the first being where everything begins, and lines between them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) boxes: Vec<Size>,
    pub(super) links: Vec<Link>,
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Size,
    /// Set if the link is what the machine is about: short and straight before others.
    pub(super) main: bool,
    /// Set if the link leads upwards rather than another one: a way out of an end.
    pub(super) returns: bool,
}

impl Link {
    pub(super) fn is_loop(&self) -> bool {
        self.from == self.to
    }

    fn weight(&self) -> f64 {
        if self.main { 4.0 } else { 1.0 }
    }
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) size: Size,
    pub(super) boxes: Vec<Rect>,
    /// One for each link; `None`: left out, for there are too many.
    pub(super) routes: Vec<Option<Route>>,
}

impl Graph {
    pub(super) fn layout(&self) -> Layout {
        let upwards = acyclic::upwards(self);
        let ranks = rank::ranks(self, &upwards);
        let mut grid = grid::Grid::new(self, &upwards, &ranks);
        order::order(&mut grid);
        let stands = spine::stands(self, &upwards, &ranks);
        place::place(&mut grid, &stands);
        route::draw(self, &grid, &stands)
    }
}
