"""One WebSocket of a joined worker to its gateway: dialling, the first message and its answer, and the frames after them.

`GatewayLine` dials; a `LinkedSocket` uses what it gets. Turns what can go wrong into a `Broken`, with a sentence if a person can fix it.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from duologue.errors import StartFailed, Unauthorized
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import (
    FOR_GOOD,
    GOING,
    Gateways,
    Opening,
    Refuse,
    Welcome,
    decode_gateways,
    decode_reply,
    encode_opening,
)
from duologue.worker.joined import certificate_pin
from duologue.worker.joined.dial_rules import Broken
from duologue.worker.joined.gateway_address import GatewayAddress, is_loopback

OPEN_SECONDS = 10.0
"""Seconds for the connection and the answer to the first message."""
PING_SECONDS = 5.0
"""Seconds between two pings: a silent connection is dialled again, which loses nothing."""
PONG_SECONDS = {"live": 10.0, "bulk": 60.0}
"""Seconds for the answer, which on a slow connection comes after what is being uploaded."""


class LineBroken(Exception):
    """The connection could not be made, or broke before it was used."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(broken.reason)
        self.broken = broken


class ClientSocket:
    """The frames of an open connection. `on_gateways` gets the text frames between them."""

    def __init__(self, connection: ClientConnection, on_gateways: Callable[[Gateways], None]) -> None:
        self._connection, self._on_gateways = connection, on_gateways

    async def receive(self) -> bytes:
        try:
            while isinstance(frame := await self._connection.recv(), str):
                self._on_gateways(decode_gateways(frame))
        except (ConnectionClosed, msgspec.ValidationError) as error:
            raise EOFError from error
        return frame

    async def send(self, frame: bytes) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as error:
            raise EOFError from error

    async def say_goodbye(self, *, for_good: bool = False) -> None:
        """Close it: the session is over, and there is no other one if it is `for_good`. Returns once the gateway has read everything before,
        or does not answer."""
        await self._connection.close(GOING, FOR_GOOD if for_good else "")


@asynccontextmanager
async def dialled(
    address: GatewayAddress,
    name: str,
    key: str,
    trust: ssl.SSLContext | None,
    opening: Opening,
    on_gateways: Callable[[Gateways], None] = lambda changed: None,
) -> AsyncIterator[tuple[ClientSocket, Welcome | Refuse]]:
    """The socket `name` of a gateway, and its answer to the opening message. Raises LineBroken."""
    try:
        with anyio.fail_after(OPEN_SECONDS):
            connection = await connect(
                address.socket(name),
                additional_headers={"Authorization": f"Bearer {key}"},
                ssl=trust if address.is_encrypted else None,
                compression=None,
                max_size=worker_protocol.MAX_MESSAGE,
                open_timeout=OPEN_SECONDS,
                ping_interval=PING_SECONDS,
                ping_timeout=PONG_SECONDS[name],
                # The environment's proxies are for other machines.
                proxy=None if is_loopback(address.host) else True,
                close_timeout=2,
            )
    except (OSError, WebSocketException, TimeoutError, ValueError) as error:
        raise LineBroken(broken_by(address, error)) from error
    try:
        try:
            with anyio.fail_after(OPEN_SECONDS):
                await connection.send(encode_opening(opening))
                answer = decode_reply(await connection.recv())
        except (ConnectionClosed, msgspec.ValidationError, TimeoutError) as error:
            raise LineBroken(broken_by(address, error)) from error
        yield ClientSocket(connection, on_gateways), answer
    finally:
        with anyio.CancelScope(shield=True):
            await connection.close()


def broken_by(address: GatewayAddress, error: Exception) -> Broken:
    """What an error means for the worker that dials."""
    match error:
        case InvalidStatus():
            return _refused(address, error.response.status_code, _error_of(bytes(error.response.body or b"")))
        case ssl.SSLCertVerificationError():
            return Broken(
                f"its certificate was not accepted: {error.verify_message}",
                StartFailed(f"The certificate of {address} is not accepted: {_advice(error)}"),
            )
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return Broken(
                "it does not speak HTTPS",
                StartFailed(
                    f"The server at {address} does not speak HTTPS. Start it with --tls, or check the address and its port."
                ),
            )
        case TimeoutError():
            return Broken("it does not answer")
        case _:
            return Broken(str(error) or type(error).__name__)


def _advice(error: ssl.SSLCertVerificationError) -> str:
    """What is wrong with a certificate, and what helps."""
    match error.verify_code:
        case certificate_pin.NOT_YET_VALID:
            return "it is not valid yet. Set the clock of this machine, or that of the gateway's, which dates the certificates it makes."
        case certificate_pin.EXPIRED:
            return "it has expired. Renew it on the gateway's machine, or set the clock of this one if it is wrong."
        case certificate_pin.OTHER_HOST | certificate_pin.OTHER_ADDRESS:
            return (
                f"it is for another name ({error.verify_message.rstrip('.')}). Join by a name that is in it, or pass its fingerprint with --fingerprint: "
                "then its name does not matter."
            )
        case _:
            return f"{error.verify_message}. Pass the fingerprint of the gateway's certificate or its authority with --fingerprint."


def _refused(address: GatewayAddress, status: int, error: _ErrorText) -> Broken:
    """What a status instead of a WebSocket means; `error`: what the gateway says of it."""
    said = error.message
    if error.code == "https_needed":
        secure = str(address).replace("http://", "https://", 1)
        return Broken(
            "it speaks HTTPS only", StartFailed(f"The server at {address} speaks HTTPS only: --join {secure}")
        )
    if status in (401, 403):
        # The gateway's own sentence about an unknown key is meant for programs and for the page.
        sentence = (said if status == 403 else "") or (
            "The gateway does not know the key, or it was revoked. Make one there with `duologue key add NAME --role worker`, and pass it with --key-file."
        )
        return Broken(
            "it refused the key",
            Unauthorized(f"The gateway {address} does not let this worker in: {sentence}"),
        )
    if status == 404:
        return Broken(
            "it does not let workers join",
            StartFailed(
                f"The server at {address} does not let workers join. Start it with `machines.join: true` in its settings "
                "(DUOLOGUE_MACHINES__JOIN=true), and check the address, with the path that it is served under."
            ),
        )
    return Broken(f"it answered {status}{': ' if said else ''}{said}")


def _error_of(body: bytes) -> _ErrorText:
    """The error in a JSON body; an empty one if there is none."""
    try:
        return msgspec.json.decode(body, type=_ErrorBody).error
    except msgspec.MsgspecError:
        return _ErrorText("")


class _ErrorText(msgspec.Struct):
    message: str
    code: str = ""


class _ErrorBody(msgspec.Struct):
    error: _ErrorText
