"""What the shared cases do not say: iterators, the likeness of both clients, and how a worker stops."""

from __future__ import annotations

import asyncio
import inspect
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

from scripted import CASES, PATIENCE, ScriptedServer, blunt_server

from milepost import (
    AsyncClient,
    AsyncWorker,
    Client,
    Failure,
    MilepostError,
    Outcome,
    Problem,
    Retries,
    SetupError,
    Task,
    Worker,
    spans,
    webhooks,
)
from milepost._call import when
from milepost.views import Settled, TaskView
from milepost.worker.leases import Leases
from milepost.worker.settling import Settlement, error_code, settlement

SUBMISSION = "01a1e148-25d3-7c36-9f16-9d3a7fedad24"


def exchange(
    method: str, path: str, body: Any, query: dict[str, str] | None = None, sent: Any = None
) -> dict[str, Any]:
    expect: dict[str, Any] = {"method": method, "path": path, "query": query or {}}
    if sent is not None:
        expect["body"] = sent
    return {"expect": expect, "answer": {"status": body.get("status", 200) if "code" in body else 200, "body": body}}


def problem(status: int, code: str) -> dict[str, Any]:
    return {"type": "x", "title": "x", "status": status, "code": code, "detail": "x"}


def feed_page(*events: int, next: int) -> dict[str, Any]:
    return {"events": [{"$like": "event", "seq": seq} for seq in events], "next": next}


class Likeness(unittest.TestCase):
    def test_both_clients_have_the_same_methods_with_the_same_arguments(self) -> None:
        def shape(kind: type) -> dict[str, list[str]]:
            methods = inspect.getmembers(kind, inspect.isfunction)
            return {name: list(inspect.signature(m).parameters) for name, m in methods if not name.startswith("_")}

        self.assertEqual(shape(Client), shape(AsyncClient))
        self.assertIn("submit", shape(Client))

    def test_both_workers_are_made_alike(self) -> None:
        self.assertEqual(list(inspect.signature(Worker).parameters), list(inspect.signature(AsyncWorker).parameters))


class Iterators(unittest.TestCase):
    def test_a_list_fetches_page_after_page(self) -> None:
        submission = {"$like": "submission"}
        script = [
            exchange(
                "GET", "/v1/submissions", {"submissions": [submission], "next": "a"}, {"pipeline": "p", "limit": "1"}
            ),
            # A page can be empty and still have a next one.
            exchange(
                "GET",
                "/v1/submissions",
                {"submissions": [], "next": "b"},
                {"pipeline": "p", "limit": "1", "after": "a"},
            ),
            exchange(
                "GET",
                "/v1/submissions",
                {"submissions": [submission], "next": None},
                {"pipeline": "p", "limit": "1", "after": "b"},
            ),
        ]
        with ScriptedServer(script) as server, Client(server.url) as client:
            self.assertEqual(len(list(client.list(pipeline="p", page_size=1))), 2)
            self.assertEqual(server.left(), [])

    def feed_of_what_there_is(self) -> list[dict[str, Any]]:
        ahead = problem(409, "cursor-ahead")
        return [
            exchange("GET", "/v1/feed/cursors/c", problem(404, "unknown-cursor")),
            exchange("GET", "/v1/feed", feed_page(8, next=9), {"after": "7", "pipeline": "p"}),
            exchange("PUT", "/v1/feed/cursors/c", ahead, sent={"position": 9}),
            exchange("GET", "/v1/feed", feed_page(next=9), {"after": "9", "pipeline": "p"}),
        ]

    def test_a_feed_that_does_not_wait_ends(self) -> None:
        with ScriptedServer(self.feed_of_what_there_is()) as server, Client(server.url) as client:
            events = client.feed(pipeline="p", cursor="c", after=7, wait=0)
            self.assertEqual([event["seq"] for event in events], [8])
            self.assertEqual(server.left(), [])

    def test_a_feed_that_does_not_wait_ends_async(self) -> None:
        async def read(url: str) -> list[int]:
            async with AsyncClient(url) as client:
                return [event["seq"] async for event in client.feed(pipeline="p", cursor="c", after=7, wait=0)]

        with ScriptedServer(self.feed_of_what_there_is()) as server:
            self.assertEqual(asyncio.run(read(server.url)), [8])
            self.assertEqual(server.left(), [])


class Schemes(unittest.TestCase):
    def told(self, scheme: str, answer: bytes | None) -> list[str]:
        """What both clients say of a server that talks TLS, or answers whatever it is sent."""

        def ask(url: str) -> None:
            with Client(url) as client:
                client.pipelines()

        def ask_async(url: str) -> None:
            async def run() -> None:
                async with AsyncClient(url) as client:
                    await client.pipelines()

            asyncio.run(run())

        told = []
        for asking in (ask, ask_async):
            with blunt_server(answer) as address:
                with self.assertRaises(MilepostError) as caught:
                    asking(f"{scheme}://{address}")
                told.append(str(caught.exception).replace(address, "ADDRESS"))
        return told

    def test_a_server_that_does_not_talk_tls_is_told_as_such(self) -> None:
        refusal = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        message = "the server at https://ADDRESS does not talk TLS: use http://"
        self.assertEqual(self.told("https", refusal), [message, message])

    def test_a_server_that_talks_tls_is_told_as_such(self) -> None:
        for told in self.told("http", None):
            self.assertTrue(told.endswith("; if it talks TLS, use https://"), told)


