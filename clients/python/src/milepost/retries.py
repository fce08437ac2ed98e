"""How often and after which pause a call is made again."""

from __future__ import annotations

import random
from dataclasses import dataclass

#: A server's wish for a pause is followed up to here.
RETRY_AFTER_MAX = 5.0


@dataclass(frozen=True)
class Retries:
    """The rule of a client. Only what is safe to repeat is repeated: reads, settlements, calls with an idempotency key.

    The defaults give up within a second: long enough for a restart, short enough for somebody who waits.
    """

    #: Tries after the first.
    times: int = 3
    #: The first pause in seconds; every further one is twice as long.
    pause: float = 0.1
    pause_max: float = 5.0

    def pause_after(self, failed: int, wish: float | None = None) -> float:
        """The pause after so many failed tries: between half and all of it, so that many clients that failed together
        do not come back together; and at least what the server wished for, within reason."""
        whole = min(self.pause * 2.0 ** min(failed - 1, 60), self.pause_max)
        pause = whole / 2 + whole / 2 * random.random()
        return pause if wish is None else max(pause, min(wish, RETRY_AFTER_MAX))
