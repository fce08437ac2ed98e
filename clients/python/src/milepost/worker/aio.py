"""The worker for coroutines."""

from __future__ import annotations

import asyncio
import inspect
import signal
import time
from functools import partial
from typing import Awaitable, Callable, Mapping, Sequence

from ..aio import AsyncClient
from ..errors import MilepostError, SetupError
from ..spans import Span
from ..views import Claimed, Progress, TaskView
from .answers import Answer, failure_of, word_for
from .leases import Leases
from .loop import GIVING_BACK, OUTAGE, Loop, log
from .settling import Settlement, settle, settlement
from .tasks import AsyncTask

Handler = Callable[[AsyncTask], Awaitable[Answer]]


class AsyncWorker(Loop[Handler]):
    """Runs tasks as coroutines. A handler is cancelled when its lease is lost, and its answer is not sent then."""

    def __init__(
        self,
        client: AsyncClient,
        name: str | None = None,
        *,
        concurrency: int = 1,
        grace: Span = "30s",
        pipelines: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, concurrency=concurrency, grace=grace, pipelines=pipelines, labels=labels)
        self._client = client
        self._stopping = asyncio.Event()
        self._begun = asyncio.Event()
        self._leases = Leases()
        self._tasks: dict[str, AsyncTask] = {}
        self._work: dict[str, asyncio.Task[object]] = {}
        self._runs: set[asyncio.Task[None]] = set()
        self._giving_up = False

    def handle(self, name: str, handler: Handler) -> None:
        if not inspect.iscoroutinefunction(handler):
            raise SetupError(f"the handler of `{name}` is no coroutine: write `async def`, or use Worker")
        super().handle(name, handler)

    def stop(self) -> None:
        """Takes nothing more and ends `run` when what is running has ended. From the thread of the event loop."""
        self._stopping.set()

    async def run(self) -> None:
        """Works until it is told to stop, by `stop`, SIGTERM or SIGINT, then ends what is running. A server that cannot
        be reached is waited for; one that refuses the worker is not, for waiting would not change that.

        Where it is cancelled, so is what is running: it is given back at once.
        """
        self._must_have_tasks()
        self._say_what_it_serves(self._client.server)
        listens = self._listen()
        heart = asyncio.create_task(self._beat())
        try:
            try:
                await self._claim_until_stopped()
                log.info("worker %s stops: nothing more is taken", self.name)
            except MilepostError:
                await self._drain()
                raise
            await self._drain()
        except asyncio.CancelledError:
            log.info("worker %s is cancelled: what runs is given back", self.name)
            await self._give_up(self._runs)
            raise
        finally:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
            for number in listens:
                asyncio.get_running_loop().remove_signal_handler(number)

    def _listen(self) -> list[int]:
        loop, listens = asyncio.get_running_loop(), []
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                loop.add_signal_handler(number, self._heard)
                listens.append(int(number))
            except (NotImplementedError, RuntimeError, ValueError):
                # Only the main thread may listen; elsewhere somebody else calls `stop`.
                break
        return listens

    def _heard(self) -> None:
        """Asked once more, the process ends as if nobody listened."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(number)
        self.stop()

    async def _claim_until_stopped(self) -> None:
        stopped = asyncio.ensure_future(self._stopping.wait())
        failed = 0
        try:
            while not self._stopping.is_set():
                if len(self._runs) >= self.concurrency:
                    await asyncio.wait({stopped, *self._runs}, return_when=asyncio.FIRST_COMPLETED)
                    continue
                claim = asyncio.ensure_future(self._client._claim(*self._asks(len(self._runs))))
                try:
                    await asyncio.wait({stopped, claim}, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError:
                    await self._call_off(claim)
                    raise
                if self._stopping.is_set():
                    await self._call_off(claim)
                    return
                try:
                    views = self._heed(claim.result())
                    failed = 0
                except MilepostError as error:
                    if not error.is_passing:
                        raise
                    failed += 1
                    pause = OUTAGE.pause_after(failed)
                    log.warning("cannot claim; trying again in %.1f s: %s", pause, error)
                    await asyncio.wait({stopped}, timeout=pause)
                else:
                    self._begin(views)
        finally:
            stopped.cancel()

    async def _call_off(self, claim: asyncio.Future[Claimed]) -> None:
        """Ends a claim; what it got in the meantime is given back."""
        claim.cancel()
        await asyncio.wait({claim})
        if claim.cancelled():
            return
        try:
            views = claim.result()["tasks"]
            if views:
                await self._client.give_back([view["token"] for view in views])
        except MilepostError as error:
            log.warning("a claim ended badly while the worker was stopping: %s", error)

    def _begin(self, views: Sequence[TaskView]) -> None:
        for view in views:
            if view["task"] not in self._handlers:
                log.warning("was given %s, which was not asked for; its lease will expire", view["task"])
                continue
            task = AsyncTask(view, self._client)
            self._tasks[task.token] = task
            self._leases.keep(view, time.monotonic())
            task._reporter = partial(self._report, task.token)
            self._begun.set()
            run = asyncio.create_task(self._run(task))
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    def _report(self, token: str, progress: Progress) -> None:
        self._leases.tell(token, progress)
        self._begun.set()

    async def _run(self, task: AsyncTask) -> None:
        if self._giving_up:
            self._leases.let_go(task.token)
            del self._tasks[task.token]
            await self._settle(task, Settlement.give_back(task.token))
            return

        async def work() -> object:
            return await self._handlers[task.name](task)

        self._work[task.token] = working = asyncio.create_task(work())
        try:
            await asyncio.wait({working})
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            self._leases.let_go(task.token)
            del self._tasks[task.token], self._work[task.token]
        # Without a lease there is nothing to say: somebody else has the task.
        if task._lost:
            return
        if self._giving_up and working.cancelled():
            self._say_how_it_ended(task, "given back")
            await self._settle(task, Settlement.give_back(task.token))
            return
        error = asyncio.CancelledError() if working.cancelled() else working.exception()
        answer = working.result() if error is None else failure_of(error)
        self._say_how_it_ended(task, "failed" if error is not None else word_for(answer), error)
        await self._settle(task, settlement(task.token, answer))

    async def _settle(self, task: AsyncTask, said: Settlement) -> None:
        try:
            await self._client._drive(settle(said, self._client._retries))
        except Exception:
            log.exception("the end of task %s cannot be told; its lease will expire", task)

    async def _drain(self) -> None:
        if self._runs:
            _, late = await asyncio.wait(self._runs, timeout=self.grace)
            if late:
                log.warning("stopping before all tasks ended: %s still run, and are given back", len(late))
                await self._give_up(late)

    async def _give_up(self, runs: set[asyncio.Task[None]]) -> None:
        """Cancels what runs and gives it back. Whoever cancels that, too, is not kept waiting: leases expire then."""
        self._giving_up = True
        for working in list(self._work.values()):
            working.cancel()
        late = set(runs)
        try:
            if late:
                _, late = await asyncio.wait(late, timeout=GIVING_BACK)
        finally:
            late = {run for run in late if not run.done()}
            if late:
                log.error("%s tasks could not be given back; their leases will expire", len(late))
            for run in late:
                run.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _beat(self) -> None:
        """Renews the leases of all running tasks, many in one call."""
        while True:
            due, now = self._leases.next_due(), time.monotonic()
            if due is None or due > now:
                self._begun.clear()
                try:
                    await asyncio.wait_for(self._begun.wait(), None if due is None else due - now)
                except asyncio.TimeoutError:
                    pass
                continue
            tokens = self._leases.due(now)
            try:
                results = await self._client.renew(tokens, progress=self._leases.progress(tokens))
            except MilepostError as error:
                log.warning("cannot renew leases; trying again: %s", error)
                self._leases.unheard(tokens, time.monotonic())
                continue
            for token, result in zip(tokens, results):
                news = self._leases.heard(token, result, time.monotonic())
                if token not in self._work:
                    continue
                if news == "lost":
                    self._tasks[token]._lost = True
                    self._work[token].cancel()
                elif isinstance(news, int):
                    self._tasks[token]._tell(news)
