//! Phases as bands behind the machine: each goes over the rows that are its alone.

use std::fmt::Write as _;

use model::Pipeline;

use crate::layout::{Layout, number};
use crate::text::{Font, escape};

/// The room between the boxes of a band and its edge.
const AROUND: f64 = 12.0;

/// The room at the sides of a band's name.
const BESIDE: f64 = 10.0;
const FONT: Font = Font { size: 11.0, bold: true };

/// The phases of a machine that goes through them one after the other; of any other, none: a band that has states of other
/// phases in it says what is not so.
#[derive(Default)]
pub(super) struct Bands<'p> {
    bands: Vec<Band<'p>>,
}

struct Band<'p> {
    phase: &'p str,
    top: f64,
    bottom: f64,
}

impl<'p> Bands<'p> {
    pub(super) fn new(pipeline: &'p Pipeline, layout: &Layout) -> Self {
        let mut bands = of_phases(pipeline, layout);
        bands.sort_by(|a, b| a.top.total_cmp(&b.top));
        if bands.len() < 2 || bands.windows(2).any(|two| two[0].bottom > two[1].top) {
            return Bands::default();
        }
        bands[0].top -= AROUND;
        // Neighbours share the room between them.
        for below in 1..bands.len() {
            let apart = ((bands[below].top - bands[below - 1].bottom) / 2.0 - 1.5).min(AROUND);
            bands[below - 1].bottom += apart;
            bands[below].top -= apart;
        }
        if let Some(last) = bands.last_mut() {
            last.bottom += AROUND;
        }
        Bands { bands }
    }

    /// Returns the width of the room at the left in which the names stand.
    pub(super) fn gutter(&self) -> f64 {
        let widest = self.bands.iter().map(|band| FONT.width(band.phase)).fold(0.0, f64::max);
        if self.bands.is_empty() { 0.0 } else { widest.ceil() + 2.0 * BESIDE }
    }

    pub(super) fn write(&self, out: &mut String, layout: &Layout) {
        let left = -self.gutter();
        for band in &self.bands {
            let (top, height) = (number(band.top), number(band.bottom - band.top));
            let _ = writeln!(
                out,
                "<rect class=\"band\" x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{height}\" rx=\"6\"/>",
                number(left),
                number(layout.size.width - left)
            );
            let _ = writeln!(
                out,
                "<text class=\"phase\" x=\"{}\" y=\"{}\">{}</text>",
                number(left + BESIDE),
                number(f64::midpoint(band.top, band.bottom) + 4.0),
                escape(band.phase)
            );
        }
    }
}

fn of_phases<'p>(pipeline: &'p Pipeline, layout: &Layout) -> Vec<Band<'p>> {
    let mut bands: Vec<Band<'p>> = Vec::new();
    // The first box is where submissions come in.
    let boxes = pipeline.states.iter().zip(layout.boxes.iter().skip(1));
    for (state, at) in boxes {
        let Some(phase) = state.phase.as_deref() else { continue };
        match bands.iter_mut().find(|band| band.phase == phase) {
            Some(band) => (band.top, band.bottom) = (band.top.min(at.top()), band.bottom.max(at.bottom())),
            None => bands.push(Band { phase, top: at.top(), bottom: at.bottom() }),
        }
    }
    bands
}
