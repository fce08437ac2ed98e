"""What workers say through their logger, and how `AsyncWorker.run` bears being cancelled."""

from __future__ import annotations

import asyncio
import gc
import unittest
from typing import Any, Callable

from scripted import PATIENCE, ScriptedServer, stop_after

from milepost import AsyncClient, AsyncTask, AsyncWorker, Client, Failure, Outcome, Retries, Worker

SETTLED = {"results": [{"token": "t-1", "status": 200, "state": "SENT", "submission_status": "succeeded"}]}
SUBMISSION = "01a1e148-25d3-7c36-9f16-9d3a7fedad24"


def post(route: str, answer: Any) -> dict[str, Any]:
    return {"expect": {"method": "POST", "path": f"/v1/tasks:{route}"}, "answer": {"status": 200, "body": answer}}


TASK = post("claim", {"tasks": [{"$like": "task"}]})


def run_threads(server: ScriptedServer, answer: Callable[[], Outcome], **options: Any) -> None:
    with Client(server.url) as client:
        worker = Worker(client, "w", **options)
        worker.handle("report.send", lambda task: answer())
        stop_after(server, worker.stop)
        worker.run()


def run_loop(server: ScriptedServer, answer: Callable[[], Outcome], **options: Any) -> None:
    async def run() -> None:
        async with AsyncClient(server.url) as client:
            worker = AsyncWorker(client, "w", **options)

            @worker.task("report.send")
            async def handle(task: AsyncTask) -> Outcome:
                return answer()

            loop = asyncio.get_running_loop()
            stop_after(server, lambda: loop.call_soon_threadsafe(worker.stop))
            await worker.run()

    asyncio.run(run())


class Speaking(unittest.TestCase):
    def said(self, script: list[dict[str, Any]], answer: Callable[[], Outcome], **options: Any) -> list[list[str]]:
        """What both workers say, the level before each line."""
        both = []
        for run in (run_threads, run_loop):
            with self.subTest(run.__name__), self.assertLogs("milepost.worker", "INFO") as logs:
                with ScriptedServer(script) as server:
                    run(server, answer, **options)
                    self.assertEqual(server.left(), [])
                address = server.url
            both.append([line.replace(address, "SERVER").replace(":milepost.worker:", " ") for line in logs.output])
        return both

    def test_a_worker_says_what_it_serves_and_how_each_task_ended(self) -> None:
        for lines in self.said([TASK, post("finish", SETTLED)], lambda: Outcome("sent")):
            self.assertEqual(lines[0], "INFO worker w serves report.send at SERVER, 1 at a time")
            self.assertRegex(lines[1], rf"^INFO report\.send of {SUBMISSION}, attempt \d: sent, after \d+\.\d\d s$")
            self.assertEqual(lines[2:], ["INFO worker w stops: nothing more is taken"])

    def test_a_worker_says_which_part_of_the_work_it_takes(self) -> None:
        told = self.said([], lambda: Outcome("sent"), pipelines=["report"], labels={"owner": "ada"})
        for lines in told:
            self.assertEqual(
                lines[0],
                "INFO worker w serves report.send of the pipelines report with the labels owner=ada at SERVER, 1 at a time",
            )

    def test_failures_are_told_with_their_traceback(self) -> None:
        def fail() -> Outcome:
            raise Failure("smtp", "no route")

        for lines in self.said([TASK, post("fail", SETTLED)], fail):
            self.assertRegex(lines[1], rf"^WARNING report\.send of {SUBMISSION}, attempt \d: failed, after \d+\.\d\d s\n")
            self.assertIn("Traceback (most recent call last)", lines[1])
            self.assertIn("in fail", lines[1])
            self.assertIn("smtp: no route", lines[1])

    def test_a_task_that_no_pipeline_has_is_told_once_and_again_when_that_changes(self) -> None:
        nothing = [
            post("claim", {"tasks": [], "unknown_tasks": ["report.send"]}),
            post("claim", {"tasks": [], "unknown_tasks": ["report.send"]}),
            post("claim", {"tasks": []}),
        ]
        for lines in self.said(nothing, lambda: Outcome("sent")):
            self.assertEqual(
                lines[1:3],
                [
                    "WARNING no pipeline has a task report.send: nothing will come of waiting for it until one is applied; "
                    "is the name right?",
                    "INFO there is a pipeline with report.send now",
                ],
            )


class Cancelling(unittest.TestCase):
    def test_a_worker_that_is_cancelled_gives_back_what_it_has_and_leaves_nothing_behind(self) -> None:
        stray: list[Any] = []

        async def main(server: ScriptedServer) -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: stray.append(context))
            async with AsyncClient(server.url, retries=Retries(pause=0.001)) as client:
                # Nobody who cancels wants to wait for that.
                worker, begun = AsyncWorker(client, "w", concurrency=2, grace="1h"), asyncio.Event()

                @worker.task("report.send")
                async def handle(task: AsyncTask) -> Outcome:
                    begun.set()
                    await asyncio.Event().wait()
                    return Outcome("sent")

                running = asyncio.create_task(worker.run())
                await begun.wait()
                # A claim for the second place is under way, too.
                await asyncio.to_thread(server.kept_waiting.wait, PATIENCE)
                running.cancel()
                done, _ = await asyncio.wait({running}, timeout=PATIENCE)
                self.assertTrue(done and running.cancelled())
                self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()})

        waits = {"expect": TASK["expect"], "answer": "never"}
        with ScriptedServer([TASK, waits, post("give-back", SETTLED)]) as server:
            with self.assertNoLogs("asyncio", "WARNING"):
                asyncio.run(main(server))
                gc.collect()
            self.assertEqual(server.left(), [])
        self.assertEqual(stray, [])

    def test_a_worker_that_is_cancelled_while_it_drains_does_not_wait_for_its_grace(self) -> None:
        async def main(server: ScriptedServer) -> None:
            async with AsyncClient(server.url) as client:
                worker = AsyncWorker(client, "w", grace="1h")

                @worker.task("report.send")
                async def handle(task: AsyncTask) -> Outcome:
                    worker.stop()
                    asyncio.get_running_loop().call_soon(running.cancel)
                    await asyncio.Event().wait()
                    return Outcome("sent")

                running = asyncio.create_task(worker.run())
                done, _ = await asyncio.wait({running}, timeout=PATIENCE)
                self.assertTrue(done and running.cancelled())
                self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()})

        with ScriptedServer([TASK, post("give-back", SETTLED)]) as server:
            asyncio.run(main(server))
            self.assertEqual(server.left(), [])


if __name__ == "__main__":
    unittest.main()
