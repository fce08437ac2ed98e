"""The Python client of Milepost, and the worker loop for people who write tasks."""

from . import webhooks
from ._http import VERSION as __version__
from .aio import AsyncClient
from .client import Client
from .errors import MilepostError, Problem, ProtocolError, SetupError, Unreachable
from .retries import Retries
from .waiting import Waited
from .worker import AsyncTask, AsyncWorker, Failure, LeaseLost, Outcome, Snooze, Task, Worker

__all__ = [
    "AsyncClient",
    "AsyncTask",
    "AsyncWorker",
    "Client",
    "Failure",
    "LeaseLost",
    "MilepostError",
    "Outcome",
    "Problem",
    "ProtocolError",
    "Retries",
    "SetupError",
    "Snooze",
    "Task",
    "Unreachable",
    "Waited",
    "Worker",
    "__version__",
    "webhooks",
]
