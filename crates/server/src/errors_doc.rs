//! `docs/errors.md`, made from the list of codes.

use std::fmt::Write as _;

use model::{Code, Refusal};
use wire::api::Problem;

const HEAD: &str = "\
# Error codes

Every answer that is not a success is a problem of RFC 9457, `application/problem+json`:

```json
{\"type\": \"urn:milepost:problem:stale-lease\", \"title\": \"...\", \"status\": 409, \"code\": \"stale-lease\", \"detail\": \"...\"}
```

`code` is stable: decide by it. `detail` is for people and may change. Some problems have further members that help
to do better, such as the legal `actions`. A 429 and a 503 carry `Retry-After`. In answers to calls that take many, each entry
that failed has its own problem and status. A request that is refused before it is read has the status HTTP has for that: `too-large`
then is 414 or 431, `invalid-request` 501 or 505.

| code | status | meaning |
|---|---|---|
";

/// The file's text.
#[must_use]
pub fn errors_doc() -> String {
    let mut text = HEAD.to_owned();
    for &code in Code::ALL {
        let problem = Problem::from(&Refusal::new(code, ""));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| `{}` | {} | {} |", problem.code, problem.status, problem.title);
    }
    text
}
