"""What takes more than one exchange, written once for both clients.

A flow is a generator. It yields a `Call` and is sent the `Reply` (or `Unreachable` is thrown into it), or yields a `Pause`
and goes on after it. The two clients differ only in how they do these two things.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, Generator, Mapping, TypeVar, Union

from . import _routes
from ._call import Call
from .errors import MilepostError, ProtocolError, Unreachable, read_problem
from .retries import Retries
from .views import WholeSubmission
from .waiting import Waited, rest_of

T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Pause:
    seconds: float


Flow = Generator[Union[Call, Pause], Any, T]

#: Soon at first, for most moves take milliseconds; then rarely, for some take days.
_POLLS = Retries(times=0, pause=0.04, pause_max=2.0)


def send(call: Call, retries: Retries) -> Flow[Any]:
    """Sends, and sends again as long as that is safe and may help. Gives the document of the answer."""
    failed = 0
    while True:
        wish = None
        try:
            reply: Reply = yield call
        except Unreachable as unreachable:
            error: MilepostError = unreachable
        else:
            if 200 <= reply.status < 300:
                return document(reply.body)
            error = refusal(reply)
            # No other refusal would be another one the next time.
            if reply.status not in (429, 503):
                raise error
            wish = retry_after(reply.headers)
        failed += 1
        if failed > retries.times or not call.repeatable:
            raise error
        yield Pause(retries.pause_after(failed, wish))


def document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the server's answer cannot be understood: {error}") from error


def refusal(reply: Reply) -> MilepostError:
    try:
        problem = read_problem(json.loads(reply.body))
    except (ValueError, RecursionError):
        problem = None
    if problem is not None:
        return problem
    return ProtocolError(
        f"the server's answer cannot be understood: status {reply.status}; is this the address of a Milepost server?"
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    wish = headers.get("retry-after", "")
    return float(wish) if wish.isascii() and wish.isdigit() else None


def wait(id: str, at_most: float | None, retries: Retries) -> Flow[Waited]:
    """Looks until a submission rests. The feed would tell of everybody else's moves, too: a look is cheaper."""
    ends_at = None if at_most is None else time.monotonic() + at_most
    looks = 0
    while True:
        submission: WholeSubmission = yield from send(_routes.read("submissions", id), retries)
        rest = rest_of(submission)
        if rest is not None:
            return Waited(submission, rest)
        looks += 1
        pause = _POLLS.pause_after(looks)
        if ends_at is not None:
            left = ends_at - time.monotonic()
            if left <= 0:
                return Waited(submission, "deadline")
            pause = min(pause, left)
        yield Pause(pause)
