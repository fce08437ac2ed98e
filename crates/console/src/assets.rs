//! Style sheet, scripts and icon. They come with the program, and every page names the version it was made for.

use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use wire::{Code, Refusal};

use crate::answer::Answer;
use crate::ask::Ask;

const FILES: &[(&str, &str, &[u8])] = &[
    ("console.js", "text/javascript; charset=utf-8", include_bytes!("../assets/console.js")),
    ("evidence.js", "text/javascript; charset=utf-8", include_bytes!("../assets/evidence.js")),
    ("htmx.js", "text/javascript; charset=utf-8", include_bytes!("../assets/htmx/htmx.min.js")),
    ("hx-sse.js", "text/javascript; charset=utf-8", include_bytes!("../assets/htmx/hx-sse.min.js")),
    ("public.css", "text/css; charset=utf-8", include_bytes!("../assets/public.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
];

const STYLE: &str = "console.css";

/// The parts of the style sheet, in the order in which they follow each other.
const STYLES: [&str; 8] = [
    include_str!("../assets/css/colours.css"),
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/frame.css"),
    include_str!("../assets/css/parts.css"),
    include_str!("../assets/css/lists.css"),
    include_str!("../assets/css/overview.css"),
    include_str!("../assets/css/pages.css"),
    include_str!("../assets/css/narrow.css"),
];

/// Returns the style sheet: that of drawings, and the console's own, which may set what that has.
fn style() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| format!("{}\n{}", draw::page_style(), STYLES.join("\n")))
}

/// Returns the mark of this version's files, by which a page that is open knows that another was installed.
pub(crate) fn stamp() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut hash = Sha256::new();
        FILES.iter().for_each(|(_, _, body)| hash.update(body));
        hash.update(style());
        hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    })
}

/// Gives one of the files.
pub(crate) async fn show(ask: Ask) -> Result<Answer, Refusal> {
    let name = ask.part("name");
    let etag = format!("\"{}\"", stamp());
    if name == STYLE {
        return Ok(Answer::Asset { kind: "text/css; charset=utf-8", body: style().as_bytes(), etag });
    }
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let (_, kind, body) = found.ok_or_else(|| {
        Refusal::new(Code::UnknownRoute, format!("the console has no file {}", app::quote(name)))
    })?;
    Ok(Answer::Asset { kind, body, etag })
}
