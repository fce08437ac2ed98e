"""What a handler answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Union

from .. import spans
from ..errors import MilepostError
from ..spans import Span
from ..views import Child, Json


@dataclass(frozen=True)
class Outcome:
    """A task that went well."""

    #: One of the outcomes that the task's state declares under `on`.
    outcome: str
    #: What guards, metadata and later tasks see of this one; None is none.
    output: Json = None
    #: What the submission as a whole came to; None is none.
    result: Json = None
    #: Submissions that are made in the commit of this answer, where the state joins some.
    children: Sequence[Child] = ()

    @staticmethod
    def sealed(children: Sequence[Child] = ()) -> Outcome:
        """The task of a join state has made its last children: from here on they are waited for."""
        return Outcome("sealed", children=children)


@dataclass(frozen=True)
class Snooze:
    """ "Not yet": the task is given out again after this long, and no attempt is counted."""

    span: Span


class Failure(Exception):
    """Raised by a handler: the attempt went wrong. It is made again as the pipeline says, unless it is not retryable.

    `code` is what retry rules and guards look at, `message` what people read. Any other exception is a failure with the
    code `error`. `after` is the pause before the next attempt, in place of the pipeline's.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = True, after: Span | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.after = after
        self.code = code
        self.message = message
        self.retryable = retryable


class LeaseLost(MilepostError):
    """The task is somebody else's now: stop. Nothing more is said about it."""


Answer = Union[Outcome, Snooze]


def failure_of(error: BaseException) -> Failure:
    if isinstance(error, Failure):
        return error
    text = str(error)
    return Failure("error", f"{type(error).__name__}: {text}" if text else type(error).__name__)


def word_for(answer: object) -> str:
    """How an answer reads in a log."""
    if isinstance(answer, Outcome):
        return answer.outcome
    return f"snoozed for {spans.text(answer.span)}" if isinstance(answer, Snooze) else "an answer that is none"
