"""The loop of a worker: claim, run, keep the leases, settle."""

from .aio import AsyncWorker
from .answers import Failure, LeaseLost, Outcome, Snooze
from .tasks import AsyncTask, Task
from .threads import Worker

__all__ = ["AsyncTask", "AsyncWorker", "Failure", "LeaseLost", "Outcome", "Snooze", "Task", "Worker"]
