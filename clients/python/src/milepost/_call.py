"""What is sent, and whether it may be sent again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Mapping
from urllib.parse import quote, urlencode

from .errors import SetupError

_NO_BODY = object()


@dataclass(frozen=True)
class Call:
    """One call, ready to be sent as often as needed."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeatable: bool = False
    #: How long the server may wait before it answers, in seconds.
    waits: float = 0.0

    def header(self, name: str, value: str) -> Call:
        if any(not 32 <= ord(character) < 127 for character in value):
            raise SetupError(f"`{name}` has characters that no header may have")
        return Call(**{**self.__dict__, "headers": {**self.headers, name: value}})

    def idempotent(self, key: str | None) -> Call:
        """Repeatable if there is a key: the server takes an exact repeat as what it is then."""
        if key is None:
            return self
        return Call(**{**self.header("idempotency-key", key).__dict__, "repeatable": True})


def call(
    method: str,
    *parts: str,
    query: Mapping[str, Any] | None = None,
    body: Any = _NO_BODY,
    repeatable: bool = False,
    waits: float = 0.0,
) -> Call:
    headers: dict[str, str] = {}
    content = None
    if body is not _NO_BODY:
        headers["content-type"] = "application/json"
        content = encode(body)
    return Call(method, path(*parts) + query_text(query or {}), headers, content, repeatable, waits)


def path(*parts: str) -> str:
    """The address of a path whose parts may hold any character."""
    for part in parts:
        if part in ("", ".", ".."):
            raise SetupError(f"`{part}` is no name that can be asked for")
    return "/v1/" + "/".join(quote(part, safe=":") for part in parts)


def query_text(query: Mapping[str, Any]) -> str:
    given = {name: shown(value) for name, value in query.items() if value is not None}
    return "?" + urlencode(given) if given else ""


def with_labels(query: dict[str, Any], labels: Mapping[str, str] | None) -> dict[str, Any]:
    return {**query, **{f"label.{name}": value for name, value in (labels or {}).items()}}


def shown(value: Any) -> str:
    return when(value) if isinstance(value, datetime) else str(value)


def when(time: datetime | str) -> str:
    """A time as it is sent. One without a zone would be somebody's guess."""
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        raise SetupError("the time has no zone; use datetime.now(timezone.utc) or the like")
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(document: Any) -> bytes:
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise SetupError(f"cannot be sent as JSON: {error}") from error


def given(**members: Any) -> dict[str, Any]:
    """Those members that are given."""
    return {name: value for name, value in members.items() if value is not None}
