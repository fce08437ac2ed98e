//! States, the start, and what stands for every open state.

use std::fmt::Write as _;

use super::arrows::badge;
use crate::chart::{Chart, Look, NAME_LINE, NOTE_LINE, PADDING, Shown, TITLE_LINE, recent};
use crate::layout::{Layout, Rect, number};
use crate::overlay::{Overlay, Stay};
use crate::text::{Font, escape};

const STAY_FONT: Font = Font { size: 9.5, bold: true };

pub(super) fn write(out: &mut String, chart: &Chart, layout: &Layout, overlay: Option<&Overlay>) {
    for (shown, at) in chart.boxes.iter().zip(&layout.boxes) {
        let aside = chart.has_path && shown.visits.is_empty() && shown.look != Look::Start;
        let class = format!("{}{}", shown.look.as_str(), if aside { " aside" } else { "" });
        match &shown.state {
            Some(name) => {
                let _ = writeln!(out, "<g class=\"state {class}\" data-state=\"{}\">", escape(name));
            }
            None => {
                let _ = writeln!(out, "<g class=\"{class}\">");
            }
        }
        let link = shown.state.as_ref().and_then(|name| overlay?.links.get(name));
        if let Some(link) = link {
            let _ = writeln!(out, "<a href=\"{}\">", escape(link));
        }
        let about: Vec<String> = [shown.about.clone()].into_iter().chain(recent(&shown.story)).collect();
        let _ = writeln!(out, "<title>{}</title>", escape(&about.join("\n")));
        frame(out, shown, at);
        texts(out, shown, at);
        marks(out, shown, at);
        if let (Some(name), Some(overlay)) = (&shown.state, overlay) {
            if let Some(stay) = overlay.stays.get(name) {
                stayed(out, stay, at);
            }
            counts(out, (overlay.counts.get(name), overlay.dead.get(name)), at);
        }
        if link.is_some() {
            out.push_str("</a>");
        }
        out.push_str("</g>\n");
    }
}

fn frame(out: &mut String, shown: &Shown, at: &Rect) {
    let radius = match shown.look {
        Look::Start => at.size.width / 2.0,
        Look::Open => at.size.height / 2.0,
        look if look.is_final() => 16.0,
        _ => 7.0,
    };
    if shown.present.is_some() {
        rect(out, "ring", at, 4.0, radius + 4.0);
    }
    rect(out, "box", at, 0.0, radius);
}

fn rect(out: &mut String, class: &str, at: &Rect, around: f64, radius: f64) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        number(at.left() - around),
        number(at.top() - around),
        number(at.size.width + 2.0 * around),
        number(at.size.height + 2.0 * around),
        number(radius)
    );
}

fn texts(out: &mut String, shown: &Shown, at: &Rect) {
    let mut write = |class: &str, y: f64, line: &str| {
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(at.x),
            number(y),
            escape(line)
        );
    };
    if shown.state.is_none() {
        shown.name.iter().for_each(|line| write("note", at.y + 3.5, line));
        return;
    }
    let mut y = at.top() + PADDING;
    for line in &shown.name {
        write("name", y + 12.0, line);
        y += NAME_LINE;
    }
    for line in &shown.title {
        write("title", y + 10.5, line);
        y += TITLE_LINE;
    }
    write("note", y + NOTE_LINE - 4.0, &shown.note);
}

/// Marks how often the box was entered, and whether the submission is there.
fn marks(out: &mut String, shown: &Shown, at: &Rect) {
    if shown.visits.len() > 1 {
        badge(out, &format!("{}×", shown.visits.len()), at.left() + 10.0, at.top());
    }
    if let Some(mark) = shown.present {
        badge(out, mark, at.right() - 18.0, at.top() - 3.0);
    }
}

/// Writes how many submissions are in a state, and below how many lie dead there.
fn counts(out: &mut String, (open, dead): (Option<&u64>, Option<&u64>), at: &Rect) {
    let each = [("count", open, at.top()), ("count dead", dead, at.top() + at.size.height)];
    for (class, count, y) in each {
        if let Some(count) = count.filter(|count| **count > 0) {
            let _ = writeln!(out, "<g class=\"{class}\">");
            badge(out, &count.to_string(), at.right() - 12.0, y);
            out.push_str("</g>\n");
        }
    }
}

/// Writes how long submissions stay in a state, at the lower left.
fn stayed(out: &mut String, stay: &Stay, at: &Rect) {
    let width = STAY_FONT.width(&stay.text).ceil() + 10.0;
    let (left, middle) = (at.left() + 8.0, at.bottom());
    let _ = writeln!(out, "<g class=\"stay {}\">", stay.heat.as_str());
    let _ = writeln!(out, "<title>{}</title>", escape(&stay.about));
    let _ = writeln!(
        out,
        "<rect class=\"badge\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\" rx=\"7.5\"/>",
        number(left),
        number(middle - 7.5),
        number(width)
    );
    let _ = writeln!(
        out,
        "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>",
        number(left + width / 2.0),
        number(middle + 3.4),
        escape(&stay.text)
    );
    out.push_str("</g>\n");
}
