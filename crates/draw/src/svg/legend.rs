//! Explains what the colours and lines of a drawing mean: only those that are in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::chart::{Chart, Look, Tone};
use crate::layout::number;
use crate::text::Font;

const FONT: Font = Font { size: 10.5, bold: false };
const MARGIN: f64 = 24.0;
const LINE: f64 = 20.0;
const SWATCH: f64 = 22.0;
const BETWEEN: f64 = 20.0;

struct Item {
    x: f64,
    line: usize,
    sign: Sign,
    text: &'static str,
}

#[derive(Clone, Copy)]
enum Sign {
    Box(Look),
    Line(Tone),
    Trail,
}

pub(super) struct Legend {
    items: Vec<Item>,
    pub(super) height: f64,
}

impl Legend {
    pub(super) fn new(chart: &Chart, width: f64) -> Self {
        let looks: BTreeSet<Look> = chart.boxes.iter().map(|shown| shown.look).collect();
        let tones: BTreeSet<Tone> =
            chart.arrows.iter().flat_map(|arrow| &arrow.moves).map(|told| told.tone).collect();
        let looks = looks.into_iter().filter_map(|look| Some((Sign::Box(look), meaning(look)?)));
        let tones = tones.into_iter().map(|tone| (Sign::Line(tone), way(tone)));
        let trail = chart.has_path.then_some((Sign::Trail, "the way taken, with its steps"));
        let (mut x, mut line, mut items) = (MARGIN, 0, Vec::new());
        for (sign, text) in looks.chain(tones).chain(trail) {
            let wide = SWATCH + 7.0 + FONT.width(text).ceil();
            if x > MARGIN && x + wide > width - MARGIN {
                (x, line) = (MARGIN, line + 1);
            }
            items.push(Item { x, line, sign, text });
            x += wide + BETWEEN;
        }
        Legend { items, height: (line + 1) as f64 * LINE }
    }

    pub(super) fn write(&self, out: &mut String, top: f64) {
        out.push_str("<g class=\"legend\">\n");
        for item in &self.items {
            let middle = top + item.line as f64 * LINE + LINE / 2.0;
            sign(out, item.sign, item.x, middle);
            let (x, y) = (number(item.x + SWATCH + 7.0), number(middle + 3.6));
            let _ = writeln!(out, "<text class=\"key\" x=\"{x}\" y=\"{y}\">{}</text>", item.text);
        }
        out.push_str("</g>\n");
    }
}

fn sign(out: &mut String, sign: Sign, x: f64, y: f64) {
    let class = match sign {
        Sign::Box(look) => {
            let radius = if look.is_final() { 6.0 } else { 3.0 };
            let (x, y, width) = (number(x), number(y - 6.0), number(SWATCH));
            let _ = writeln!(
                out,
                "<g class=\"{}\"><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"12\" rx=\"{radius}\"/></g>",
                look.as_str()
            );
            return;
        }
        Sign::Line(tone) => tone.as_str(),
        Sign::Trail => "trail",
    };
    let (from, y, to) = (number(x), number(y), number(x + SWATCH));
    let _ = writeln!(out, "<g class=\"{class}\"><path class=\"line\" d=\"M{from} {y}H{to}\"/></g>");
}

/// Explains a box's look; what explains itself in the drawing has no entry.
fn meaning(look: Look) -> Option<&'static str> {
    Some(match look {
        Look::Start | Look::Open => return None,
        Look::Pass => "passed through",
        Look::Task => "a worker's task",
        Look::Wait => "a wait",
        Look::Human => "a person decides",
        Look::Join => "waits for its children",
        Look::Success => "success",
        Look::Failure => "failure",
        Look::Cancelled => "cancelled",
    })
}

fn way(tone: Tone) -> &'static str {
    match tone {
        Tone::Flow => "the usual way",
        Tone::Action => "somebody's action",
        Tone::Ttl => "time is over",
        Tone::Error => "tries are used up",
        Tone::Astray => "not declared in this version",
    }
}
