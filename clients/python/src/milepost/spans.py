"""Spans of time as the API writes them: `500ms`, `30s`, `1h30m`, `7d`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Union

from .errors import SetupError

#: Seconds, or a text such as "30s", or a timedelta.
Span = Union[int, float, str, timedelta]

_UNITS_MS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART = re.compile(r"(\d+)(ms|w|d|h|m|s)", re.ASCII)


def milliseconds(span: Span) -> int:
    """A span in whole milliseconds."""
    if isinstance(span, str):
        parts = _PART.findall(span)
        if not parts or "".join(count + unit for count, unit in parts) != span:
            raise SetupError(f"`{span}` is no span of time; write it like 500ms, 30s, 5m or 1h30m")
        return sum(int(count) * _UNITS_MS[unit] for count, unit in parts)
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    if not 0 <= seconds < 1e12:
        raise SetupError(f"{span} is no span of time; give seconds, from 0 on")
    return round(seconds * 1000)


def seconds(span: Span) -> float:
    return milliseconds(span) / 1000


def text(span: Span) -> str:
    """A span as it is sent, spelt as the server spells it."""
    rest = milliseconds(span)
    if rest == 0:
        return "0s"
    said = ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, _UNITS_MS[unit])
        said += f"{count}{unit}" if count else ""
    return said
