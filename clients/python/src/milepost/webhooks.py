"""Whether a webhook comes from whom it says: the signatures of the Standard Webhooks specification.

from milepost import webhooks

webhooks.verify(request.headers, request.body, [os.environ["WEBHOOK_SECRET"]])
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Mapping, Sequence, Union

from . import spans
from .errors import MilepostError
from .spans import Span

_PREFIX = "whsec_"


class SignatureError(MilepostError):
    """A webhook that cannot be believed. `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code


@dataclass(frozen=True)
class Verified:
    #: The same for every try of one delivery: remember it to take each once.
    id: str
    #: When it was sent, in seconds since 1970.
    timestamp: int


def verify(
    headers: Mapping[str, str],
    body: Union[bytes, str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: Span = "5m",
    now: float | None = None,
) -> Verified:
    """Checks the signature of a body, which must be the bytes as they came. Any one of the secrets may have signed it.

    Raises `SignatureError` with the code `missing-header`, `invalid-timestamp`, `too-old`, `too-new` or `no-match`, or
    `invalid-secret` where there is none to check with.
    """
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise SignatureError("invalid-secret", "there is no secret to check signatures with")
    content = body.encode() if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    id, sent, signatures = (_header(given, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
    timestamp = _timestamp(sent, spans.seconds(tolerance), time.time() if now is None else now)
    signed = f"{id}.{sent}.".encode() + content
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    matches = False
    for signature in signatures.split(" "):
        version, _, text = signature.partition(",")
        found = _base64(text) if version == "v1" else None
        for digest in expected:
            # Every pair is compared, each in constant time: how long it takes says nothing about the secrets.
            matches |= found is not None and hmac.compare_digest(found, digest)
    if not matches:
        raise SignatureError("no-match", "no signature of the webhook was made with a known secret")
    return Verified(id, timestamp)


def sign(id: str, timestamp: int, body: Union[bytes, str], secret: str) -> str:
    """The value of `webhook-signature` that one secret gives. For tests of receivers."""
    content = body.encode() if isinstance(body, str) else bytes(body)
    digest = hmac.new(_key(secret), f"{id}.{timestamp}.".encode() + content, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    if not value:
        raise SignatureError("missing-header", f"the webhook has no header {name}")
    return value


def _timestamp(text: str, tolerance: float, now: float) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise SignatureError("invalid-timestamp", "the webhook's timestamp is no number of seconds")
    timestamp = int(text)
    if timestamp < now - tolerance:
        raise SignatureError("too-old", "the webhook was signed too long ago; it may be a replay")
    if timestamp > now + tolerance:
        raise SignatureError("too-new", "the webhook was signed in the future; check the clocks")
    return timestamp


def _key(secret: str) -> bytes:
    key = _base64(secret.removeprefix(_PREFIX))
    if not key:
        # Not shown: it may be nearly right.
        raise SignatureError("invalid-secret", "a secret of webhooks is `whsec_` and base64")
    return key


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
