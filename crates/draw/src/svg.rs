//! A pipeline as an SVG drawing: no scripts, no fonts, nothing fetched.

mod arrows;
mod bands;
mod boxes;
mod legend;

use std::fmt::Write as _;

use model::Pipeline;

use super::chart::{Chart, Told};
use super::layout::{Layout, number};
use super::overlay::Overlay;
use super::path::Path;
use super::text::{Font, escape, one_line};
use super::theme;

const HEADING_FONT: Font = Font { size: 17.0, bold: true };
const SUB_FONT: Font = Font { size: 11.5, bold: false };
const MARGIN: f64 = 24.0;
const HEAD_HEIGHT: f64 = 74.0;
/// The room above the machine in a page.
const PAGE_HEAD_HEIGHT: f64 = 22.0;
const WIDTH_MIN: f64 = 420.0;

/// Draws the machine; with a path, also the way one submission took through it.
#[must_use]
pub fn svg(pipeline: &Pipeline, path: Option<&Path>) -> String {
    let chart = Chart::new(pipeline, path);
    let layout = chart.graph().layout();
    Drawing { pipeline, chart: &chart, layout: &layout, overlay: None }.write()
}

/// Draws the machine as a part of a page, which has the heading and [`super::page_style`] itself: with what is where, and
/// where a click on a state leads.
#[must_use]
pub fn picture(pipeline: &Pipeline, path: Option<&Path>, overlay: &Overlay) -> String {
    let chart = Chart::new(pipeline, path);
    let layout = chart.graph().layout();
    Drawing { pipeline, chart: &chart, layout: &layout, overlay: Some(overlay) }.write()
}

struct Drawing<'a> {
    pipeline: &'a Pipeline,
    chart: &'a Chart,
    layout: &'a Layout,
    /// Set in a page.
    overlay: Option<&'a Overlay>,
}

impl Drawing<'_> {
    fn write(&self) -> String {
        let heading = self.heading();
        let sub = self.sub();
        let head_height = if self.overlay.is_some() { PAGE_HEAD_HEIGHT } else { HEAD_HEIGHT };
        let head_width = HEADING_FONT.width(&heading).max(SUB_FONT.width(&sub)) + 2.0 * MARGIN;
        let bands = match self.overlay {
            Some(_) => bands::Bands::new(self.pipeline, self.layout),
            None => bands::Bands::default(),
        };
        let machine_width = self.layout.size.width + bands.gutter();
        let width = machine_width.max(head_width).max(WIDTH_MIN).ceil();
        let legend = legend::Legend::new(self.chart, width);
        let legend_top = head_height + self.layout.size.height + MARGIN;
        let height = (legend_top + legend.height + MARGIN).ceil();
        let mut out = String::new();
        let id = format!("machine-{}-{}", self.pipeline.name, self.pipeline.version);
        // A picture is one thing to whoever hears it; one with links in it is many.
        let role =
            if self.overlay.is_some_and(|overlay| !overlay.links.is_empty()) { "group" } else { "img" };
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"machine\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"{role}\" aria-labelledby=\"{id}-title {id}-desc\">"
        );
        let _ = writeln!(out, "<title id=\"{id}-title\">{}</title>", escape(&self.full_heading()));
        let _ = writeln!(out, "<desc id=\"{id}-desc\">{}</desc>", escape(&self.description()));
        if self.overlay.is_none() {
            let _ = writeln!(out, "<style>{}</style>", theme::style());
        }
        let _ = writeln!(out, "<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>");
        if self.overlay.is_none() {
            let _ =
                writeln!(out, "<text class=\"heading\" x=\"{MARGIN}\" y=\"34\">{}</text>", escape(&heading));
            let _ = writeln!(out, "<text class=\"sub\" x=\"{MARGIN}\" y=\"53\">{}</text>", escape(&sub));
        }
        let aside = ((width - machine_width) / 2.0).max(0.0).floor() + bands.gutter();
        let _ = writeln!(out, "<g transform=\"translate({} {})\">", number(aside), number(head_height));
        bands.write(&mut out, self.layout);
        arrows::write(&mut out, self.chart, self.layout, self.overlay);
        boxes::write(&mut out, self.chart, self.layout, self.overlay);
        out.push_str("</g>\n");
        legend.write(&mut out, legend_top);
        out.push_str("</svg>\n");
        out
    }

    fn full_heading(&self) -> String {
        let title = one_line(&self.pipeline.title);
        if title.is_empty() { self.pipeline.name.to_string() } else { title }
    }

    fn heading(&self) -> String {
        HEADING_FONT.cut(&self.full_heading(), 900.0)
    }

    fn sub(&self) -> String {
        let states = self.pipeline.states.len();
        let mut sub = format!("{} · version {} · {states} states", self.pipeline.name, self.pipeline.version);
        let left_out = self.layout.routes.iter().filter(|route| route.is_none()).count();
        if left_out > 0 {
            let _ = write!(sub, " · {left_out} arrows are left out, for there are too many");
        }
        if self.chart.unknown_steps > 0 {
            let _ = write!(sub, " · {} steps were in states this version has not", self.chart.unknown_steps);
        }
        sub
    }

    /// The machine in words: every move, whether there is room for its arrow or not.
    fn description(&self) -> String {
        let mut text = format!("A state machine with {} states.", self.pipeline.states.len());
        for told in self.chart.arrows.iter().flat_map(|arrow| &arrow.moves) {
            let _ = write!(text, "\n{}", sentence(told));
        }
        let present = self.chart.boxes.iter().find(|shown| shown.present.is_some());
        if let Some(name) = present.and_then(|shown| shown.state.as_ref()) {
            let _ = write!(text, "\nThe submission is in {name}.");
        }
        text
    }
}

/// A move as a line of text.
fn sentence(told: &Told) -> String {
    let from = told.from.as_deref().unwrap_or("(start)");
    let when = told.when.as_ref().map_or_else(String::new, |when| format!(" when {when}"));
    format!("{from} → {} by {}{when}", told.to, told.trigger)
}
