"""What both workers are told before they run."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from typing import Any, Callable, Generic, Mapping, Sequence, TypeVar

from .. import spans
from ..errors import SetupError
from ..retries import Retries
from ..spans import Span
from ..views import Claimed, TaskView
from .tasks import Leased

log = logging.getLogger("milepost.worker")

#: How long a claim waits for work.
POLL = "20s"
#: Tasks that one claim may ask for.
_CLAIM_MAX = 1_000
#: Between tries while the server cannot be reached.
OUTAGE = Retries(times=0, pause=0.2, pause_max=10.0)
#: How long a worker that stops tries to give tasks back. Whatever it cannot tell anybody about expires.
GIVING_BACK = 5.0

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Loop(Generic[Handler]):
    def __init__(
        self,
        name: str | None = None,
        *,
        concurrency: int = 1,
        grace: Span = "30s",
        pipelines: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        #: What leases and events show.
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.concurrency = max(concurrency, 1)
        #: How long running tasks may go on when the worker is to stop. Those that do not end in time are given back:
        #: others get them at once, and no attempt is counted.
        self.grace = spans.seconds(grace)
        self._pipelines = pipelines
        self._labels = labels
        self._handlers: dict[str, Handler] = {}
        #: The server has answered a claim.
        self._has_claimed = False
        #: Those of the tasks that no pipeline has, as far as that was told.
        self._unknown: list[str] = []

    def task(self, name: str) -> Callable[[Handler], Handler]:
        """Takes a kind of task: `@worker.task("photos.resize")`."""

        def take(handler: Handler) -> Handler:
            self.handle(name, handler)
            return handler

        return take

    def handle(self, name: str, handler: Handler) -> None:
        self._handlers[name] = handler

    def _asks(self, running: int) -> tuple[dict[str, Any], Span]:
        """What a claim asks for, and how long it waits. The first does not wait: its answer says at once if something is
        wrong with the names of the tasks."""
        body = {
            "worker": self.name,
            "tasks": sorted(self._handlers),
            "pipelines": self._pipelines,
            "labels": self._labels,
            "max": min(self.concurrency - running, _CLAIM_MAX),
        }
        return body, POLL if self._has_claimed else 0

    def _heed(self, claimed: Claimed) -> list[TaskView]:
        """Takes the tasks out of an answer, and says what else is in it."""
        self._has_claimed = True
        unknown = claimed.get("unknown_tasks", [])
        for name in unknown:
            if name not in self._unknown:
                log.warning(
                    "no pipeline has a task %s: nothing will come of waiting for it until one is applied; "
                    "is the name right?",
                    name,
                )
        for name in self._unknown:
            if name not in unknown:
                log.info("there is a pipeline with %s now", name)
        self._unknown = unknown
        return claimed["tasks"]

    def _say_what_it_serves(self, server: str) -> None:
        part = f" of the pipelines {', '.join(self._pipelines)}" if self._pipelines else ""
        if self._labels:
            part += f" with the labels {', '.join(f'{name}={value}' for name, value in self._labels.items())}"
        tasks = ", ".join(sorted(self._handlers))
        log.info("worker %s serves %s%s at %s, %s at a time", self.name, tasks, part, server, self.concurrency)

    def _say_how_it_ended(self, task: Leased, what: str, error: BaseException | None = None) -> None:
        """One line for each task; a failure comes with its traceback."""
        level = logging.INFO if error is None else logging.WARNING
        took = time.monotonic() - task.began
        about = (task.name, task.submission, task.attempt, what, took)
        log.log(level, "%s of %s, attempt %s: %s, after %.2f s", *about, exc_info=error)

    def _must_have_tasks(self) -> None:
        if not self._handlers:
            raise SetupError("the worker has no tasks; give it some with `task`")


class StopSignals:
    """Calls `stop` at SIGTERM and SIGINT. Asked once more, the process ends as if nobody listened."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        # Only the main thread may listen; elsewhere somebody else calls `stop`.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._heard)

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _heard(self, *_: object) -> None:
        self._restore()
        self._stop()

    def _restore(self) -> None:
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, before)
