//! Badges, to be shown beside a skill.

use super::record::SkillEntry;

/// The width of a character in these letters, roughly.
const CHARACTER: usize = 7;
const PADDING: usize = 10;

/// Returns a badge that says which version of a skill is out, or that it was withdrawn.
pub(super) fn svg(skill: &SkillEntry) -> String {
    let latest = skill.latest().map_or("", |latest| &latest.version);
    let (value, colour) = match skill.withdrawn {
        Some(_) => ("withdrawn".to_owned(), "#b42318"),
        None => (format!("v{latest}"), "#1a7f37"),
    };
    let label = "verified skill";
    let (left, right) = (width(label), width(&value));
    let (whole, middle, behind) = (left + right, left / 2, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"20\" role=\"img\" aria-label=\"{label}: {value}\">\
         <title>{label}: {value}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#3d444d\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\
         <g fill=\"#ffffff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{middle}\" y=\"14\">{label}</text><text x=\"{behind}\" y=\"14\">{value}</text></g></svg>\n"
    )
}

fn width(text: &str) -> usize {
    text.chars().count() * CHARACTER + 2 * PADDING
}
