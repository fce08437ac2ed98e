"""A server that expects certain requests in order and answers each as the script says."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable, Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "cases.json").read_text(encoding="utf-8"))

#: The certificate that the server's tests show.
TLS = Path(__file__).parents[3] / "crates" / "server" / "tests" / "tls"

#: Longer than anything here takes, even on a busy machine.
PATIENCE = 60.0


def filled(body: Any) -> Any:
    """A body with everything it is like."""
    if isinstance(body, list):
        return [filled(one) for one in body]
    if not isinstance(body, dict):
        return body
    body = {name: filled(value) for name, value in body.items()}
    like = body.pop("$like", None)
    return {**CASES["bodies"][like], **body} if like else body


def has_at_least(actual: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and has_at_least(actual[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(has_at_least, actual, expected))
    return bool(actual == expected)


class ScriptedServer:
    """One request a connection. What goes beyond the script is left waiting until the end."""

    def __init__(self, exchanges: list[dict[str, Any]]) -> None:
        self._script = list(exchanges)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._waiting: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.faults: list[str] = []
        #: The script is at its end.
        self.done = threading.Event()
        #: A request came beyond it.
        self.more = threading.Event()
        #: A request came that the script never answers.
        self.kept_waiting = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        # Wakes the thread from its wait for a connection.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for connection in self._waiting:
            connection.close()

    def left(self) -> list[str]:
        """What was expected and never came, and what came otherwise than expected."""
        return self.faults + [f"never came: {exchange['expect']}" for exchange in self._script]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(60)
            request = _read(connection)
            if request is None:
                connection.close()
                continue
            if not self._script:
                self._waiting.append(connection)
                self.more.set()
                continue
            exchange = self._script.pop(0)
            self.faults += _differences(exchange["expect"], request)
            if exchange["answer"] == "never":
                self._waiting.append(connection)
                self.kept_waiting.set()
            else:
                _answer(connection, exchange["answer"])
            if not self._script:
                self.done.set()


@contextmanager
def blunt_server(answer: bytes | None) -> Iterator[str]:
    """A server that answers the first bytes of each connection with these, whatever they are; with None it talks TLS.
    Gives its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE)
            with connection, suppress(OSError):
                if answer is None:
                    context.wrap_socket(connection, server_side=True).close()
                else:
                    connection.recv(64 << 10)
                    connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _read(connection: socket.socket) -> dict[str, Any] | None:
    with connection.makefile("rb") as stream:
        first = stream.readline().decode().split(" ")
        if len(first) != 3:
            return None
        headers = {}
        for line in iter(stream.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", "0")))
    return {"method": first[0], "target": first[1], "headers": headers, "body": body}


def _differences(expect: dict[str, Any], request: dict[str, Any]) -> list[str]:
    target = urlsplit(request["target"])
    found = {
        "method": request["method"],
        # Part by part, for a slash may be escaped.
        "path": [unquote(part) for part in target.path.split("/")],
        "query": dict(parse_qsl(target.query, keep_blank_values=True)),
        "headers": {name: request["headers"].get(name) for name in expect.get("headers", {})},
        "absent": [name for name in expect.get("absent", []) if name in request["headers"]],
    }
    wanted = {
        "method": expect["method"],
        "path": [unquote(part) for part in expect["path"].split("/")],
        "query": expect.get("query", {}),
        "headers": expect.get("headers", {}),
        "absent": [],
    }
    if "body" in expect:
        found["body"], wanted["body"] = json.loads(request["body"] or "null"), expect["body"]
    return [f"{name}: expected {wanted[name]}, got {found[name]}" for name in wanted if wanted[name] != found[name]]


def _answer(connection: socket.socket, answer: Any) -> None:
    with connection:
        if answer == "hang-up":
            return
        text = answer["text"] if "text" in answer else json.dumps(filled(answer["body"]))
        headers = {"content-length": str(len(text.encode())), "connection": "close", **answer.get("headers", {})}
        lines = [f"HTTP/1.1 {answer['status']} X", *(f"{name}: {value}" for name, value in headers.items()), "", text]
        connection.sendall("\r\n".join(lines).encode())


def stop_after(server: ScriptedServer, stop: Callable[[], object]) -> None:
    """Stops a worker when it asks for more work than the script has, or when it never does."""

    def watch() -> None:
        server.more.wait(PATIENCE)
        stop()

    threading.Thread(target=watch, daemon=True).start()
