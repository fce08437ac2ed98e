"""The worker for handlers that block: each task has a thread of its own."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Callable, Mapping, Optional, Sequence

from ..client import Client
from ..errors import MilepostError
from ..spans import Span
from ..views import Progress, TaskView
from .answers import Answer, LeaseLost, failure_of, word_for
from .leases import Leases
from .loop import GIVING_BACK, OUTAGE, Loop, StopSignals, log
from .settling import settle, settlement
from .tasks import Task

Handler = Callable[[Task], Answer]

#: How long handlers have to notice that their task is about to be given back.
_NOTICING = 1.0


class Worker(Loop[Handler]):
    """Runs tasks in threads.

    worker = Worker(Client("http://127.0.0.1:8080"), concurrency=4)

    @worker.task("photos.resize")
    def resize(task: Task) -> Outcome:
        return Outcome("resized", output={"width": 1024})

    worker.run()
    """

    def __init__(
        self,
        client: Client,
        name: str | None = None,
        *,
        concurrency: int = 1,
        grace: Span = "30s",
        pipelines: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, concurrency=concurrency, grace=grace, pipelines=pipelines, labels=labels)
        self._client = client
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._running = 0
        self._refused: Optional[MilepostError] = None
        self._heart = _Heart(client)

    def stop(self) -> None:
        """Takes nothing more and ends `run` when what is running has ended. From any thread."""
        self._stopping.set()

    def run(self) -> None:
        """Works until it is told to stop, by `stop`, SIGTERM or SIGINT, then ends what is running. A server that cannot
        be reached is waited for; one that refuses the worker is not, for waiting would not change that."""
        self._must_have_tasks()
        self._say_what_it_serves(self._client.server)
        with StopSignals(self.stop):
            # A thread that nobody waits for: a claim that waits for work must not hold up the end.
            threading.Thread(target=self._claim_until_stopped, daemon=True).start()
            threading.Thread(target=self._heart.beat, daemon=True).start()
            self._stopping.wait()
            log.info("worker %s stops: nothing more is taken", self.name)
            with self._changed:
                ended = self._changed.wait_for(lambda: self._running == 0, self.grace)
            if not ended:
                self._give_up()
            self._heart.stop()
        if self._refused is not None:
            raise self._refused

    def _give_up(self) -> None:
        """Gives back what has not ended. A thread cannot be stopped: whoever looks at `lost` ends by itself, and what the
        others answer is not sent."""
        tasks = self._heart.lose_all()
        log.warning("stopping before all tasks ended: %s still run, and are given back", len(tasks))
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0, _NOTICING)
        # Tried in a thread that nobody waits for: a server that cannot be reached must not hold up the end.
        giving = threading.Thread(target=self._give_back, args=([task.view for task in tasks],), daemon=True)
        giving.start()
        giving.join(GIVING_BACK)
        with self._changed:
            # Those whose handlers had ended before are telling so.
            self._changed.wait_for(lambda: self._running <= len(tasks), GIVING_BACK)

    def _claim_until_stopped(self) -> None:
        failed = 0
        while not self._stopping.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._running < self.concurrency)
                body, wait = self._asks(self._running)
            if self._stopping.is_set():
                return
            try:
                views = self._heed(self._client._claim(body, wait))
                failed = 0
            except Exception as error:
                if self._stopping.is_set():
                    return
                if not (isinstance(error, MilepostError) and error.is_passing):
                    self._refused = error if isinstance(error, MilepostError) else MilepostError(repr(error))
                    self._stopping.set()
                    return
                failed += 1
                pause = OUTAGE.pause_after(failed)
                log.warning("cannot claim; trying again in %.1f s: %s", pause, error)
                self._stopping.wait(pause)
            else:
                self._begin(views)

    def _begin(self, views: Sequence[TaskView]) -> None:
        if self._stopping.is_set():
            self._give_back(views)
            return
        for view in views:
            if view["task"] not in self._handlers:
                log.warning("was given %s, which was not asked for; its lease will expire", view["task"])
                continue
            task = Task(view, self._client)
            with self._changed:
                self._running += 1
            self._heart.keep(task)
            threading.Thread(target=self._work, args=(task,), name=f"task {task.name}", daemon=True).start()

    def _give_back(self, views: Sequence[TaskView]) -> None:
        if views:
            try:
                self._client.give_back([view["token"] for view in views])
            except Exception as error:
                log.warning("tasks cannot be given back; their leases will expire: %s", error)

    def _work(self, task: Task) -> None:
        try:
            answer: object
            try:
                answer = self._handlers[task.name](task)
            except LeaseLost as error:
                # The heart has told of it already.
                answer = failure_of(error)
            except BaseException as error:
                self._say_how_it_ended(task, "failed", error)
                answer = failure_of(error)
            else:
                self._say_how_it_ended(task, word_for(answer))
            self._heart.let_go(task)
            # Without a lease there is nothing to say: somebody else has the task.
            if not task.lost:
                self._client._drive(settle(settlement(task.token, answer), self._client._retries))
        except Exception:
            log.exception("the end of task %s cannot be told; its lease will expire", task)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()


class _Heart:
    """Renews the leases of all running tasks, many in one call."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._changed = threading.Condition()
        self._leases = Leases()
        self._tasks: dict[str, Task] = {}
        self._over = False

    def keep(self, task: Task) -> None:
        with self._changed:
            self._tasks[task.token] = task
            self._leases.keep(task.view, time.monotonic())
            self._changed.notify_all()
        task._reporter = partial(self._report, task.token)

    def _report(self, token: str, progress: Progress) -> None:
        with self._changed:
            self._leases.tell(token, progress)
            self._changed.notify_all()

    def let_go(self, task: Task) -> None:
        with self._changed:
            self._leases.let_go(task.token)
            self._tasks.pop(task.token, None)

    def lose_all(self) -> list[Task]:
        """The tasks whose handlers run. From here on they are somebody else's."""
        with self._changed:
            tasks = list(self._tasks.values())
            for task in tasks:
                self._leases.let_go(task.token)
                task._tell(lost=True)
            self._tasks.clear()
        return tasks

    def stop(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def beat(self) -> None:
        while True:
            tokens = self._wait_for_due()
            if tokens is None:
                return
            with self._changed:
                progress = self._leases.progress(tokens)
            try:
                results = self._client.renew(tokens, progress=progress)
            except Exception as error:
                log.warning("cannot renew leases; trying again: %s", error)
                with self._changed:
                    self._leases.unheard(tokens, time.monotonic())
                continue
            with self._changed:
                for token, result in zip(tokens, results):
                    news = self._leases.heard(token, result, time.monotonic())
                    task = self._tasks.get(token)
                    if task is not None and news == "lost":
                        task._tell(lost=True)
                    elif task is not None and isinstance(news, int):
                        task._tell(newest=news)

    def _wait_for_due(self) -> list[str] | None:
        """The leases that are due; None when it is over."""
        with self._changed:
            while not self._over:
                due, now = self._leases.next_due(), time.monotonic()
                if due is not None and due <= now:
                    return self._leases.due(now)
                self._changed.wait(None if due is None else due - now)
            return None
