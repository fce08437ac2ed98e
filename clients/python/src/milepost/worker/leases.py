"""Which leases are to be renewed when, and what a renewal says. No clock and no network: both workers use it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal, Union

from .. import spans
from ..errors import read_problem
from ..views import Progress, Settled, TaskView

log = logging.getLogger("milepost.worker")

#: Never oftener than this, however short the lease.
_PAUSE_MIN = 0.1
#: Between tries while the server cannot be reached.
PAUSE_UNREACHABLE = 1.0
#: Between renewals that say how far a task has come: people read it, and it is written to disk.
_PAUSE_TOLD = 1.0
#: Leases that one call may renew.
_RENEW_MAX = 1_000


@dataclass
class _Lease:
    #: A third of the lease: two renewals may be lost before it is.
    pause: float
    due: float
    #: The earliest time at which progress may be told.
    tells: float
    #: The progress that the server has not heard of yet, and the one on its way.
    told: Progress | None = None
    sent: Progress | None = None


#: The payload's newest revision, or that the lease is lost.
News = Union[int, Literal["lost"], None]


class Leases:
    def __init__(self) -> None:
        self._kept: dict[str, _Lease] = {}

    def keep(self, task: TaskView, now: float) -> None:
        pause = max(spans.seconds(task["lease"]) / 3, _PAUSE_MIN)
        self._kept[task["token"]] = _Lease(pause, now + pause, now + _PAUSE_TOLD)

    def tell(self, token: str, progress: Progress) -> None:
        """Sends `progress` with the next renewal, which may come sooner for it."""
        lease = self._kept.get(token)
        if lease is not None:
            lease.told = progress
            lease.due = min(lease.due, lease.tells)

    def let_go(self, token: str) -> None:
        self._kept.pop(token, None)

    def next_due(self) -> float | None:
        return min((lease.due for lease in self._kept.values()), default=None)

    def due(self, now: float) -> list[str]:
        tokens = [token for token, lease in self._kept.items() if lease.due <= now]
        return tokens[:_RENEW_MAX]

    def progress(self, tokens: list[str]) -> dict[str, Progress]:
        """The progress to send with the renewals of `tokens`, by token."""
        telling: dict[str, Progress] = {}
        for token in tokens:
            lease = self._kept.get(token)
            if lease is not None and lease.told is not None:
                telling[token] = lease.sent = lease.told
        return telling

    def unheard(self, tokens: list[str], now: float) -> None:
        """The server could not be asked."""
        for token in tokens:
            lease = self._kept.get(token)
            if lease is not None:
                lease.due = now + min(lease.pause, PAUSE_UNREACHABLE)

    def heard(self, token: str, result: Settled, now: float) -> News:
        lease = self._kept.get(token)
        if lease is None:
            return None
        problem = read_problem(result.get("problem"))
        if problem is None and "lease_expires_at" in result:
            lease.due, lease.tells = now + lease.pause, now + _PAUSE_TOLD
            if lease.told is lease.sent:
                lease.told = None
            else:
                # Something newer was told meanwhile.
                lease.due = min(lease.due, lease.tells)
            return result.get("payload_revision")
        if problem is not None and problem.code == "expired":
            # The submission's time is over, but what is running may still end well.
            self.let_go(token)
            return None
        if problem is not None and problem.status < 500:
            log.warning("lost a lease; its task is stopped (%s)", problem.code)
            self.let_go(token)
            return "lost"
        lease.due = now + min(lease.pause, PAUSE_UNREACHABLE)
        return None
