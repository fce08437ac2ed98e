//! A notice of what was done: a sentence on top of the page one comes back to.

/// Returns what a form has done, by the word that stands in the address; no text comes from there.
const SENTENCES: &[(&str, &str)] = &[
    ("acted", "Done. The timeline shows what came of it."),
    ("claimed", "The review is yours."),
    ("handed-over", "The review is theirs."),
    ("let-go", "The review is free for others."),
    ("noted", "Written down."),
    ("amended", "The payload was amended."),
    ("redriven", "It is going again."),
    ("acknowledged", "Acknowledged. It no longer needs an investigation."),
    ("held", "The hold is in force."),
    ("released", "The hold is released."),
    ("paused", "The service is paused. What its worker has is not taken back."),
    ("resumed", "The pause is over. The next batch goes at once."),
    ("replayed", "The message is sent again."),
    ("stopped", "The operation stops behind the submission it is at. What was done stays done."),
    ("revoked", "The token is revoked."),
    ("signed-out", "You are signed out."),
    ("saved", "Saved."),
];

pub(crate) fn sentence(word: Option<&str>) -> &'static str {
    let found = word.and_then(|word| SENTENCES.iter().find(|(known, _)| *known == word));
    found.map_or("", |(_, sentence)| sentence)
}
