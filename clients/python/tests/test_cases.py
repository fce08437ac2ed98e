"""The cases that every client of Milepost is held to, against both clients of this package."""

from __future__ import annotations

import asyncio
import time
import unittest
from typing import Any, Callable, Iterator

from scripted import CASES, PATIENCE, ScriptedServer, has_at_least, stop_after

from milepost import (
    AsyncClient,
    AsyncTask,
    AsyncWorker,
    Client,
    Failure,
    MilepostError,
    Outcome,
    Problem,
    ProtocolError,
    Retries,
    SetupError,
    Snooze,
    Task,
    Unreachable,
    Worker,
    webhooks,
)

KINDS = {Problem: "problem", Unreachable: "unreachable", ProtocolError: "protocol", SetupError: "setup"}


def ask(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    if name == "wait":
        waited = client.wait(**arguments)
        return {"rest": waited.rest, "submission": waited.submission}
    answer = getattr(client, name)(**arguments)
    return list(answer) if isinstance(answer, Iterator) else answer


async def ask_async(client: AsyncClient, name: str, arguments: dict[str, Any]) -> Any:
    if name == "wait":
        waited = await client.wait(**arguments)
        return {"rest": waited.rest, "submission": waited.submission}
    answer = getattr(client, name)(**arguments)
    return [one async for one in answer] if hasattr(answer, "__aiter__") else await answer


def in_threads(url: str, token: str | None, retries: Retries, case: dict[str, Any]) -> Any:
    with Client(url, token, retries=retries) as client:
        return ask(client, case["call"], case["arguments"])


def in_a_loop(url: str, token: str | None, retries: Retries, case: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with AsyncClient(url, token, retries=retries) as client:
            return await ask_async(client, case["call"], case["arguments"])

    return asyncio.run(run())


class Calls(unittest.TestCase):
    def check(self, case: dict[str, Any], run: Callable[..., Any]) -> None:
        retries = Retries(times=case.get("retries", 3), pause=0.001)
        with ScriptedServer(case["exchanges"]) as server:
            url = "http://127.0.0.1:1" if case.get("server") == "absent" else server.url
            began = time.monotonic()
            try:
                result, error = run(url, case.get("token"), retries, case), None
            except MilepostError as raised:
                result, error = None, raised
            took_ms = (time.monotonic() - began) * 1000
            self.assertEqual(server.left(), [])
            self.assertFalse(server.more.is_set(), "it was sent once more")
        self.assertGreaterEqual(took_ms, case.get("takes_ms", 0))
        if "error" in case:
            self.check_error(error, case["error"])
        else:
            self.assertIsNone(error)
            self.assertTrue(has_at_least(result, case["result"]), f"{result} has not all of {case['result']}")

    def check_error(self, error: MilepostError | None, expected: dict[str, Any]) -> None:
        assert error is not None, "it went well"
        self.assertEqual(KINDS[type(error)], expected["kind"])
        if isinstance(error, Problem):
            self.assertEqual((error.code, error.status), (expected["code"], expected["status"]))
            self.assertEqual(error.detail, expected.get("detail", error.detail))
            self.assertTrue(has_at_least(error.members, expected.get("members", {})))


class Feeds(unittest.TestCase):
    def check(self, case: dict[str, Any]) -> None:
        with ScriptedServer(case["exchanges"]) as server, Client(server.url) as client:
            feed = client.feed(**case["arguments"])
            self.assertEqual([next(feed)["seq"] for _ in case["events"]], case["events"])
            self.assertEqual(server.left(), [])
            self.assertFalse(server.more.is_set(), "more was asked for than was taken")

    def check_async(self, case: dict[str, Any]) -> None:
        async def read(url: str) -> list[int]:
            async with AsyncClient(url) as client:
                feed = client.feed(**case["arguments"])
                return [(await feed.__anext__())["seq"] for _ in case["events"]]

        with ScriptedServer(case["exchanges"]) as server:
            self.assertEqual(asyncio.run(read(server.url)), case["events"])
            self.assertEqual(server.left(), [])
            self.assertFalse(server.more.is_set(), "more was asked for than was taken")


class Workers(unittest.TestCase):
    def check_threads(self, case: dict[str, Any]) -> None:
        answers = iter(case["answers"])
        with ScriptedServer(case["exchanges"]) as server:
            client = Client(server.url, retries=Retries(pause=0.001))
            worker = Worker(client, "w", grace=case.get("grace", "30s"))

            @worker.task("report.send")
            def handle(task: Task) -> Outcome | Snooze:
                answer = next(answers)
                if "until" in answer:
                    if answer["until"] == "stopped":
                        worker.stop()
                    self.assertTrue(task.wait_for_news(PATIENCE))
                    self.assertEqual(
                        (task.amended, task.lost), (answer["until"] == "amended", answer["until"] != "amended")
                    )
                return given(answer)

            stop_after(server, worker.stop)
            worker.run()
            self.assertEqual(server.left(), [])

    def check_loop(self, case: dict[str, Any]) -> None:
        answers = iter(case["answers"])

        async def run(server: ScriptedServer) -> None:
            async with AsyncClient(server.url, retries=Retries(pause=0.001)) as client:
                worker = AsyncWorker(client, "w", grace=case.get("grace", "30s"))

                @worker.task("report.send")
                async def handle(task: AsyncTask) -> Outcome | Snooze:
                    answer = next(answers)
                    if "until" in answer:
                        if answer["until"] == "stopped":
                            worker.stop()
                        # One whose lease is lost, or that is given back, is cancelled here.
                        await asyncio.wait_for(task.amendment(), PATIENCE)
                    return given(answer)

                loop = asyncio.get_running_loop()
                stop_after(server, lambda: loop.call_soon_threadsafe(worker.stop))
                await worker.run()

        with ScriptedServer(case["exchanges"]) as server:
            asyncio.run(run(server))
            self.assertEqual(server.left(), [])


def given(answer: dict[str, Any]) -> Outcome | Snooze:
    if "fail" in answer:
        raise Failure(**answer["fail"])
    if "snooze" in answer:
        return Snooze(answer["snooze"])
    return Outcome(**{name: value for name, value in answer.items() if name != "until"})


class Webhooks(unittest.TestCase):
    def check(self, case: dict[str, Any]) -> None:
        arguments = {name: case[name] for name in ("now", "tolerance") if name in case}
        try:
            found = webhooks.verify(case["headers"], case["body"].encode(), case["secrets"], **arguments)
        except webhooks.SignatureError as error:
            self.assertEqual(error.code, case.get("error"))
        else:
            self.assertEqual({"id": found.id, "timestamp": found.timestamp}, case.get("result"))


def test(check: Callable[..., None], *arguments: Any) -> Callable[[Any], None]:
    return lambda self: check(self, *arguments)


def named(case: dict[str, Any], suffix: str = "") -> str:
    return "test_" + "".join(c if c.isalnum() else "_" for c in case["name"]) + suffix


for case in CASES["calls"]:
    setattr(Calls, named(case), test(Calls.check, case, in_threads))
    setattr(Calls, named(case, "_async"), test(Calls.check, case, in_a_loop))
for case in CASES["feeds"]:
    setattr(Feeds, named(case), test(Feeds.check, case))
    setattr(Feeds, named(case, "_async"), test(Feeds.check_async, case))
for case in CASES["workers"]:
    setattr(Workers, named(case), test(Workers.check_threads, case))
    setattr(Workers, named(case, "_async"), test(Workers.check_loop, case))
for case in CASES["webhooks"]:
    setattr(Webhooks, named(case), test(Webhooks.check, case))

if __name__ == "__main__":
    unittest.main()
