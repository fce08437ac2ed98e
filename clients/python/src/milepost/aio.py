"""The client for asyncio."""

from __future__ import annotations

import asyncio
from datetime import datetime
from types import TracebackType
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

import httpx

from . import _flows, _http, _routes, spans
from ._call import Call
from ._feed import FeedReader
from ._flows import Flow, Pause, Reply
from .errors import Unreachable
from .retries import Retries
from .spans import Span
from .views import (
    Actions,
    Child,
    Claimed,
    Cursor,
    CursorPage,
    Entry,
    EntryPage,
    Event,
    EventPage,
    FeedPage,
    Figures,
    Found,
    Hold,
    Json,
    LanePage,
    ManyResult,
    Progress,
    ReviewPage,
    Settled,
    Submission,
    SubmissionPage,
    Submitted,
    TaskView,
    WholeSubmission,
    Why,
)
from .waiting import Waited

T = TypeVar("T")


class AsyncClient:
    """A client of one server, at an address such as `http://127.0.0.1:8080`. All within one event loop.

    What is safe to repeat is repeated when the server cannot be reached or asks for a pause.
    """

    def __init__(self, base_url: str, token: str | None = None, *, retries: Retries = Retries()) -> None:
        self._http = httpx.AsyncClient(**_http.settings(base_url, token))
        self._retries = retries
        self.server = base_url.rstrip("/")

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Submissions

    async def submit(
        self,
        pipeline: str,
        payload: Json,
        *,
        key: str | None = None,
        priority: int | None = None,
        not_before: datetime | str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> Submitted:
        """Submits one. With an idempotency key it is safe to repeat, and repeated when the server cannot be reached.

        The submission keeps the trace it is given (W3C Trace Context) and hands it to its workers.
        """
        body = {"payload": payload, "key": key, "priority": priority, "not_before": not_before, "reason": reason}
        answer: Submitted = await self._send(_routes.submit(pipeline, body, idempotency_key, (traceparent, tracestate)))
        return answer

    async def submit_many(
        self,
        pipeline: str,
        submissions: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> List[ManyResult]:
        """Submits up to 1,000, each a mapping with `payload` and what else `submit` takes. The results are in their order."""
        sent = _routes.submit_many(pipeline, submissions, idempotency_key, (traceparent, tracestate))
        answer: List[ManyResult] = (await self._send(sent))["results"]
        return answer

    async def get(self, id: str) -> WholeSubmission:
        """One submission, with its documents."""
        answer: WholeSubmission = await self._send(_routes.read("submissions", id))
        return answer

    def list(
        self,
        *,
        pipeline: str | None = None,
        state: str | None = None,
        status: str | None = None,
        investigation: str | None = None,
        key: str | None = None,
        parent: str | None = None,
        lane: str | None = None,
        labels: Mapping[str, str] | None = None,
        created_before: datetime | str | None = None,
        created_after: datetime | str | None = None,
        entered_before: datetime | str | None = None,
        error: str | None = None,
        fingerprint: str | None = None,
        worker: str | None = None,
        id: str | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[Submission]:
        """Submissions, newest first, without their documents. Pages are fetched as they are needed."""
        filter = {
            "pipeline": pipeline,
            "state": state,
            "status": status,
            "investigation": investigation,
            "key": key,
            "parent": parent,
            "lane": lane,
            "labels": labels,
            "created_before": created_before,
            "created_after": created_after,
            "entered_before": entered_before,
            "error": error,
            "fingerprint": fingerprint,
            "worker": worker,
            "id": id,
        }
        return self._pages("submissions", filter, page_size)

    def dead(
        self, *, pipeline: str | None = None, state: str | None = None, page_size: int | None = None
    ) -> AsyncIterator[Submission]:
        """Dead letters, newest first."""
        return self._pages("dead", {"pipeline": pipeline, "state": state}, page_size)

    def investigations(
        self, *, pipeline: str | None = None, state: str | None = None, page_size: int | None = None
    ) -> AsyncIterator[Submission]:
        """Ends that somebody should look into and nobody has acknowledged, newest first."""
        return self._pages("investigations", {"pipeline": pipeline, "state": state}, page_size)

    async def page(self, *, limit: int | None = None, after: str | None = None, **filter: Any) -> SubmissionPage:
        """One page of `list`. `after` is the `next` of the page before."""
        answer: SubmissionPage = await self._send(_routes.submissions("submissions", filter, limit, after))
        return answer

    async def _pages(self, route: str, filter: Mapping[str, Any], limit: int | None) -> AsyncIterator[Submission]:
        after: Optional[str] = None
        while True:
            page: SubmissionPage = await self._send(_routes.submissions(route, filter, limit, after))
            for one in page["submissions"]:
                yield one
            after = page["next"]
            if after is None:
                return

    async def events(self, id: str, *, after: int = 0, page_size: int | None = None) -> AsyncIterator[Event]:
        """Everything that happened to a submission after a revision, oldest first."""
        position: Optional[int] = after
        while position is not None:
            page: EventPage = await self._send(_routes.events(id, position, page_size))
            for one in page["events"]:
                yield one
            position = page["next"]

    async def events_by_people(self, id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """What people decided and wrote about a submission after a revision, oldest first."""
        position: Optional[int] = after
        while position is not None:
            page: EventPage = await self._send(_routes.events(id, position, None, "people"))
            for event in page["events"]:
                yield event
            position = page["next"]

    async def wait(self, id: str, *, at_most: Span | None = None) -> Waited:
        """Waits until a submission has ended, is dead or waits for a person, at most as long as given."""
        seconds = None if at_most is None else spans.seconds(at_most)
        return await self._drive(_flows.wait(id, seconds, self._retries))

    async def find(self, text: str) -> Found:
        """The submissions that a text may mean: an id or the beginning of one, a key, or `PIPELINE/KEY`."""
        answer: Found = await self._send(_routes.read("find", query={"text": text}))
        return answer

    async def figures(self) -> Figures:
        """What flows, how long it stays and what stops it, of all servers over the store."""
        answer: Figures = await self._send(_routes.read("figures"))
        return answer

    async def lanes(self, pipeline: str, *, limit: int | None = None, after: str | None = None) -> LanePage:
        """One page of the lanes that somebody is in line for, and who is in the way. `after` is the `next` of the page before."""
        query = {"limit": limit, "after": after}
        answer: LanePage = await self._send(_routes.read("pipelines", pipeline, "lanes", query=query))
        return answer

    async def why(self, id: str) -> Why:
        """Every reason a submission is not moving."""
        answer: Why = await self._send(_routes.read("submissions", id, "why"))
        return answer

    async def reviews(
        self,
        *,
        pipeline: str | None = None,
        role: str | None = None,
        whose: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> ReviewPage:
        """A page of what waits for people, the first due first. `whose` is all, unassigned or mine."""
        query = {"pipeline": pipeline, "role": role, "whose": whose, "limit": limit, "after": after}
        answer: ReviewPage = await self._send(_routes.reviews(query))
        return answer

    async def claim_review(
        self,
        id: str,
        *,
        span: Span | None = None,
        revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> Submission:
        """Takes a review on, or keeps it for longer."""
        body = {"for": None if span is None else spans.text(span)}
        answer: Submission = await self._send(_routes.review(id, "claim", body, idempotency_key, revision))
        return answer

    async def hand_over_review(
        self,
        id: str,
        to: str,
        *,
        span: Span | None = None,
        revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> Submission:
        """Gives a review to somebody else."""
        body = {"to": to, "for": None if span is None else spans.text(span)}
        answer: Submission = await self._send(_routes.review(id, "hand-over", body, idempotency_key, revision))
        return answer

    async def release_review(
        self, id: str, *, revision: int | None = None, idempotency_key: str | None = None
    ) -> Submission:
        """Lets a review go."""
        answer: Submission = await self._send(_routes.review(id, "release", {}, idempotency_key, revision))
        return answer

    async def note(
        self, id: str, text: str, *, revision: int | None = None, idempotency_key: str | None = None
    ) -> Submission:
        """Writes down what others should know."""
        answer: Submission = await self._send(_routes.note(id, text, idempotency_key, revision))
        return answer

    async def actions(self, id: str) -> Actions:
        """What this client's token may do with a submission now, and why not the rest."""
        answer: Actions = await self._send(_routes.read("submissions", id, "actions"))
        return answer

    async def act(
        self,
        id: str,
        action: str,
        *,
        reason: str | None = None,
        data: Json = None,
        to: str | None = None,
        revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> Submission:
        """Makes a declared move; with a revision, only if that still is the submission's."""
        body = {"reason": reason, "data": data, "to": to}
        answer: Submission = await self._send(_routes.act(id, action, body, idempotency_key, revision))
        return answer

    async def amend(
        self, id: str, patch: Json, *, revision: int | None = None, idempotency_key: str | None = None
    ) -> Submission:
        """Changes the payload by an RFC 7386 merge patch, in the fields the pipeline allows."""
        answer: Submission = await self._send(_routes.amend(id, patch, idempotency_key, revision))
        return answer

    async def acknowledge(
        self,
        id: str,
        *,
        note: str | None = None,
        revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> Submission:
        """Says that somebody has looked into how a submission ended."""
        answer: Submission = await self._send(_routes.acknowledge(id, note, idempotency_key, revision))
        return answer

    async def redrive(self, id: str, *, reason: str | None = None) -> Submission:
        """Sets a dead letter going again."""
        answer: Submission = await self._send(_routes.redrive(id, reason))
        return answer

    # Holds

    async def hold(
        self,
        reason: str,
        *,
        pipeline: str | None = None,
        labels: Mapping[str, str] | None = None,
        lane: str | None = None,
        submission: str | None = None,
        expires_at: datetime | str | None = None,
    ) -> Hold:
        """Stops the submissions that all of what is given fits."""
        body = {
            "pipeline": pipeline,
            "labels": labels,
            "lane": lane,
            "submission": submission,
            "reason": reason,
            "expires_at": expires_at,
        }
        answer: Hold = await self._send(_routes.hold(body))
        return answer

    async def holds(self) -> List[Hold]:
        answer: List[Hold] = (await self._send(_routes.read("holds")))["holds"]
        return answer

    async def release(self, hold: str) -> Hold:
        answer: Hold = await self._send(_routes.release(hold))
        return answer

    # The feed

    async def feed(
        self,
        *,
        pipeline: str | None = None,
        state: str | None = None,
        labels: Mapping[str, str] | None = None,
        after: Union[int, str, None] = None,
        cursor: str | None = None,
        wait: Span = "20s",
        page_size: int | None = None,
    ) -> AsyncIterator[Event]:
        """Events as they happen, without end; with `wait=0`, those there are.

        `after` is a position, "end" for what comes from now on, or nothing for the oldest there is. With a cursor it goes
        on where the cursor of that name is, if there is one, and moves it when all events of a page were taken and the
        next one is asked for: whoever stops in between sees the rest again.
        """
        filter = {"pipeline": pipeline, "state": state, "labels": labels}
        reader = FeedReader(filter, after, cursor, wait, page_size)
        await self._drive(reader.begin(self._retries))
        while True:
            events = await self._drive(reader.read(self._retries))
            if events is None:
                return
            for one in events:
                yield one

    async def feed_page(
        self,
        *,
        pipeline: str | None = None,
        state: str | None = None,
        labels: Mapping[str, str] | None = None,
        after: Union[int, str, None] = None,
        wait: Span = 0,
        limit: int | None = None,
    ) -> FeedPage:
        """One page of the feed. `after` is the `next` of the page before."""
        filter = {"pipeline": pipeline, "state": state, "labels": labels}
        answer: FeedPage = await self._send(_routes.feed(filter, after, limit, wait))
        return answer

    async def cursor(self, name: str) -> Cursor:
        answer: Cursor = await self._send(_routes.read("feed", "cursors", name))
        return answer

    async def cursors(
        self, *, subject: str | None = None, limit: int | None = None, after: str | None = None
    ) -> CursorPage:
        """One page of the cursors that are yours, or everybody's if you see all. `after` is the `next` of the page before."""
        answer: CursorPage = await self._send(_routes.cursors(subject, limit, after))
        return answer

    async def delete_cursor(self, name: str, *, subject: str | None = None) -> Cursor:
        """Lets go of how far a named reader has come, and gives what it was."""
        answer: Cursor = await self._send(_routes.delete_cursor(name, subject))
        return answer

    async def move_cursor(self, name: str, position: int, *, rewind: bool = False) -> Cursor:
        """Keeps how far a named reader has come."""
        answer: Cursor = await self._send(_routes.move_cursor(name, position, rewind))
        return answer

    # Entries of systems

    async def entry(self, system: str, name: str) -> Entry:
        """An entry of a system; its digest is None where there is none."""
        answer: Entry = await self._send(_routes.read("systems", system, "entries", name))
        return answer

    async def entries(self, system: str, *, limit: int | None = None, after: str | None = None) -> EntryPage:
        """One page of the entries of a system, by name. `after` is the `next` of the page before."""
        answer: EntryPage = await self._send(_routes.entries(system, limit, after))
        return answer

    async def put_entry(self, system: str, name: str, body: Any, *, expected: str | None = None) -> Entry:
        """Changes an entry, if it is what is expected: `expected` is the digest of what it replaces; None, if there is to be
        no such entry yet. A body of None removes it."""
        answer: Entry = await self._send(_routes.put_entry(system, name, expected, body))
        return answer

    # Tasks: the worker loop calls these

    async def claim(
        self,
        worker: str,
        tasks: Sequence[str],
        *,
        max: int | None = None,
        wait: Span = 0,
        pipelines: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> List[TaskView]:
        """Takes leases. Not repeated by itself: an answer that was lost has granted leases nobody knows of."""
        body = {"worker": worker, "tasks": tasks, "pipelines": pipelines, "labels": labels, "max": max}
        return (await self._claim(body, wait))["tasks"]

    async def _claim(self, body: Mapping[str, Any], wait: Span) -> Claimed:
        answer: Claimed = await self._send(_routes.claim(body, wait))
        return answer

    async def finish(self, tasks: Sequence[Mapping[str, Any]]) -> List[Settled]:
        return await self._settle("finish", tasks)

    async def fail(self, tasks: Sequence[Mapping[str, Any]]) -> List[Settled]:
        return await self._settle("fail", tasks)

    async def snooze(self, tasks: Sequence[Mapping[str, Any]]) -> List[Settled]:
        return await self._settle("snooze", tasks)

    async def give_back(self, tokens: Sequence[str]) -> List[Settled]:
        """Gives leases back: somebody else gets the tasks at once, from the start, and no attempt is counted."""
        return await self._settle("give-back", [{"token": token} for token in tokens])

    async def renew(self, tokens: Sequence[str], *, progress: Mapping[str, Progress] | None = None) -> List[Settled]:
        """Keeps leases longer. `progress` says, by token, how far tasks have come."""
        return await self._settle("renew", _routes.renewals(tokens, progress or {}))

    async def spawn(self, token: str, children: Sequence[Child]) -> Settled:
        """Makes children without settling the task. The same name is the same child, so a repeat makes nothing twice."""
        return (await self._settle("spawn", [{"token": token, "children": children}]))[0]

    async def _settle(self, verb: str, tasks: Sequence[Mapping[str, Any]]) -> List[Settled]:
        answer: List[Settled] = (await self._send(_routes.settle(verb, tasks)))["results"]
        return answer

    # Pipelines

    async def pipelines(self) -> List[Dict[str, Any]]:
        """The newest version of every pipeline, with counts."""
        answer: List[Dict[str, Any]] = (await self._send(_routes.read("pipelines")))["pipelines"]
        return answer

    async def apply(
        self,
        name: str,
        toml: str,
        *,
        files: Mapping[str, str] | None = None,
        params: Mapping[str, Json] | None = None,
        rollback: bool = False,
    ) -> Dict[str, Any]:
        """Brings a pipeline file into force; an older one than what is in force only as a `rollback`."""
        answer: Dict[str, Any] = await self._send(_routes.apply(name, toml, files, params, rollback))
        return answer

    async def retire(self, name: str, version: int | None = None, *, dry_run: bool = False) -> Dict[str, Any]:
        """Lets go of a version that nothing follows; without one, of every version that nothing needs."""
        answer: Dict[str, Any] = await self._send(_routes.retire(name, version, dry_run))
        return answer

    # The way to the server and back

    async def _send(self, call: Call) -> Any:
        return await self._drive(_flows.send(call, self._retries))

    async def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._step(step)
                except Unreachable as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _step(self, step: Union[Call, Pause]) -> Optional[Reply]:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return _http.reply(await self._http.request(**_http.request(step)))
        except httpx.TransportError as error:
            raise _http.unreachable(self.server, error) from error
