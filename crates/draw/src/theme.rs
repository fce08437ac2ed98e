//! The colours of a drawing, by day and by night.
//!
//! Every colour is a variable, so that a page can set its own on `.machine`; and every rule names the day's colour as
//! well, for programs that know no variables.

use std::fmt::Write as _;

struct Colour {
    name: &'static str,
    day: &'static str,
    night: &'static str,
}

const fn colour(name: &'static str, day: &'static str, night: &'static str) -> Colour {
    Colour { name, day, night }
}

const COLOURS: [Colour; 31] = [
    colour("ground", "#ffffff", "#0d1420"),
    colour("ink", "#111827", "#eef2f7"),
    colour("soft", "#536073", "#a4b0c2"),
    colour("pass", "#f1f4f8", "#1d2736"),
    colour("pass-edge", "#8592a6", "#7587a0"),
    colour("task", "#e7f0fe", "#152a4a"),
    colour("task-edge", "#3b7be0", "#5e9bf5"),
    colour("wait", "#fdf4dc", "#372a0e"),
    colour("wait-edge", "#c98a0b", "#e6b34a"),
    colour("human", "#f2ebfd", "#2c2149"),
    colour("human-edge", "#8455d8", "#a98bec"),
    colour("join", "#def5f3", "#0f3330"),
    colour("join-edge", "#0f918a", "#3cc4ba"),
    colour("success", "#e3f6e8", "#11331f"),
    colour("success-edge", "#1c9a4b", "#4dcb7e"),
    colour("failure", "#fdeaea", "#3c1a1c"),
    colour("failure-edge", "#d43d3d", "#f07c7c"),
    colour("cancelled", "#efeff1", "#26272c"),
    colour("cancelled-edge", "#75777f", "#a0a3ad"),
    colour("flow", "#66758a", "#8c9bb0"),
    colour("action", "#7c4dcf", "#b095ee"),
    colour("ttl", "#a86f06", "#e0ad45"),
    colour("error", "#cc3535", "#f07c7c"),
    colour("astray", "#0f918a", "#3cc4ba"),
    colour("trail", "#d6246e", "#ff6fa8"),
    colour("on-trail", "#ffffff", "#2a0616"),
    colour("band", "#f4f5f7", "#141c29"),
    colour("cool", "#e7eef3", "#22303f"),
    colour("warm", "#f7dca0", "#6b4e10"),
    colour("hot", "#f5b3a4", "#8a2f22"),
    colour("rate", "#1f5fbf", "#8db8ff"),
];

/// Selector, then property and colour, then what has no colour.
type Rule = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const RULES: [Rule; 40] = [
    (".ground", &[("fill", "ground")], ""),
    (
        "text",
        &[("fill", "ink")],
        "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif",
    ),
    (".heading", &[], "font-size:17px;font-weight:600"),
    (".sub", &[("fill", "soft")], "font-size:11.5px"),
    (".name", &[], "font-size:12.5px;font-weight:600;text-anchor:middle"),
    (".title", &[("fill", "soft")], "font-size:11px;text-anchor:middle"),
    (".note", &[("fill", "soft")], "font-size:10px;text-anchor:middle"),
    (".key", &[("fill", "soft")], "font-size:10.5px"),
    (".box", &[], "stroke-width:1.4"),
    (".start .box", &[("fill", "ink")], "stroke:none"),
    (".open .box", &[("fill", "ground"), ("stroke", "soft")], "stroke-dasharray:3 3"),
    (".pass .box", &[("fill", "pass"), ("stroke", "pass-edge")], ""),
    (".task .box", &[("fill", "task"), ("stroke", "task-edge")], ""),
    (".wait .box", &[("fill", "wait"), ("stroke", "wait-edge")], ""),
    (".human .box", &[("fill", "human"), ("stroke", "human-edge")], ""),
    (".join .box", &[("fill", "join"), ("stroke", "join-edge")], ""),
    (".success .box", &[("fill", "success"), ("stroke", "success-edge")], "stroke-width:2.2"),
    (".failure .box", &[("fill", "failure"), ("stroke", "failure-edge")], "stroke-width:2.2"),
    (".cancelled .box", &[("fill", "cancelled"), ("stroke", "cancelled-edge")], "stroke-width:2.2"),
    (".line", &[("stroke", "flow")], "fill:none;stroke-width:1.5;stroke-linecap:round"),
    (".tip", &[("fill", "flow")], ""),
    (".pill", &[("fill", "ground")], ""),
    (".label", &[("fill", "soft")], "font-size:10.5px;text-anchor:middle"),
    (".action .line", &[("stroke", "action")], "stroke-dasharray:7 4"),
    (".ttl .line", &[("stroke", "ttl")], "stroke-dasharray:1.5 4.5"),
    (".error .line", &[("stroke", "error")], "stroke-dasharray:4 4"),
    (".astray .line", &[("stroke", "astray")], "stroke-dasharray:9 3 2 3"),
    (".trail .line", &[("stroke", "trail")], "stroke-width:2.6"),
    (".trail .tip", &[("fill", "trail")], ""),
    (".badge", &[("fill", "trail")], ""),
    (".number", &[("fill", "on-trail")], "font-size:9.5px;font-weight:700;text-anchor:middle"),
    (".ring", &[("stroke", "trail")], "fill:none;stroke-width:3"),
    (".busy .line", &[], "stroke-width:2.6"),
    (".rate", &[("fill", "rate")], "font-size:10px;font-weight:700;text-anchor:middle"),
    (".band", &[("fill", "band")], ""),
    (".phase", &[("fill", "soft")], "font-size:11px;font-weight:600"),
    (".stay .number", &[("fill", "ink")], ""),
    (".stay.cool .badge", &[("fill", "cool")], ""),
    (".stay.warm .badge", &[("fill", "warm")], ""),
    (".stay.hot .badge", &[("fill", "hot")], ""),
];

