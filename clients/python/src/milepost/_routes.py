"""Every route that the clients use, as a call that is ready to be sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Sequence

from . import spans
from ._call import Call, call, given, when, with_labels
from .errors import SetupError
from .spans import Span


def submission_body(submission: Mapping[str, Any]) -> dict[str, Any]:
    """A submission as it is sent. A misspelt member is refused by the server."""
    body = {name: value for name, value in submission.items() if name == "payload" or value is not None}
    if "payload" not in body:
        raise SetupError("a submission needs a `payload`")
    if isinstance(body.get("not_before"), datetime):
        body["not_before"] = when(body["not_before"])
    return body


def submit(
    pipeline: str, submission: Mapping[str, Any], key: str | None, trace: tuple[str | None, str | None] = (None, None)
) -> Call:
    sent = call("POST", "pipelines", pipeline, "submissions", body=submission_body(submission))
    return _traced(sent.idempotent(key), trace)


def submit_many(
    pipeline: str,
    submissions: Sequence[Mapping[str, Any]],
    key: str | None,
    trace: tuple[str | None, str | None] = (None, None),
) -> Call:
    body = {"submissions": [submission_body(one) for one in submissions]}
    return _traced(call("POST", "pipelines", pipeline, "submissions", body=body).idempotent(key), trace)


def _traced(sent: Call, trace: tuple[str | None, str | None]) -> Call:
    """Part of a trace, given as W3C Trace Context has it."""
    for name, value in zip(("traceparent", "tracestate"), trace):
        sent = sent if value is None else sent.header(name, value)
    return sent


def read(*parts: str, query: Mapping[str, Any] | None = None) -> Call:
    return call("GET", *parts, query=query, repeatable=True)


def submissions(route: str, filter: Mapping[str, Any], limit: int | None, after: str | None) -> Call:
    query = {name: value for name, value in filter.items() if name != "labels"}
    return read(route, query=with_labels({**query, "limit": limit, "after": after}, filter.get("labels")))


def events(id: str, after: int, limit: int | None, by: str | None = None) -> Call:
    return read("submissions", id, "events", query={"after": after or None, "limit": limit, "by": by})


def act(id: str, action: str, body: Mapping[str, Any], key: str | None, revision: int | None) -> Call:
    sent = call("POST", "submissions", id, "actions", action, body=given(**body))
    return _fenced(sent.idempotent(key), revision)


def amend(id: str, patch: Any, key: str | None, revision: int | None) -> Call:
    return _fenced(call("POST", "submissions", id, "amend", body=patch).idempotent(key), revision)


def acknowledge(id: str, note: str | None, key: str | None, revision: int | None) -> Call:
    sent = call("POST", "submissions", id, "acknowledge", body=given(note=note))
    return _fenced(sent.idempotent(key), revision)


def reviews(query: Mapping[str, Any]) -> Call:
    return read("reviews", query=given(**query))


def review(id: str, step: str, body: Mapping[str, Any], key: str | None, revision: int | None) -> Call:
    sent = call("POST", "submissions", id, "review", step, body=given(**body))
    return _fenced(sent.idempotent(key), revision)


def note(id: str, text: str, key: str | None, revision: int | None) -> Call:
    return _fenced(call("POST", "submissions", id, "notes", body={"text": text}).idempotent(key), revision)


def _fenced(sent: Call, revision: int | None) -> Call:
    return sent if revision is None else sent.header("if-match", f'"{revision}"')


def redrive(id: str, reason: str | None) -> Call:
    """Not repeated by itself: it may have died again in between."""
    return call("POST", "submissions", id, "redrive", body=given(reason=reason))


def hold(body: Mapping[str, Any]) -> Call:
    """Not repeated by itself: holds stack, so a repeat would be a second one."""
    body = given(**body)
    if isinstance(body.get("expires_at"), datetime):
        body["expires_at"] = when(body["expires_at"])
    return call("POST", "holds", body=body)


def release(hold: str) -> Call:
    """Not repeated: a second one would not find what the first removed."""
    return call("DELETE", "holds", hold)


def feed(filter: Mapping[str, Any], after: int | str | None, limit: int | None, wait: Span) -> Call:
    seconds = spans.seconds(wait)
    query = {name: value for name, value in filter.items() if name != "labels"}
    query.update(limit=limit, wait=spans.text(wait) if seconds else None, after=after)
    return call("GET", "feed", query=with_labels(query, filter.get("labels")), repeatable=True, waits=seconds)


def move_cursor(name: str, position: int, rewind: bool) -> Call:
    body = given(position=position, rewind=rewind or None)
    return call("PUT", "feed", "cursors", name, body=body, repeatable=True)


def cursors(subject: str | None, limit: int | None, after: str | None) -> Call:
    return call("GET", "feed", "cursors", query=given(subject=subject, limit=limit, after=after), repeatable=True)


def delete_cursor(name: str, subject: str | None) -> Call:
    return call("DELETE", "feed", "cursors", name, query=given(subject=subject))


def entries(system: str, limit: int | None, after: str | None) -> Call:
    return call("GET", "systems", system, "entries", query=given(limit=limit, after=after), repeatable=True)


def put_entry(system: str, name: str, expected: str | None, body: Any) -> Call:
    """Not repeated by itself: the change that was lost may have been made, and then nothing is as expected."""
    return call("PUT", "systems", system, "entries", name, body=given(expected=expected, body=body))


def claim(body: Mapping[str, Any], wait: Span) -> Call:
    """Not repeated by itself: an answer that was lost has granted leases nobody knows of."""
    seconds = spans.seconds(wait)
    body = given(**body, wait=spans.text(wait) if seconds else None)
    return call("POST", "tasks:claim", body=body, waits=seconds)


def settle(verb: str, tasks: Sequence[Mapping[str, Any]]) -> Call:
    """finish, fail, snooze, give-back, renew or spawn: an exact repeat gets the same answer again."""
    return call("POST", f"tasks:{verb}", body={"tasks": list(tasks)}, repeatable=True)


def renewals(tokens: Sequence[str], progress: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [given(token=token, progress=progress.get(token)) for token in tokens]


def apply(
    name: str, toml: str, files: Mapping[str, str] | None, params: Mapping[str, Any] | None, rollback: bool
) -> Call:
    """Applying what is in force already changes nothing, so this is safe to repeat."""
    body = given(toml=toml, files=files, params=params)
    query = {"rollback": "true"} if rollback else {}
    return call("PUT", "pipelines", name, query=query, body=body, repeatable=True)


def retire(name: str, version: int | None, dry_run: bool) -> Call:
    """Retiring what was retired changes nothing, so this is safe to repeat."""
    body = given(version=version, unused=version is None or None, dry_run=dry_run or None)
    return call("POST", "pipelines", name, "retire", body=body, repeatable=True)
