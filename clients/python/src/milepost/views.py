"""The shapes of answers. They are plain dictionaries: members that this version does not know are kept."""

from __future__ import annotations

from typing import Any, Optional, TypedDict

Json = Any


# What an answer always has is in a class of its own where it has more at times: `NotRequired` is newer than Python 3.10.


class _Submitted(TypedDict):
    id: str
    pipeline: str
    version: int
    state: str
    revision: int
    created_at: str


class Submitted(_Submitted, total=False):
    #: There and true where an open submission has the key already.
    duplicate: bool


class _ManyResult(TypedDict):
    status: int


class ManyResult(_ManyResult, total=False):
    """One of many: a submission or a problem, with the status it would have had alone."""

    submission: Submitted
    problem: dict[str, Any]


class Failed(TypedDict):
    code: str
    message: str


class Children(TypedDict):
    total: int
    open: int
    succeeded: int
    failed: int
    cancelled: int


class _Submission(TypedDict):
    id: str
    pipeline: str
    version: int
    state: str
    phase: Optional[str]
    status: str
    revision: int
    attempt: int
    requeues: int
    priority: int
    key: Optional[str]
    lane: Optional[dict[str, Any]]
    labels: dict[str, str]
    parent: Optional[str]
    children: Children
    failed_from: Optional[str]
    last_good: Optional[str]
    error: Optional[Failed]
    waits_for: str
    wake_at: Optional[str]
    lease: Optional[dict[str, Any]]
    holds: list[dict[str, Any]]
    parked: Optional[str]
    actions: list[str]
    created_at: str
    entered_at: str
    finished_at: Optional[str]


class Submission(_Submission, total=False):
    """A submission, as lists and moves give it."""

    stands_for: str
    key_waits: bool
    approvals: list[dict[str, Any]]
    assigned: dict[str, str]
    notes: int
    traceparent: str
    tracestate: str
    sla: list[dict[str, Any]]
    investigation: dict[str, Any]
    result: Json


class _Attempt(TypedDict):
    state: str
    worker: str
    attempt: int
    started_at: str
    ended_at: str
    end: str
    trigger: str


class Attempt(_Attempt, total=False):
    """One try of a worker, from its claim to its end."""

    error: Failed


class _WholeSubmission(Submission, total=False):
    attempts: list[Attempt]
    attempts_left_out: int
    replaced: dict[str, Json]


class WholeSubmission(_WholeSubmission):
    """A submission with its documents, as it is given when one is asked for by its id."""

    payload: Json
    outputs: dict[str, Json]


class SubmissionPage(TypedDict):
    submissions: list[Submission]
    next: Optional[str]


class Found(TypedDict):
    """What a text may mean, and the one it does mean where that is clear."""

    meant: Optional[str]
    submissions: list[Submission]
    more: bool


class Flow(TypedDict):
    """The moves along each edge. `from` is None for what was submitted; `minutes` has the number of each minute since `since`."""

    since: str
    edges: list[dict[str, Any]]


class DeadKind(TypedDict):
    """Dead letters whose errors differ in ids, numbers, paths and addresses alone."""

    pipeline: str
    state: str
    code: str
    message: str
    #: The short name of the error, which lists and operations filter by.
    fingerprint: str
    count: int


class Store(TypedDict):
    bytes: Optional[int]
    backup_ago: Optional[str]
    checkpoint_ago: Optional[str]


class _Figures(TypedDict):
    flow: Flow
    dwells: list[dict[str, Any]]
    oldest: list[dict[str, Any]]
    dead: list[DeadKind]
    limits: list[dict[str, Any]]
    unpolled: list[dict[str, Any]]
    unknown_tasks: list[dict[str, Any]]


class Figures(_Figures, total=False):
    """Figures of all servers over the store."""

    #: There and true where there are more than are shown.
    dead_more: bool
    limits_more: bool
    #: For whoever sees everything.
    store: Store


class Lane(TypedDict):
    pipeline: str
    lane: str
    #: Who holds the lane.
    blocker: Optional[dict[str, Any]]
    first: Optional[str]
    first_created_at: Optional[str]


class LanePage(TypedDict):
    lanes: list[Lane]
    next: Optional[str]


class ReviewPage(TypedDict):
    """What waits for people. `next` is a place in the list, no id."""

    submissions: list[Submission]
    next: Optional[str]


