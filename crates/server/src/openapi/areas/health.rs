use model::Code;

use crate::openapi::call::{Call, JSON, get};
use crate::openapi::words;

pub(super) fn calls() -> Vec<Call> {
    vec![
        get("/livez", "live", "Whether the process can do its work")
            .details("503 when it must be restarted. Answered even when the server is busy.")
            .gives_as(200, &["text/plain"], Some(words::spelled("^ok\n")), "`ok`.")
            .refuses(&[Code::Unavailable]),
        get("/readyz", "ready", "Whether requests should be sent here")
            .details("If the audit log stands still or the clock is in doubt, another line says why. Answered even when the server is busy.")
            .gives_as(200, &["text/plain"], Some(words::spelled("^ok\n")), "`ok`.")
            .refuses(&[Code::Unavailable, Code::Draining]),
        get("/openapi.json", "openapi", "This document").gives_as(
            200,
            &[JSON],
            Some(words::object()),
            "OpenAPI 3.1.",
        ),
        get("/", "welcome", "A page for people who opened the address in a browser").gives_as(
            200,
            &["text/html"],
            Some(words::text()),
            "The page.",
        ),
    ]
}
