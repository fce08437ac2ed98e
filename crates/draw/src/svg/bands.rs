//! Phases as bands behind the machine: each goes over the rows that are its alone.

use std::fmt::Write as _;

use model::Pipeline;

use crate::layout::{Layout, Rect, number};
use crate::text::escape;

/// The room between the boxes of a band and its edge.
const AROUND: f64 = 12.0;

struct Band<'p> {
    phase: &'p str,
    top: f64,
    bottom: f64,
}

/// Draws the bands of a machine that goes through its phases one after the other. Of one that does not, nothing: a band that
/// has states of other phases in it says what is not so.
pub(super) fn write(out: &mut String, pipeline: &Pipeline, layout: &Layout) {
    let mut bands = bands(pipeline, layout);
    bands.sort_by(|a, b| a.top.total_cmp(&b.top));
    if bands.len() < 2 || bands.windows(2).any(|two| two[0].bottom > two[1].top) {
        return;
    }
    if let Some(first) = bands.first_mut() {
        first.top -= AROUND;
    }
    if let Some(last) = bands.last_mut() {
        last.bottom += AROUND;
    }
    // Neighbours share the room between them.
    for below in 1..bands.len() {
        let middle = f64::midpoint(bands[below - 1].bottom, bands[below].top);
        let half = (bands[below].top - middle).min(AROUND) - 1.5;
        bands[below - 1].bottom += half;
        bands[below].top -= half;
    }
    for band in &bands {
        let (top, height) = (number(band.top), number(band.bottom - band.top));
        let _ = writeln!(
            out,
            "<rect class=\"band\" x=\"0\" y=\"{top}\" width=\"{}\" height=\"{height}\" rx=\"6\"/>",
            number(layout.size.width)
        );
        let _ = writeln!(
            out,
            "<text class=\"phase\" x=\"8\" y=\"{}\">{}</text>",
            number(band.top + 15.0),
            escape(band.phase)
        );
    }
}

fn bands<'p>(pipeline: &'p Pipeline, layout: &Layout) -> Vec<Band<'p>> {
    let mut bands: Vec<Band<'p>> = Vec::new();
    // The first box is where submissions come in.
    let boxes: Vec<(&'p str, &Rect)> = pipeline
        .states
        .iter()
        .zip(layout.boxes.iter().skip(1))
        .map(|(state, at)| (state.phase.as_deref().unwrap_or_default(), at))
        .collect();
    for (phase, at) in boxes.into_iter().filter(|(phase, _)| !phase.is_empty()) {
        match bands.iter_mut().find(|band| band.phase == phase) {
            Some(band) => (band.top, band.bottom) = (band.top.min(at.top()), band.bottom.max(at.bottom())),
            None => bands.push(Band { phase, top: at.top(), bottom: at.bottom() }),
        }
    }
    bands
}
