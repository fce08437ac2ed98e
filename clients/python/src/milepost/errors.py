"""What can go wrong between a client and its server."""

from __future__ import annotations

from typing import Any, Mapping


class MilepostError(Exception):
    """Every error of this package."""

    @property
    def code(self) -> str | None:
        """The stable code of a refusal; None where the server did not refuse."""
        return None

    @property
    def is_passing(self) -> bool:
        """Whether asking again later may help."""
        return False


class Problem(MilepostError):
    """The server said no, and why: a problem of RFC 9457. Decide by `code`; `detail` is for people."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.members = dict(members)
        self.status = int(members["status"])
        self.title = str(members.get("title", ""))
        self.detail = str(members.get("detail", ""))
        self._code = str(members["code"])
        super().__init__(f"{self.detail} ({self._code})")

    @property
    def code(self) -> str:
        return self._code

    @property
    def is_passing(self) -> bool:
        return self.status >= 500 or self.status == 429

    def __reduce__(self) -> tuple[Any, ...]:
        return (Problem, (self.members,))


class Unreachable(MilepostError):
    """No answer came. Whether the server did what it was asked is not known unless the connection was refused."""

    @property
    def is_passing(self) -> bool:
        return True


class ProtocolError(MilepostError):
    """An answer came that is not one of Milepost's."""

    @property
    def is_passing(self) -> bool:
        return True


class SetupError(MilepostError):
    """The client was given something it cannot use."""


def read_problem(document: object) -> Problem | None:
    """The problem a document holds, if it is one."""
    if not isinstance(document, dict):
        return None
    if not isinstance(document.get("code"), str) or not isinstance(document.get("status"), int):
        return None
    return Problem(document)
