"""How a wait for a submission ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from .views import Submission, WholeSubmission

#: It is in a final state; it is a dead letter; somebody must act; it is still on its way and the time is over.
Rest = Literal["ended", "dead", "person", "deadline"]


@dataclass(frozen=True)
class Waited:
    submission: WholeSubmission
    rest: Rest

    @property
    def succeeded(self) -> bool:
        return self.submission["status"] == "succeeded"


def rest_of(submission: Submission) -> Optional[Rest]:
    """How a submission rests, if it does."""
    if submission["status"] in ("succeeded", "failed", "cancelled"):
        return "ended"
    if submission["status"] == "dead":
        return "dead"
    return "person" if submission.get("waits_for") == "person" else None