class SmallParts(unittest.TestCase):
    def test_spans_are_read_and_written_as_the_server_does(self) -> None:
        shown: list[tuple[spans.Span, str]] = [
            (0, "0s"),
            (0.5, "500ms"),
            ("90s", "1m30s"),
            (timedelta(days=8), "8d"),
            ("1w", "7d"),
        ]
        for span, text in shown:
            self.assertEqual(spans.text(span), text)
        refused: list[spans.Span] = ["", "5", "s", "5 s", "-5s", -1, float("nan"), "5s!"]
        for wrong in refused:
            with self.assertRaises(SetupError):
                spans.milliseconds(wrong)

    def test_times_need_a_zone(self) -> None:
        time = datetime(2026, 11, 16, 9, 0, tzinfo=timezone(timedelta(hours=1)))
        self.assertEqual(when(time), "2026-11-16T08:00:00.000Z")
        with self.assertRaises(SetupError):
            when(datetime(2026, 11, 16))

    def test_error_codes_are_brought_into_shape(self) -> None:
        for code, plain in [("git-clone", "git-clone"), ("__x", "x"), ("é", "error"), ("a" * 100, "a" * 64)]:
            self.assertEqual(error_code(code), plain)

    def test_what_cannot_be_sent_is_refused_before_it_is(self) -> None:
        for url in ["", "127.0.0.1:8080", "localhost:8080", "ftp://x", "http://", "http://x/?a=b"]:
            with self.assertRaises(SetupError, msg=url):
                Client(url)
        with self.assertRaises(SetupError):
            Client("http://x", "a\nb")
        with Client("http://127.0.0.1:1") as client:
            for payload in [float("nan"), {1, 2}]:
                with self.assertRaises(SetupError):
                    client.submit("p", payload)
            for name in ["", ".", ".."]:
                with self.assertRaises(SetupError):
                    client.release(name)
            with self.assertRaises(SetupError):
                client.submit("p", 1, idempotency_key="a\nb")

    def test_pauses_grow_to_their_maximum_and_differ(self) -> None:
        retries = Retries()
        for failed in range(1, 200):
            whole = min(retries.pause * 2.0 ** (failed - 1), retries.pause_max)
            self.assertTrue(whole / 2 <= retries.pause_after(failed) <= whole)
        self.assertGreater(len({retries.pause_after(3) for _ in range(50)}), 1)
        self.assertEqual(retries.pause_after(1, wish=3600.0), 5.0, "an hour is more than anybody waits")

    def test_secrets_do_not_show(self) -> None:
        view: Any = {"token": "hunter2", "submission": "s", "pipeline": "p", "state": "S", "task": "t"}
        view |= {
            "params": {},
            "attempt": 1,
            "requeues": 0,
            "priority": 0,
            "payload": 1,
            "payload_revision": 1,
            "outputs": {},
            "labels": {},
        }
        with Client("http://127.0.0.1:1", "hunter2") as client:
            self.assertNotIn("hunter2", repr(client) + repr(client._http.headers) + repr(Task(view, client)))
        with self.assertRaises(webhooks.SignatureError) as caught:
            webhooks.verify({}, b"", "whsec_hunter2!")
        self.assertNotIn("hunter2", str(caught.exception))

    def test_progress_hastens_a_renewal_and_the_newest_is_told(self) -> None:
        leases, view = Leases(), cast(TaskView, {"token": "t", "lease": "30s"})
        leases.keep(view, 0.0)
        self.assertEqual(leases.next_due(), 10.0)
        leases.tell("t", {"done": 1})
        leases.tell("t", {"done": 2})
        self.assertEqual((leases.next_due(), leases.progress(["t"])), (1.0, {"t": {"done": 2}}))
        leases.unheard(["t"], 1.0)
        self.assertEqual(leases.progress(["t"]), {"t": {"done": 2}}, "what was not heard is told again")
        leases.tell("t", {"done": 3})
        renewed: Settled = {"token": "t", "status": 200, "lease_expires_at": "", "payload_revision": 1}
        leases.heard("t", renewed, 2.0)
        self.assertEqual((leases.next_due(), leases.progress(["t"])), (3.0, {"t": {"done": 3}}), "told meanwhile")
        leases.heard("t", renewed, 3.0)
        self.assertEqual((leases.next_due(), leases.progress(["t"])), (13.0, {}))

    def test_a_problem_survives_a_trip_between_processes(self) -> None:
        again = pickle.loads(pickle.dumps(Problem(problem(409, "stale-lease"))))
        self.assertEqual((again.code, again.status), ("stale-lease", 409))

    def test_what_is_signed_is_verified(self) -> None:
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        headers = {"webhook-id": "m", "webhook-timestamp": "1614265330"}
        headers["webhook-signature"] = webhooks.sign("m", 1614265330, b"{}", secret)
        self.assertEqual(webhooks.verify(headers, b"{}", secret, now=1614265330).id, "m")


