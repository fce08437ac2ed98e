"""A real SMTP server for one test: prints its port, then each mail it takes as a line of JSON.

Recipients decide what becomes of them: `gone@..` is refused with 550, `busy@..` with 451 the first two times.
"""

import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

seen: dict[str, int] = {}


def say(value: object) -> None:
    print(json.dumps(value), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        seen[address] = seen.get(address, 0) + 1
        if address.startswith("gone@"):
            return "550 5.1.1 no such mailbox"
        if address.startswith("busy@") and seen[address] <= 2:
            return "451 4.3.0 come again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        user = session.auth_data.login.decode() if session.auth_data else None
        parsed = email.message_from_bytes(envelope.content, policy=email.policy.default)
        say({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "user": user,
            "tls": session.ssl is not None,
            "text": envelope.content.decode(),
            "subject": parsed["subject"],
            "body": parsed.get_content(),
        })
        return "250 2.0.0 taken as 42"


def authenticate(server, session, envelope, mechanism, data):
    good = data.login == b"milepost" and data.password == b"hunter2"
    return AuthResult(success=good, handled=good, auth_data=data)


async def main() -> None:
    loop = asyncio.get_running_loop()
    options = {"hostname": "mail.example"}
    if "auth" in sys.argv:
        options |= {"authenticator": authenticate, "auth_required": True, "auth_require_tls": False}
    if "tls" in sys.argv:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        folder = sys.argv[-1]
        context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
        options |= {"tls_context": context, "require_starttls": True}
    listening = await loop.create_server(lambda: SMTP(Handler(), **options), "127.0.0.1", 0)
    say(listening.sockets[0].getsockname()[1])
    await listening.serve_forever()


asyncio.run(main())
