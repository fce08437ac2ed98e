//! Arrows and their labels.

use std::fmt::Write as _;

use super::sentence;
use crate::chart::Look;
use crate::chart::{Arrow, BADGE_FONT, Chart, LABEL_LINE, Tone, recent};
use crate::layout::{Heading, Layout, Rect, Route, TIP_LENGTH, Tip, number};
use crate::overlay::{Flow, Overlay};
use crate::text::{Font, escape};

const TIP_HALF: f64 = 4.2;
const RATE_FONT: Font = Font { size: 10.0, bold: true };

/// Draws the arrows. Those that a path took come last, so that they lie above the rest.
pub(super) fn write(out: &mut String, chart: &Chart, layout: &Layout, overlay: Option<&Overlay>) {
    let mut drawn: Vec<(&Arrow, &Route)> = chart
        .arrows
        .iter()
        .zip(&layout.routes)
        .filter_map(|(arrow, route)| Some((arrow, route.as_ref()?)))
        .collect();
    drawn.sort_by_key(|(arrow, _)| arrow.badge.is_some());
    for (arrow, route) in drawn {
        write_one(out, chart, (arrow, route), flow(chart, arrow, overlay));
    }
}

/// Returns the moves along an arrow lately. What is drawn once for every open state has no figures of its own.
fn flow<'o>(chart: &Chart, arrow: &Arrow, overlay: Option<&'o Overlay>) -> Option<&'o Flow> {
    let (from, to) = (&chart.boxes[arrow.from], &chart.boxes[arrow.to]);
    if from.look == Look::Open {
        return None;
    }
    overlay?.rates.get(&(from.state.clone(), to.state.clone()?))
}

fn write_one(out: &mut String, chart: &Chart, (arrow, route): (&Arrow, &Route), flow: Option<&Flow>) {
    let way = match (&arrow.badge, chart.has_path) {
        (Some(_), _) => " trail",
        (None, true) => " aside",
        (None, false) if flow.is_some_and(|flow| flow.is_busy) => " busy",
        (None, false) => "",
    };
    let name = |at: usize| escape(chart.boxes[at].state.as_deref().unwrap_or(chart.boxes[at].look.as_str()));
    let _ = writeln!(
        out,
        "<g class=\"arrow {}{way}\" data-from=\"{}\" data-to=\"{}\">",
        arrow.tone.as_str(),
        name(arrow.from),
        name(arrow.to)
    );
    let told: Vec<String> = arrow.moves.iter().map(sentence).chain(recent(&arrow.story)).collect();
    let _ = writeln!(out, "<title>{}</title>", escape(&told.join("\n")));
    let _ = writeln!(out, "<path class=\"line\" d=\"{}\"/>", route.line);
    let _ = writeln!(out, "<path class=\"tip\" d=\"{}\"/>", tip(&route.tip));
    label(out, arrow, &route.label);
    if let Some(flow) = flow {
        rate(out, &flow.text, &route.label);
    }
    out.push_str("</g>\n");
}

fn tip(tip: &Tip) -> String {
    let (x, y) = (tip.x, tip.y);
    let corner = |x: f64, y: f64| format!("{} {}", number(x), number(y));
    let [left, right] = match tip.heading {
        Heading::Down => [(x - TIP_HALF, y - TIP_LENGTH), (x + TIP_HALF, y - TIP_LENGTH)],
        Heading::Up => [(x - TIP_HALF, y + TIP_LENGTH), (x + TIP_HALF, y + TIP_LENGTH)],
        Heading::Left => [(x + TIP_LENGTH, y - TIP_HALF), (x + TIP_LENGTH, y + TIP_HALF)],
    };
    format!("M{}L{}L{}Z", corner(x, y), corner(left.0, left.1), corner(right.0, right.1))
}

fn label(out: &mut String, arrow: &Arrow, at: &Rect) {
    let (x, y) = (number(at.left()), number(at.top()));
    let (width, height) = (number(at.size.width), number(at.size.height));
    let _ = writeln!(
        out,
        "<rect class=\"pill\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
    );
    let middle = at.x + arrow.badge_width() / 2.0;
    for (line, (tone, text)) in arrow.label.iter().enumerate() {
        let y = at.top() + 2.0 + LABEL_LINE * line as f64 + 10.5;
        let tone = if *tone == Tone::Flow { String::new() } else { format!(" {}", tone.as_str()) };
        let _ = writeln!(
            out,
            "<text class=\"label{tone}\" x=\"{}\" y=\"{}\">{}</text>",
            number(middle),
            number(y),
            escape(text)
        );
    }
    if let Some(text) = &arrow.badge {
        badge(out, text, at.left() + arrow.badge_width() / 2.0, at.y);
    }
}

/// Writes how many pass, above the label, which has the same place whether anything moves or not.
fn rate(out: &mut String, text: &str, label: &Rect) {
    let width = RATE_FONT.width(text).ceil() + 6.0;
    let top = label.top() - 10.5;
    let _ = writeln!(
        out,
        "<rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"4\"/>",
        number(label.x - width / 2.0),
        number(top),
        number(width)
    );
    let _ = writeln!(
        out,
        "<text class=\"rate\" x=\"{}\" y=\"{}\">{}</text>",
        number(label.x),
        number(top + 9.5),
        escape(text)
    );
}

/// The numbers of steps, or a mark, in a small pill around a point.
pub(super) fn badge(out: &mut String, text: &str, x: f64, y: f64) {
    let width = BADGE_FONT.width(text).ceil().max(7.0) + 8.0;
    let _ = writeln!(
        out,
        "<rect class=\"badge\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\" rx=\"7.5\"/>",
        number(x - width / 2.0),
        number(y - 7.5),
        number(width)
    );
    let _ = writeln!(
        out,
        "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>",
        number(x),
        number(y + 3.4),
        escape(text)
    );
}
