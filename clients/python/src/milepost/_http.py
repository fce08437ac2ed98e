"""What both clients tell httpx."""

from __future__ import annotations

import ipaddress
import ssl
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._call import Call
from ._flows import Reply
from .errors import MilepostError, SetupError, Unreachable

#: How long an answer may take, beyond what the call itself waits for.
PATIENCE = 30.0
CONNECT_PATIENCE = 5.0

#: As OpenSSL calls an answer that is no record of TLS, by its versions.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")

VERSION = "0.1.0"


def settings(base_url: str, token: str | None) -> dict[str, Any]:
    """The arguments of the httpx client."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SetupError(f"`{base_url}` is no server's address: write it like http://127.0.0.1:8080")
    if parts.query or parts.fragment:
        raise SetupError(f"`{base_url}` is no server's address: leave out what follows the path")
    headers = {"accept": "application/json", "user-agent": f"milepost-python/{VERSION}"}
    if token is not None:
        if any(not 32 < ord(character) < 127 for character in token):
            raise SetupError("the token has characters that no token has")
        headers["authorization"] = f"Bearer {token}"
    return {
        "base_url": base_url.rstrip("/"),
        "headers": headers,
        # Requests that stay on this machine are no business of a proxy.
        "trust_env": not _is_this_machine(parts.hostname),
        # Without TLS there is no need for certificates, which take a while to read. Redirects are not followed.
        "verify": parts.scheme == "https",
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
    }


def request(call: Call) -> dict[str, Any]:
    """The arguments of one request."""
    return {
        "method": call.method,
        "url": call.path,
        "headers": call.headers,
        "content": call.body,
        "timeout": httpx.Timeout(call.waits + PATIENCE, connect=CONNECT_PATIENCE),
    }


def reply(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.headers, response.content)


def unreachable(server: str, error: Exception) -> MilepostError:
    if _answers_without_tls(server, error):
        return SetupError(f"the server at {server} does not talk TLS: use http://")
    reason = str(error) or type(error).__name__
    return Unreachable(f"the server at {server} cannot be reached: {reason}{_hint(server, error)}")


def _answers_without_tls(server: str, error: Exception) -> bool:
    """Bytes of HTTP are no record of TLS."""
    inner: BaseException | None = error if urlsplit(server).scheme == "https" else None
    while inner is not None:
        if isinstance(inner, ssl.SSLError) and inner.reason in _NO_TLS:
            return True
        inner = inner.__cause__ or inner.__context__
    return False


def _hint(server: str, error: Exception) -> str:
    """A server that talks TLS refuses HTTP with an alert and hangs up. httpx does not show what came, and others hang up,
    too: so the error stays one that is tried again, and says what else it may be."""
    hung_up = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError))
    return "; if it talks TLS, use https://" if hung_up and urlsplit(server).scheme == "http" else ""


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