/// Colours of labels and arrow heads by tone, which are all alike.
const TONES: [&str; 4] = ["action", "ttl", "error", "astray"];

/// The style sheet of all drawings, for a page that allows none inside them.
#[must_use]
pub fn style() -> String {
    let mut css = String::new();
    variables(&mut css, ".machine", |colour| colour.day);
    css.push_str("@media (prefers-color-scheme:dark){");
    variables(&mut css, ".machine", |colour| colour.night);
    css.push('}');
    rules(&mut css);
    css
}

/// The style sheet of drawings within a page whose reader may choose between day and night: `data-theme` of its root is
/// `light` or `dark` then.
#[must_use]
pub fn page_style() -> String {
    let mut css = String::new();
    variables(&mut css, ".machine", |colour| colour.day);
    css.push_str("@media (prefers-color-scheme:dark){");
    variables(&mut css, ":root:not([data-theme=light]) .machine", |colour| colour.night);
    css.push('}');
    variables(&mut css, ":root[data-theme=dark] .machine", |colour| colour.night);
    rules(&mut css);
    css
}

fn rules(css: &mut String) {
    for (selector, colours, more) in RULES {
        let _ = write!(css, ".machine {selector}{{");
        colours.iter().for_each(|(property, name)| painted(css, property, name));
        let _ = write!(css, "{more}}}");
    }
    for tone in TONES {
        let _ = write!(css, ".machine .arrow.{tone}:not(.trail) .tip,.machine .label.{tone}{{");
        painted(css, "fill", tone);
        css.push('}');
    }
    css.push_str(".machine .aside{opacity:.38}.machine .arrow:hover .line{stroke-width:2.8}");
}

fn variables(css: &mut String, selector: &str, value: impl Fn(&Colour) -> &'static str) {
    css.push_str(selector);
    css.push('{');
    for colour in &COLOURS {
        let _ = write!(css, "--machine-{}:{};", colour.name, value(colour));
    }
    css.push('}');
}

fn painted(css: &mut String, property: &str, name: &str) {
    let day = COLOURS.iter().find(|colour| colour.name == name).map_or("none", |colour| colour.day);
    let _ = write!(css, "{property}:{day};{property}:var(--machine-{name});");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_colours_that_exist() {
        let known = |name: &str| COLOURS.iter().any(|colour| colour.name == name);
        let named =
            RULES.iter().flat_map(|(_, colours, _)| colours.iter().map(|(_, name)| *name)).chain(TONES);
        for name in named {
            assert!(known(name), "{name}");
        }
        assert!(!style().contains(['<', '&']), "a style sheet inside XML must be text");
    }
}
