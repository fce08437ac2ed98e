"""The clients and workers against a real server, whose address is in MILEPOST_SERVER. It must be open to everybody."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
import unittest
import uuid
from typing import Any, Iterator

from milepost import AsyncClient, AsyncTask, AsyncWorker, Client, Failure, Outcome, Problem, Snooze, Task, Worker
from milepost.views import Child, Submission

PATIENCE = "60s"

FILE = """
name = "NAME"
version = 1
start = [{ to = "REVIEW", when = "payload.kind == 'review'" }, "WORK"]
amend = { fields = ["note"] }
[states.WORK]
task = "NAME.work"
lease = "1s"
retry = { times = 1, delay = "1ms" }
on.done = { to = "DONE", metadata = { kind = "payload.kind" } }
actions.cancel = "CANCELLED"
[states.REVIEW]
review = "admin"
actions.approve = "WORK"
[states.DONE]
final = "success"
[states.CANCELLED]
final = "cancelled"
"""

PARENT = """
name = "NAME"
version = 1
start = "SPLIT"
[states.SPLIT]
join = "CHILD"
task = "NAME.split"
on.all_succeeded = "DONE"
on.some_failed = "FAILED"
[states.DONE]
final = "success"
[states.FAILED]
final = "failure"
"""


@contextlib.contextmanager
def working(worker: Worker) -> Iterator[None]:
    ended = threading.Thread(target=worker.run)
    ended.start()
    try:
        yield
    finally:
        worker.stop()
        ended.join()


class Server(unittest.TestCase):
    def setUp(self) -> None:
        self.url = os.environ["MILEPOST_SERVER"]
        self.client = Client(self.url)
        self.addCleanup(self.client.close)
        # Tests share the server: each has a pipeline of its own.
        self.pipeline = "p-" + uuid.uuid4().hex[:12]
        self.client.apply(self.pipeline, FILE.replace("NAME", self.pipeline))
        self.worker = Worker(self.client, "w", grace="5s")

    def submit(self, kind: str = "work") -> str:
        return self.client.submit(self.pipeline, {"kind": kind, "note": "old"}, idempotency_key=kind)["id"]

    def progress(self, id: str) -> dict[str, Any]:
        """Asks until the task has told how far it has come."""
        while True:
            submission = self.client.get(id)
            assert submission["status"] == "open", "it has ended without a word"
            progress: dict[str, Any] | None = (submission["lease"] or {}).get("progress")
            if progress is not None:
                return progress

    def rested(self, id: str, rest: str) -> Submission:
        waited = self.client.wait(id, at_most=PATIENCE)
        self.assertEqual(waited.rest, rest, waited.submission)
        return waited.submission

    def test_a_submission_is_worked_on_and_ends(self) -> None:
        @self.worker.task(f"{self.pipeline}.work")
        def work(task: Task) -> Outcome:
            return Outcome("done", output={"kind": task.payload["kind"]}, result="fine")

        id = self.submit()
        self.assertEqual(self.submit(), id, "the key makes it the same submission")
        self.assertEqual(self.client.why(id)["reasons"][0]["code"], "worker")
        with working(self.worker):
            ended = self.rested(id, "ended")
        self.assertEqual(
            (ended["state"], ended["outputs"], ended["result"]), ("DONE", {"WORK": {"kind": "work"}}, "fine")
        )
        self.assertEqual([event["kind"] for event in self.client.events(id, page_size=1)], ["submitted", "moved"])

    def test_an_amendment_is_told_with_a_renewal(self) -> None:
        begun = threading.Event()

        @self.worker.task(f"{self.pipeline}.work")
        def work(task: Task) -> Outcome:
            begun.set()
            assert task.wait_for_news(PATIENCE) and task.amended
            return Outcome("done", output={"note": task.reload()["note"], "amended": task.amended})

        id = self.submit()
        with working(self.worker):
            self.assertTrue(begun.wait(60))
            self.client.amend(id, {"note": "new"})
            ended = self.rested(id, "ended")
        self.assertEqual(ended["outputs"]["WORK"], {"note": "new", "amended": False})

    def test_progress_is_shown_with_the_submission(self) -> None:
        told = threading.Event()

        @self.worker.task(f"{self.pipeline}.work")
        def work(task: Task) -> Outcome:
            task.report(3, total=9, line="copying a.nc")
            assert told.wait(60)
            return Outcome("done")

        id = self.submit()
        with working(self.worker):
            progress = self.progress(id)
            self.assertEqual((progress["done"], progress["total"], progress["line"]), (3, 9, "copying a.nc"))
            told.set()
            self.assertIsNone(self.rested(id, "ended").get("lease"))

    def test_a_handler_hears_when_its_lease_is_lost(self) -> None:
        begun, lost = threading.Event(), threading.Event()

        @self.worker.task(f"{self.pipeline}.work")
        def work(task: Task) -> Outcome:
            begun.set()
            task.wait_for_news(PATIENCE)
            if task.lost:
                lost.set()
            return Outcome("done")

        id = self.submit()
        with working(self.worker):
            self.assertTrue(begun.wait(60))
            self.client.act(id, "cancel", revision=self.client.get(id)["revision"])
            self.assertTrue(lost.wait(60))
        self.assertEqual(self.client.get(id)["state"], "CANCELLED")

    def test_a_worker_that_stops_gives_back_what_has_not_ended(self) -> None:
        id, begun = self.submit(), threading.Event()
        worker = Worker(self.client, "w", grace="0s")

        def work(task: Task) -> Outcome:
            begun.set()
            task.wait_for_news(PATIENCE)
            return Outcome("done")

        worker.handle(f"{self.pipeline}.work", work)
        with working(worker):
            self.assertTrue(begun.wait(60))
        given_back = self.client.get(id)
        self.assertEqual((given_back["waits_for"], given_back["attempt"]), ("worker", 1))

        async def stops() -> None:
            async with AsyncClient(self.url) as client:
                worker = AsyncWorker(client, "a", grace="0s")

                async def work(task: AsyncTask) -> Outcome:
                    worker.stop()
                    await asyncio.Event().wait()
                    return Outcome("done")

                worker.handle(f"{self.pipeline}.work", work)
                await worker.run()

        asyncio.run(stops())
        self.assertEqual(self.client.get(id)["waits_for"], "worker")
        self.assertEqual([event["kind"] for event in self.client.events(id)], ["submitted"])

    def test_a_worker_that_is_cancelled_gives_back_what_has_not_ended(self) -> None:
        async def cancelled() -> None:
            async with AsyncClient(self.url) as client:
                worker, begun = AsyncWorker(client, "a", grace="1h"), asyncio.Event()

                async def work(task: AsyncTask) -> Outcome:
                    begun.set()
                    await asyncio.Event().wait()
                    return Outcome("done")

                worker.handle(f"{self.pipeline}.work", work)
                running = asyncio.create_task(worker.run())
                await asyncio.wait_for(begun.wait(), 60)
                running.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await running

        id = self.submit()
        asyncio.run(cancelled())
        given_back = self.client.get(id)
        self.assertEqual((given_back["waits_for"], given_back["attempt"]), ("worker", 1))

    def test_a_misspelt_task_is_told_at_once(self) -> None:
        self.worker.handle(f"{self.pipeline}.wrok", lambda task: Outcome("done"))
        told = threading.Event()
        with self.assertLogs("milepost.worker", "WARNING") as logs:
            handler = logging.Handler(logging.WARNING)
            handler.emit = lambda record: told.set()  # type: ignore[method-assign]
            logging.getLogger("milepost.worker").addHandler(handler)
            self.addCleanup(logging.getLogger("milepost.worker").removeHandler, handler)
            with working(self.worker):
                self.assertTrue(told.wait(60))
        self.assertIn(f"no pipeline has a task {self.pipeline}.wrok", logs.output[0])

    def test_failures_snoozes_and_dead_letters(self) -> None:
        runs: list[int] = []

        @self.worker.task(f"{self.pipeline}.work")
        def work(task: Task) -> Outcome | Snooze:
            runs.append(task.attempt)
            if len(runs) == 1:
                return Snooze("1ms")
            if len(runs) == 2:
                raise ValueError("not today")
            if len(runs) == 3:
                raise Failure("no-luck", "never", retryable=False)
            return Outcome("done")

        id = self.submit()
        with working(self.worker):
            dead = self.rested(id, "dead")
            self.assertEqual(dead["error"], {"code": "no-luck", "message": "never"})
            self.assertEqual([one["id"] for one in self.client.dead(pipeline=self.pipeline)], [id])
            self.client.redrive(id, reason="again")
            self.rested(id, "ended")
        self.assertEqual(runs, [1, 1, 2, 1])

    def test_people_act_and_holds_stop(self) -> None:
        id = self.submit("review")
        self.assertEqual(self.rested(id, "person")["actions"], ["approve"])
        hold = self.client.hold("not now", pipeline=self.pipeline)
        self.client.act(id, "approve", idempotency_key="once")
        self.assertEqual(self.client.why(id)["reasons"][0]["code"], "held")
        self.assertIn(hold["id"], [one["id"] for one in self.client.holds()])
        self.assertEqual(self.client.claim("w", [f"{self.pipeline}.work"]), [])
        self.client.release(hold["id"])
        with self.assertRaises(Problem) as caught:
            self.client.release(hold["id"])
        self.assertEqual((caught.exception.code, caught.exception.status), ("unknown-hold", 404))

    def test_the_feed_goes_on_where_its_cursor_is(self) -> None:
        ids = [self.submit("review"), self.submit("work")]

        def read() -> list[str]:
            feed = self.client.feed(pipeline=self.pipeline, cursor=self.pipeline, wait=0)
            return [event["submission"] for event in feed]

        self.assertEqual(read(), ids)
        self.client.act(ids[0], "approve")
        self.assertEqual(read(), [ids[0]])
        self.assertEqual(read(), [])
        listed = self.client.list(pipeline=self.pipeline, state="WORK", page_size=1)
        self.assertEqual([one["id"] for one in listed], ids[::-1])

    def test_a_batch_waits_for_its_children(self) -> None:
        parent = "b-" + uuid.uuid4().hex[:12]
        self.client.apply(parent, PARENT.replace("NAME", parent).replace("CHILD", self.pipeline))

        async def run() -> Submission:
            async with AsyncClient(self.url) as client:
                worker = AsyncWorker(client, "w", concurrency=4, grace="5s")

                @worker.task(f"{parent}.split")
                async def split(task: AsyncTask) -> Outcome:
                    first: Child = {"payload": {"kind": "a"}, "name": "a"}
                    self.assertEqual((await task.spawn([first]))["total"], 1)
                    self.assertEqual((await task.spawn([first]))["total"], 1, "the same name is the same child")
                    return Outcome.sealed([{"payload": {"kind": "b"}, "name": "b"}])

                @worker.task(f"{self.pipeline}.work")
                async def work(task: AsyncTask) -> Outcome:
                    return Outcome("done")

                running = asyncio.create_task(worker.run())
                submitted = await client.submit(parent, {})
                waited = await client.wait(submitted["id"], at_most=PATIENCE)
                worker.stop()
                await running
                return waited.submission

        ended = asyncio.run(run())
        self.assertEqual((ended["state"], ended["children"]["succeeded"]), ("DONE", 2))

    def test_an_amendment_reaches_a_coroutine(self) -> None:
        async def run() -> Submission:
            async with AsyncClient(self.url) as client:
                worker = AsyncWorker(client, "w", grace="5s")
                begun = asyncio.Event()

                @worker.task(f"{self.pipeline}.work")
                async def work(task: AsyncTask) -> Outcome:
                    begun.set()
                    await task.amendment()
                    return Outcome("done", output=await task.reload())

                running = asyncio.create_task(worker.run())
                submitted = await client.submit(self.pipeline, {"kind": "work"})
                await asyncio.wait_for(begun.wait(), 60)
                await client.amend(submitted["id"], {"note": "new"})
                waited = await client.wait(submitted["id"], at_most=PATIENCE)
                worker.stop()
                await running
                return waited.submission

        self.assertEqual(asyncio.run(run())["outputs"]["WORK"], {"kind": "work", "note": "new"})


if __name__ == "__main__":
    unittest.main()
