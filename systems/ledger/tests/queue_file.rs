//! The file of `milepost ledger queue` and its answer.

use ledger::queue_file::{FILE_BYTES_MAX, InvalidFile, answer};
use serde_json::json;

fn answered(file: &serde_json::Value) -> serde_json::Value {
    serde_json::to_value(answer(file.to_string().as_bytes()).unwrap()).unwrap()
}

fn refused(file: &str) -> String {
    answer(file.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_file_is_answered_with_headers_in_three_lists() {
    let file = json!({
        "now": 100.3,
        "window_seconds": 15,
        "batches": [
            { "batch_header": "new", "service_id": "s", "created_at": 1.5, "submitted": false, "batch_status": null, "last_submitted_at": null },
            { "batch_header": "newer", "service_id": "s", "created_at": 2, "submitted": false, "batch_status": null, "last_submitted_at": null },
            { "batch_header": "late", "service_id": "t", "created_at": 1, "submitted": false, "batch_status": "Delayed", "last_submitted_at": 85.3 },
            { "batch_header": "early", "service_id": "u", "created_at": 1, "submitted": false, "batch_status": "Delayed", "last_submitted_at": 85.4 },
            { "batch_header": "lost", "service_id": null, "created_at": 1, "submitted": false, "batch_status": "Unknown", "last_submitted_at": 99 },
            { "batch_header": "plain", "service_id": "----", "created_at": 1, "submitted": false, "batch_status": null, "last_submitted_at": null },
            { "batch_header": "done", "service_id": "s", "created_at": 1, "submitted": true, "batch_status": "Committed", "last_submitted_at": 3 },
        ],
    });
    let expected = json!({
        "queue": ["lost", "late", "new"],
        "later": [
            { "batch_header": "newer", "why": "batch new of its service goes first" },
            { "batch_header": "early", "why": "its delay window ends at 100.4" },
            { "batch_header": "plain", "why": "batch lost of its service is unknown" },
        ],
        "never": ["done"],
    });
    assert_eq!(answered(&file), expected);
}

#[test]
fn the_window_is_fifteen_seconds_unless_the_file_says_otherwise() {
    let file = |window: &str| {
        format!(
            r#"{{"now":100,{window}"batches":[{{"batch_header":"a","created_at":1,"submitted":false,
               "batch_status":"Some(Delayed)","last_submitted_at":85}}]}}"#
        )
    };
    let queued = |window: &str| answer(file(window).as_bytes()).unwrap().queue.len();
    assert_eq!((queued(""), queued("\"window_seconds\":15.5,"), queued("\"window_seconds\":0,")), (1, 0, 1));
}

#[test]
fn a_mistake_in_a_file_is_told_with_its_place() {
    let with = |batch: &str| format!("{{\n  \"now\": 1,\n  \"batches\": [\n    {batch}\n  ]\n}}");
    let good = r#""batch_header": "a", "created_at": 1, "submitted": false"#;
    for (file, expected) in [
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{\n  \"now\": true\n}", "`true` is no time"),
        (&with(&format!("{{ {good}, \"batch_status\": \"pendign\" }}")), "`pendign` is no status of a batch"),
        (&with(&format!("{{ {good}, \"batch_statsu\": null }}")), "unknown field `batch_statsu`"),
        (&with(&format!("{{ {good}, \"created_at\": 2 }}")), "duplicate field `created_at`"),
        (&with(r#"{ "batch_header": "a", "submitted": false }"#), "missing field `created_at`"),
        (&with(&good.replace('1', "1e99")), "at line"),
        ("{ \"now\": 1, \"window_seconds\": -1, \"batches\": [] }", "would end before it begins"),
    ] {
        let message = refused(file);
        assert!(message.contains(expected) && message.contains(" at line "), "{message}");
    }
    let third = refused(&with(&format!("{{ {good}, \"batch_status\": 7 }}")));
    assert!(third.contains("at line 4 column"), "{third}");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let file = vec![b' '; FILE_BYTES_MAX + 1];
    assert_eq!(answer(&file), Err(InvalidFile::TooLarge(FILE_BYTES_MAX + 1)));
}
