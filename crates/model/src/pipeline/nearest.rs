//! The name that was probably meant.

/// Names are short. What is not is cut, so that a hostile file full of them costs nothing.
const CHARS_MAX: usize = 64;

/// The candidate that is a slip of the hand away.
pub(crate) fn typo<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written: String = written.chars().take(CHARS_MAX).collect();
    crate::expr::nearest(&written, candidates.into_iter().filter(|candidate| candidate.len() <= CHARS_MAX))
}

/// A typo's candidate, or else the one that begins the same way: good enough to suggest, not to rely on.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    typo(written, candidates.clone()).or_else(|| {
        let letters =
            |word: &str| word.chars().take(CHARS_MAX).map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
        let written = letters(written);
        let enough = written.len().div_ceil(2).max(3);
        let mut best = None;
        for candidate in candidates {
            let shared =
                letters(candidate).iter().zip(&written).take_while(|(theirs, ours)| theirs == ours).count();
            if shared >= enough && best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_found() {
        let keys = ["when", "trigger", "metadata", "on_duplicate"];
        assert_eq!(typo("trigerg", keys), Some("trigger"));
        assert_eq!(typo("on-duplicate", keys), Some("on_duplicate"));
        assert_eq!(typo("colour", keys), None);
    }

    #[test]
    fn a_shared_beginning_is_worth_a_suggestion() {
        let states = ["RECEIVED", "TIER1_SCANNING", "TIER2_SCANNING"];
        assert_eq!(typo("TIER9", states), None);
        assert_eq!(nearest("TIER9", states), Some("TIER1_SCANNING"));
        assert_eq!(nearest("TI", states), None);
    }
}
