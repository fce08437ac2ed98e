"""Telling the server how a task ended, until it has heard."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Union

from .. import _routes, spans
from .._flows import Flow, Pause, send
from ..errors import MilepostError, Problem, SetupError, read_problem
from ..retries import Retries
from .answers import Failure, Outcome, Snooze

log = logging.getLogger("milepost.worker")

#: A settlement is good long after its lease's time if nobody else has the task: worth ten minutes of trying.
_TRIES = Retries(times=130, pause=0.2, pause_max=5.0)
_CODE_CHARS_MAX = 64


@dataclass(frozen=True)
class Settlement:
    """What is said about a task, the same at every try."""

    verb: str
    body: dict[str, Any]

    @staticmethod
    def of(token: str, answer: Union[Outcome, Snooze, Failure]) -> Settlement:
        if isinstance(answer, Outcome):
            body: dict[str, Any] = {"token": token, "outcome": answer.outcome}
            if answer.output is not None:
                body["output"] = answer.output
            if answer.result is not None:
                body["result"] = answer.result
            if answer.children:
                body["children"] = [_routes.submission_body(child) for child in answer.children]
            return Settlement("finish", body)
        if isinstance(answer, Snooze):
            return Settlement("snooze", {"token": token, "for": spans.text(answer.span)})
        error: dict[str, Any] = {"code": error_code(answer.code), "message": answer.message}
        error["retryable"] = answer.retryable
        if answer.after is not None:
            error["retry_after"] = spans.text(answer.after)
        return Settlement("fail", {"token": token, "error": error})

    @staticmethod
    def give_back(token: str) -> Settlement:
        """Of a task that was stopped before its end."""
        return Settlement("give-back", {"token": token})

    def instead(self, problem: Problem) -> Settlement | None:
        """An answer the pipeline does not take is a fault of the worker that another try would repeat. It is told as a
        failure, so that people see it where they look for failures."""
        if self.verb == "fail":
            log.warning("a failure was not taken: %s", problem)
            return None
        if self.verb == "give-back":
            log.warning("a task was not taken back: %s", problem)
            return None
        if problem.code in ("stale-lease", "unknown-submission"):
            log.warning("a task's answer came too late and changes nothing (%s)", problem.code)
            return None
        log.error("a task's answer was refused: %s", problem)
        failure = Failure(problem.code, problem.detail, retryable=False)
        return Settlement.of(self.body["token"], failure)


def settlement(token: str, answer: object) -> Settlement:
    """What to say about whatever a handler gave back."""
    if not isinstance(answer, (Outcome, Snooze, Failure)):
        message = f"the handler gave back {type(answer).__name__}, not an Outcome or a Snooze"
        answer = Failure("unexpected-answer", message, retryable=False)
    try:
        settled = Settlement.of(token, answer)
        _routes.settle(settled.verb, [settled.body])
        return settled
    except SetupError as error:
        return Settlement.of(token, Failure("unexpected-answer", str(error), retryable=False))


def settle(first: Settlement, retries: Retries) -> Flow[None]:
    saying: Settlement | None = first
    while saying is not None:
        problem = yield from _answered(saying, retries)
        saying = saying.instead(problem) if problem is not None else None


def _answered(said: Settlement, retries: Retries) -> Flow[Problem | None]:
    """The problem with it, if the server has one."""
    for failed in range(1, _TRIES.times + 1):
        try:
            answer = yield from send(_routes.settle(said.verb, [said.body]), retries)
        except MilepostError as error:
            if not error.is_passing:
                log.error("the server refuses to hear how a task ended; its lease will expire: %s", error)
                return None
        else:
            problem = read_problem(answer["results"][0].get("problem"))
            if problem is None or problem.status < 500:
                return problem
        yield Pause(_TRIES.pause_after(failed))
    log.error("the server could not be told how a task ended; its lease will expire")
    return None


def error_code(code: str) -> str:
    """The code as the server takes it: a failure must not be lost over its spelling."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in code)
    return plain.lstrip("._-").lower()[:_CODE_CHARS_MAX] or "error"
