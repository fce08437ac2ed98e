//! Answers of models, read with patience for what stands around them and with none for what is in them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most places of an answer at which an object may begin.
const OBJECTS_MAX: usize = 64;
const CONCERNS_MAX: usize = 20;
const CONCERN_CHARS_MAX: usize = 300;
const RATIONALE_CHARS_MAX: usize = 1_000;

/// The highest scores that go with a verdict: a model that says one thing and counts another is taken at the worse.
const SCORE_OF_FAIL_MAX: u32 = 59;
const SCORE_OF_CONCERNS_MAX: u32 = 79;

/// A model's opinion of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// From 0 to 100.
    pub score: u32,
    pub rationale: String,
    pub concerns: Vec<String>,
}

/// An answer that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the judge's answer cannot be used: {reason}")]
pub struct Unreadable {
    reason: &'static str,
}

impl Unreadable {
    pub(super) fn new(reason: &'static str) -> Unreadable {
        Unreadable { reason }
    }
}

/// Reads an answer: the one object in it that has the canary. An answer without it was not given to our question.
///
/// # Errors
/// When there is no such object, when there are several that differ, or when it has no score.
pub fn read(text: &str, canary: &str) -> Result<Judgement, Unreadable> {
    let places = text.match_indices('{').take(OBJECTS_MAX).map(|(place, _)| place);
    let mut seen = false;
    let mut found: Option<Judgement> = None;
    let mut end = 0;
    for place in places {
        if place < end {
            continue;
        }
        let mut objects = serde_json::Deserializer::from_str(&text[place..]).into_iter::<Value>();
        let Some(Ok(object)) = objects.next() else { continue };
        end = place + objects.byte_offset();
        seen = true;
        if object.get("canary").and_then(Value::as_str) != Some(canary) {
            continue;
        }
        let judgement = judgement(&object)?;
        if found.as_ref().is_some_and(|known| *known != judgement) {
            return Err(Unreadable::new("it has several judgements that differ"));
        }
        found = Some(judgement);
    }
    found.ok_or(Unreadable::new(match seen {
        true => "it does not answer the question that was asked (its canary is missing)",
        false => "there is no whole JSON object in it",
    }))
}

fn judgement(object: &Value) -> Result<Judgement, Unreadable> {
    let score = object.get("score").and_then(score).ok_or(Unreadable::new("it has no score"))?;
    let verdict = object.get("verdict").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
    let most = match verdict.as_str() {
        "FAIL" => SCORE_OF_FAIL_MAX,
        "CONCERNS" => SCORE_OF_CONCERNS_MAX,
        _ => 100,
    };
    let text = |value: &Value, most: usize| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.chars().filter(|c| !c.is_control() || *c == '\n').take(most).collect::<String>()
    };
    let concerns = object.get("concerns").and_then(Value::as_array).into_iter().flatten();
    Ok(Judgement {
        score: score.min(most),
        rationale: object.get("rationale").map(|value| text(value, RATIONALE_CHARS_MAX)).unwrap_or_default(),
        concerns: concerns.take(CONCERNS_MAX).map(|value| text(value, CONCERN_CHARS_MAX)).collect(),
    })
}

/// Returns a score as a whole number from 0 to 100, whatever was said.
fn score(value: &Value) -> Option<u32> {
    let score = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    let clamped = score.is_finite().then(|| score.clamp(0.0, 100.0).floor())?;
    (0..=100u32).rev().find(|whole| f64::from(*whole) <= clamped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_of(text: &str) -> Result<u32, &'static str> {
        read(text, "c4").map(|judgement| judgement.score).map_err(|unreadable| unreadable.reason)
    }

    #[test]
    fn a_judgement_is_found_in_whatever_stands_around_it() {
        for (text, score) in [
            (r#"{"canary":"c4","score":92,"verdict":"PASS","rationale":"fine","concerns":[]}"#, 92),
            ("Sure! Here it is:\n```json\n{\"canary\": \"c4\", \"score\": 71}\n```\nAnything else?", 71),
            (r#"{ not json } {"canary":"c4","score":"88"}"#, 88),
            (r#"{"note":{"a":1}} {"canary":"c4","score":60.9}"#, 60),
            (r#"{"canary":"c4","score":400}"#, 100),
            (r#"{"canary":"c4","score":-3}"#, 0),
            (r#"{"canary":"c4","score":95,"verdict":"FAIL"}"#, 59),
            (r#"{"canary":"c4","score":95,"verdict":"concerns"}"#, 79),
            (r#"{"canary":"c4","score":90} {"canary":"c4","score":90}"#, 90),
            (r#"{"score":100,"verdict":"PASS"} {"canary":"c4","score":12}"#, 12),
        ] {
            assert_eq!(score_of(text), Ok(score), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_none_is_not_taken_for_one() {
        for text in [
            "",
            "I cannot judge this.",
            r#"{"canary":"c4","score":9"#,
            r#"{"score":100,"verdict":"PASS"}"#,
            r#"{"canary":"other","score":100}"#,
            r#"{"canary":"c4"}"#,
            r#"{"canary":"c4","score":"high"}"#,
            r#"{"canary":"c4","score":null}"#,
            r#"{"canary":"c4","score":90} {"canary":"c4","score":20}"#,
            r#"["canary","c4"]"#,
        ] {
            assert!(score_of(text).is_err(), "{text}");
        }
        assert!(score_of(&"{".repeat(100_000)).is_err());
        assert!(score_of(&"{\"a\":".repeat(100_000)).is_err());
    }

    #[test]
    fn what_a_model_says_is_bounded() {
        let concerns: Vec<String> = (0..100).map(|no| format!("{no} {}", "x".repeat(1_000))).collect();
        let answer = serde_json::json!({
            "canary": "c4", "score": 70, "rationale": "r\u{1b}".repeat(5_000), "concerns": concerns,
        });
        let judgement = read(&answer.to_string(), "c4").unwrap();
        assert_eq!((judgement.concerns.len(), judgement.concerns[0].chars().count()), (20, 300));
        assert_eq!(judgement.rationale, "r".repeat(1_000));
    }
}