class Workers(unittest.TestCase):
    def test_an_error_of_a_handler_is_a_failure_that_is_tried_again(self) -> None:
        error = {"code": "error", "message": "KeyError: 'x'", "retryable": True}
        settled = {"results": [{"token": "t-1", "status": 200, "state": "S", "submission_status": "open"}]}
        script = [
            exchange("POST", "/v1/tasks:claim", {"tasks": [{"$like": "task"}]}),
            exchange("POST", "/v1/tasks:fail", settled, sent={"tasks": [{"token": "t-1", "error": error}]}),
        ]
        with ScriptedServer(script) as server, Client(server.url) as client:
            worker = Worker(client)

            @worker.task("report.send")
            def handle(task: Task) -> Outcome:
                worker.stop()
                raise KeyError("x")

            worker.run()
            self.assertEqual(server.left(), [])

    def test_an_answer_that_cannot_be_sent_is_a_failure_for_people(self) -> None:
        for wrong in [None, Outcome("sent", output={1, 2}), Outcome("sent", output=float("nan"))]:
            said = settlement("t-1", wrong)
            self.assertEqual((said.verb, said.body["error"]["code"]), ("fail", "unexpected-answer"))
            self.assertFalse(said.body["error"]["retryable"])

    def test_a_failure_may_say_when_it_is_tried_again(self) -> None:
        said = Settlement.of("t-1", Failure("busy", "later", after="5m"))
        self.assertEqual(said.body["error"]["retry_after"], "5m")
        self.assertNotIn("retry_after", Settlement.of("t-1", Failure("busy", "later")).body["error"])

    def test_a_worker_without_tasks_or_coroutines_says_so(self) -> None:
        with Client("http://127.0.0.1:1") as client:
            with self.assertRaises(SetupError):
                Worker(client).run()
        with self.assertRaises(SetupError):
            AsyncWorker(AsyncClient("http://127.0.0.1:1")).handle("t", lambda task: Outcome("x"))  # type: ignore[arg-type, return-value]

    def test_a_task_that_comes_too_late_is_given_back(self) -> None:
        view: Any = CASES["bodies"]["task"]
        answer = {"results": [{"token": "t-1", "status": 200}]}
        sent = {"tasks": [{"token": "t-1"}]}
        with ScriptedServer([exchange("POST", "/v1/tasks:give-back", answer, sent=sent)]) as server:
            with Client(server.url) as client:
                worker = Worker(client)
                worker.stop()
                worker._begin([view])
            self.assertEqual(server.left(), [])

    def test_a_worker_that_is_refused_ends(self) -> None:
        script = [exchange("POST", "/v1/tasks:claim", problem(403, "role-required"))]
        with ScriptedServer(script) as server, Client(server.url) as client:
            worker = Worker(client)
            worker.handle("t", lambda task: Outcome("x"))
            with self.assertRaises(Problem) as caught:
                worker.run()
            self.assertEqual(caught.exception.code, "role-required")

    def test_a_signal_ends_a_worker_when_its_task_has_ended(self) -> None:
        for kind in ("threads", "loop"):
            with self.subTest(kind):
                self.stops_gracefully(kind)

    def stops_gracefully(self, kind: str) -> None:
        settled = {"results": [{"token": "t-1", "status": 200, "state": "SENT", "submission_status": "succeeded"}]}
        script = [
            exchange("POST", "/v1/tasks:claim", {"tasks": [{"$like": "task"}]}),
            exchange("POST", "/v1/tasks:finish", settled, sent={"tasks": [{"token": "t-1", "outcome": "sent"}]}),
        ]
        with ScriptedServer(script) as server:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAMS[kind], server.url],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
            )
            assert process.stdin is not None and process.stdout is not None
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.stdout.readline(), "stopping\n")
            process.communicate("go on\n", timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(server.left(), [])


PROGRAMS = {
    "threads": textwrap.dedent("""
        import sys, threading
        from milepost import Client, Outcome, Worker

        class Told(Worker):
            def stop(self):
                super().stop()
                print("stopping", flush=True)

        worker = Told(Client(sys.argv[1]), "w")

        @worker.task("report.send")
        def send(task):
            print("begun", flush=True)
            sys.stdin.readline()
            return Outcome("sent")

        worker.run()
    """),
    "loop": textwrap.dedent("""
        import asyncio, sys
        from milepost import AsyncClient, AsyncWorker, Outcome

        class Told(AsyncWorker):
            def stop(self):
                super().stop()
                print("stopping", flush=True)

        async def main():
            async with AsyncClient(sys.argv[1]) as client:
                worker = Told(client, "w")

                @worker.task("report.send")
                async def send(task):
                    print("begun", flush=True)
                    await asyncio.to_thread(sys.stdin.readline)
                    return Outcome("sent")

                await worker.run()

        asyncio.run(main())
    """),
}

if __name__ == "__main__":
    unittest.main()
