"""Reading the feed page by page, and keeping how far one has come."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Union

from . import _routes, spans
from ._flows import Flow, send
from .errors import Problem
from .retries import Retries
from .spans import Span
from .views import Cursor, Event, FeedPage


class FeedReader:
    def __init__(
        self,
        filter: Mapping[str, Any],
        after: Union[int, str, None],
        cursor: str | None,
        wait: Span,
        limit: int | None,
    ) -> None:
        self._filter = filter
        self._after = after
        self._cursor = cursor
        self._wait = wait
        self._follows = spans.milliseconds(wait) > 0
        self._limit = limit
        #: Read and taken, and not kept yet.
        self._owed: Optional[int] = None

    def begin(self, retries: Retries) -> Flow[None]:
        """Goes to where the cursor is, if there is one."""
        if self._cursor is None:
            return
        try:
            cursor: Cursor = yield from send(_routes.read("feed", "cursors", self._cursor), retries)
            self._after = cursor["position"]
        except Problem as problem:
            if problem.code != "unknown-cursor":
                raise

    def read(self, retries: Retries) -> Flow[Optional[List[Event]]]:
        """The next events; None at the end, where the reader is not to wait for more."""
        yield from self._keep(retries)
        page: FeedPage = yield from send(_routes.feed(self._filter, self._after, self._limit, self._wait), retries)
        is_end = not page["events"] and page["next"] == self._after
        if page["next"] != self._after:
            self._owed = page["next"]
        self._after = page["next"]
        return None if is_end and not self._follows else page["events"]

    def _keep(self, retries: Retries) -> Flow[None]:
        if self._cursor is None or self._owed is None:
            return
        try:
            yield from send(_routes.move_cursor(self._cursor, self._owed, False), retries)
        except Problem as problem:
            # Another reader of the same name is further on, and has kept that.
            if problem.code != "cursor-ahead":
                raise
        self._owed = None
