"""What a handler is given."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Callable, Sequence

from .. import spans
from ..aio import AsyncClient
from ..client import Client
from ..errors import Problem, ProtocolError
from ..spans import Span
from ..views import Child, Children, Json, Progress, Settled, TaskView
from .answers import LeaseLost


class Leased:
    """A task under lease: the members of the claim's answer as attributes."""

    def __init__(self, view: TaskView) -> None:
        self.view = view
        #: When it was claimed, by `time.monotonic`.
        self.began = time.monotonic()
        #: Whoever has it can settle the task: it is a secret.
        self.token = view["token"]
        self.submission = view["submission"]
        self.pipeline = view["pipeline"]
        self.state = view["state"]
        self.name = view["task"]
        #: The state's static configuration; None where the pipeline file has none.
        self.config: Json = view.get("with")
        self.params = view["params"]
        self.attempt = view["attempt"]
        #: How often it came back from a later state.
        self.requeues = view["requeues"]
        self.priority = view["priority"]
        self.key = view.get("key")
        #: The submission that made this one.
        self.parent = view.get("parent")
        #: The state in which it failed last, while it is being put right.
        self.failed_from = view.get("failed_from")
        #: The last state that it left by an outcome.
        self.last_good = view.get("last_good")
        #: The time that one attempt may take, as the API writes spans; None where it may take as long as it takes.
        self.timeout = view.get("timeout")
        self.payload: Json = view["payload"]
        self.payload_revision = view["payload_revision"]
        self.outputs = view["outputs"]
        self.labels = view["labels"]
        self._newest = self.payload_revision
        #: Set by the worker that runs the task: without one, progress is told to nobody.
        self._reporter: Callable[[Progress], None] = lambda progress: None

    def report(self, done: int, total: int | None = None, line: str | None = None) -> None:
        """Tells how far the task has come, to be shown with its submission. Cheap: the newest is sent, once a second at most."""
        progress: Progress = {"done": done}
        if total is not None:
            progress["total"] = total
        if line is not None:
            progress["line"] = line
        self._reporter(progress)

    @property
    def amended(self) -> bool:
        """Whether the payload has changed since: a renewal has said so. `reload` gets the new one."""
        return self._newest > self.payload_revision

    def _renewed(self, payload: Json, revision: int) -> Json:
        self.payload, self.payload_revision = payload, revision
        return payload

    def __repr__(self) -> str:
        """Without the token."""
        return f"<{type(self).__name__} {self.name} of {self.submission}, attempt {self.attempt}>"


class Task(Leased):
    """A task under lease, for a handler in a thread.

    A thread cannot be stopped from outside: a handler that takes long looks at `lost` or calls `check` now and then.
    """

    def __init__(self, view: TaskView, client: Client) -> None:
        super().__init__(view)
        self._client = client
        self._changed = threading.Condition()
        self._lost = False

    @property
    def lost(self) -> bool:
        """Whether the lease is lost: somebody else has the task, and its answer will not be sent."""
        return self._lost

    def check(self) -> None:
        """Raises `LeaseLost` when there is no use in going on."""
        if self._lost:
            raise LeaseLost("the task is somebody else's now")

    def wait_for_news(self, at_most: Span | None = None) -> bool:
        """Waits until the payload is amended or the lease is lost; False when the time is over before."""
        seconds = None if at_most is None else spans.seconds(at_most)
        with self._changed:
            return self._changed.wait_for(lambda: self.amended or self._lost, seconds)

    def reload(self) -> Json:
        """The payload as it is now, which is the task's from here on."""
        revision = self._newest
        return self._renewed(self._client.get(self.submission)["payload"], revision)

    def spawn(self, children: Sequence[Child]) -> Children:
        """Makes children and keeps the lease. The same name is the same child, made once."""
        return _spawned(self._client.spawn(self.token, children))

    def _tell(self, newest: int | None = None, lost: bool = False) -> None:
        with self._changed:
            self._newest = max(self._newest, newest or 0)
            self._lost = self._lost or lost
            self._changed.notify_all()


class AsyncTask(Leased):
    """A task under lease, for a coroutine. It is cancelled when its lease is lost."""

    def __init__(self, view: TaskView, client: AsyncClient) -> None:
        super().__init__(view)
        self._client = client
        self._changed = asyncio.Event()
        self._lost = False

    async def amendment(self) -> None:
        """Waits until the payload is amended."""
        while not self.amended:
            self._changed.clear()
            await self._changed.wait()

    async def reload(self) -> Json:
        """The payload as it is now, which is the task's from here on."""
        revision = self._newest
        return self._renewed((await self._client.get(self.submission))["payload"], revision)

    async def spawn(self, children: Sequence[Child]) -> Children:
        """Makes children and keeps the lease. The same name is the same child, made once."""
        return _spawned(await self._client.spawn(self.token, children))

    def _tell(self, newest: int) -> None:
        self._newest = max(self._newest, newest)
        self._changed.set()


def _spawned(result: Settled) -> Children:
    problem = result.get("problem")
    if problem is not None:
        raise Problem(problem)
    if "children" not in result:
        raise ProtocolError("the server's answer cannot be understood: it does not say which children there are")
    return result["children"]