#: `from` cannot be written as a name in a class.
_Event = TypedDict(
    "_Event",
    {
        "id": str,
        "seq": int,
        "submission": str,
        "revision": int,
        "kind": str,
        "from": Optional[str],
        "to": str,
        "trigger": str,
        "actor": dict[str, str],
        "attempt": int,
        "at": str,
        "metadata": Json,
    },
)


class Event(_Event, total=False):
    pipeline: str
    error: Failed
    worker: str
    notified: list[dict[str, Any]]


class EventPage(TypedDict):
    events: list[Event]
    next: Optional[int]


class FeedPage(TypedDict):
    events: list[Event]
    next: int


class Cursor(TypedDict):
    name: str
    subject: Optional[str]
    position: int
    moved_at: str


class CursorPage(TypedDict):
    cursors: list[Cursor]
    next: Optional[str]


class Entry(TypedDict):
    name: str
    digest: Optional[str]
    body: Any


class EntryPage(TypedDict):
    entries: list[Entry]
    next: Optional[str]


class Reason(TypedDict):
    code: str
    sentence: str
    details: dict[str, Any]


class Target(TypedDict, total=False):
    """A state that an action may lead to."""

    state: str
    title: Optional[str]
    legal: bool
    agreed: list[str]
    refusal: dict[str, Any]


class Form(TypedDict, total=False):
    """What an action asks for, and what it does."""

    when: str
    role: str
    reviewers: list[str]
    only_submitter: bool
    reason: bool
    data: Json
    task: str
    approvals: int
    to: list[Target]
    pick: Optional[str]


class Action(TypedDict, total=False):
    name: str
    title: str
    legal: bool
    forms: list[Form]
    refusal: dict[str, Any]


class Deed(TypedDict, total=False):
    name: str
    legal: bool
    refusal: dict[str, Any]


class Actions(TypedDict):
    """What a caller may do with a submission at a revision."""

    submission: str
    pipeline: str
    version: int
    state: str
    status: str
    revision: int
    actions: list[Action]
    deeds: list[Deed]


class Why(TypedDict):
    submission: str
    state: str
    status: str
    reasons: list[Reason]


class Hold(TypedDict):
    id: str
    pipeline: Optional[str]
    labels: dict[str, str]
    lane: Optional[str]
    submission: Optional[str]
    reason: str
    owner: dict[str, str]
    created_at: str
    expires_at: Optional[str]


class Child(TypedDict, total=False):
    """A submission that a task makes. The same name is the same child, made once."""

    payload: Json
    key: str
    priority: int
    not_before: str
    name: str


#: `with` cannot be written as a name in a class.
_TaskView = TypedDict(
    "_TaskView",
    {
        "token": str,
        "submission": str,
        "pipeline": str,
        "state": str,
        "task": str,
        "with": Json,
        "params": dict[str, Json],
        "attempt": int,
        "requeues": int,
        "priority": int,
        "payload": Json,
        "payload_revision": int,
        "outputs": dict[str, Json],
        "labels": dict[str, str],
        "lease": str,
        "lease_expires_at": str,
    },
)


class TaskView(_TaskView, total=False):
    """What a claim gives. The trace is there where the submission is part of one."""

    key: str
    #: The submission that made this one.
    parent: str
    #: The state in which it failed last, while it is being put right.
    failed_from: str
    #: The last state that it left by an outcome.
    last_good: str
    #: The time that one attempt may take, however lively; without it, as long as it takes.
    timeout: str
    traceparent: str
    tracestate: str


class _Claimed(TypedDict):
    tasks: list[TaskView]


class Claimed(_Claimed, total=False):
    """The whole answer to a claim."""

    #: Those of the tasks asked for that no pipeline has.
    unknown_tasks: list[str]


class _Progress(TypedDict):
    done: int


class Progress(_Progress, total=False):
    """How far a task has come."""

    total: int
    #: What it is at; cut at 200 characters.
    line: str


class _Settled(TypedDict):
    token: str
    status: int


class Settled(_Settled, total=False):
    """What became of one settlement, renewal or spawn."""

    state: str
    submission_status: str
    children: Children
    repeated: bool
    lease_expires_at: str
    payload_revision: int
    problem: dict[str, Any]
