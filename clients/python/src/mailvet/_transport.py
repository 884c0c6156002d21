"""Sends calls with httpx, and repeats them where the service says that nothing was done."""

from __future__ import annotations

import os
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
)
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import anyio
import httpx

from ._call import (
    MAX_REPLY_BYTES,
    Call,
    Wire,
    refusal,
    retry_delay,
    timed_out,
    too_large,
    unreachable,
)
from ._error import MailvetError
from ._source import Addresses, AsyncSource, Source, read_async_source, read_source

T = TypeVar("T")
Decode = Callable[[Any], T]


def _upload_call(call: Call, read: Any, type: str | None) -> Call:
    """Addresses are sent as JSON, with the other fields; of a file, these go in the query."""
    query = call.query or {}
    if isinstance(read, Addresses):
        return replace(call, query=None, body={"emails": list(read.emails), **query})
    name = {} if read.name is None or not call.path.endswith("/lists") else {"name": read.name}
    return replace(call, query={**name, **query}, upload=read.upload(type))


class Download:
    """
    A file that the service sends. Use it with ``with`` and read it piece by piece, or call ``read``
    or ``save``. Only ``read`` limits its size.
    """

    def __init__(self, transport: Transport, call: Call) -> None:
        self._open = transport._downloading(call)
        self._response: httpx.Response | None = None

    def __enter__(self) -> Download:
        self._response = self._open.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)

    def iter_bytes(self) -> Generator[bytes, None, None]:
        """The file, piece by piece. Raises MailvetError where the connection breaks off."""
        if self._response is None:
            with self:
                yield from self.iter_bytes()
            return
        with _http_errors(None):
            yield from self._response.iter_raw()

    def read(self) -> bytes:
        """The whole file. Raises ReplyTooLargeError where it is larger than 32 MiB."""
        with closing(self.iter_bytes()) as pieces:
            return _whole(pieces, 200)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file to a path, piece by piece."""
        pieces = self.iter_bytes()
        # A refusal leaves no empty file.
        first = next(pieces, b"")
        with open(path, "wb") as file:
            file.write(first)
            for piece in pieces:
                file.write(piece)


class AsyncDownload:
    """The same, with ``async with`` and ``await``."""

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._open = transport._downloading(call)
        self._response: httpx.Response | None = None

    async def __aenter__(self) -> AsyncDownload:
        self._response = await self._open.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._open.__aexit__(kind, error, trace)

    async def iter_bytes(self) -> AsyncGenerator[bytes, None]:
        """The file, piece by piece. Raises MailvetError where the connection breaks off."""
        if self._response is None:
            async with self:
                async for piece in self.iter_bytes():
                    yield piece
            return
        with _http_errors(None):
            async for piece in self._response.aiter_raw():
                yield piece

    async def read(self) -> bytes:
        """The whole file. Raises ReplyTooLargeError where it is larger than 32 MiB."""
        async with aclosing(self.iter_bytes()) as pieces:
            return await _async_whole(pieces, 200)

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file to a path, piece by piece."""
        pieces = self.iter_bytes()
        first = b""
        async for first in pieces:
            break
        async with await anyio.open_file(path, "wb") as file:
            await file.write(first)
            async for piece in pieces:
                await file.write(piece)


@contextmanager
def _http_errors(limit: float | None) -> Iterator[None]:
    """Errors of httpx as those of the client. What a source of the caller raises passes."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise timed_out(limit) from error
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise unreachable(error) from error


class Transport:
    def __init__(self, wire: Wire, http: httpx.Client) -> None:
        self._wire = wire
        self._http = http

    def send(self, call: Call, decode: Decode[T]) -> T:
        """
        The body of a 2xx reply. The time limit is that of the call with its retries; each of
        connecting, sending and waiting for a piece of the reply has what is left of it.
        """
        call = self._wire.prepared(call)

        def once(limit: float | None, until: float) -> T:
            with self._open(call, limit, until) as response:
                return decode(self._wire.read(call, response.status_code, _body(response, limit, until)))

        return self._attempts(call, once)

    def upload(self, call: Call, source: Source, type: str | None, decode: Decode[T]) -> T:
        return self.send(_upload_call(call, read_source(source), type), decode)

    def download(self, call: Call) -> Download:
        return Download(self, call)

    def _attempts(self, call: Call, once: Callable[[float | None, float], T]) -> T:
        limit = self._wire.limit(call)
        until = float("inf") if limit is None else time.monotonic() + limit
        left = self._wire.retries(call)
        while True:
            try:
                return once(limit, until)
            except MailvetError as error:
                wait = retry_delay(error) if left > 0 else None
                if wait is None or time.monotonic() + wait >= until:
                    raise
            time.sleep(wait)
            left -= 1

    @contextmanager
    def _open(self, call: Call, limit: float | None, until: float) -> Iterator[httpx.Response]:
        request = self._http.build_request(**self._wire.request(call), timeout=_left(until))
        with _http_errors(limit):
            response = self._http.send(request, stream=True, follow_redirects=False)
        try:
            rejected = self._wire.rejected(response.status_code, response.headers, call)
            if rejected is not None:
                raise rejected
            yield response
        finally:
            response.close()

    @contextmanager
    def _downloading(self, call: Call) -> Iterator[httpx.Response]:
        """The time limit is that until the file begins, and then that of each piece."""

        def begin(limit: float | None, until: float) -> Any:
            opened = self._open(call, limit, until)
            response = opened.__enter__()
            if response.is_success:
                return opened, response
            try:
                raise refusal(response.status_code, _body(response, limit, until))
            finally:
                opened.__exit__(None, None, None)

        opened, response = self._attempts(call, begin)
        try:
            yield response
        finally:
            opened.__exit__(None, None, None)


def _left(until: float) -> float | None:
    """Seconds for httpx, which takes 0 for no time at all."""
    return None if until == float("inf") else max(until - time.monotonic(), 0.001)


def _body(response: httpx.Response, limit: float | None, until: float) -> bytes:
    def pieces() -> Iterator[bytes]:
        for piece in response.iter_raw():
            yield piece
            if time.monotonic() >= until:
                raise timed_out(limit)

    with _http_errors(limit):
        return _whole(pieces(), response.status_code)


async def _async_body(response: httpx.Response) -> bytes:
    with _http_errors(None):
        return await _async_whole(response.aiter_raw(), response.status_code)


def _whole(pieces: Iterator[bytes], status: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            raise too_large(status)
    return bytes(body)


async def _async_whole(pieces: AsyncIterator[bytes], status: int) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            raise too_large(status)
    return bytes(body)


class AsyncTransport:
    def __init__(self, wire: Wire, http: httpx.AsyncClient) -> None:
        self._wire = wire
        self._http = http

    async def send(self, call: Call, decode: Decode[T]) -> T:
        """The body of a 2xx reply. The time limit is that of the call with its retries."""
        call = self._wire.prepared(call)

        async def once() -> T:
            async with self._open(call) as response:
                body = await _async_body(response)
                return decode(self._wire.read(call, response.status_code, body))

        return await self._attempts(call, once)

    async def upload(
        self, call: Call, source: Source | AsyncSource, type: str | None, decode: Decode[T]
    ) -> T:
        return await self.send(_upload_call(call, read_async_source(source), type), decode)

    def download(self, call: Call) -> AsyncDownload:
        return AsyncDownload(self, call)

    async def _attempts(self, call: Call, once: Callable[[], Awaitable[T]]) -> T:
        limit = self._wire.limit(call)
        seconds = float("inf") if limit is None else limit
        until = anyio.current_time() + seconds
        left = self._wire.retries(call)
        with anyio.move_on_after(seconds):
            while True:
                try:
                    return await once()
                except MailvetError as error:
                    wait = retry_delay(error) if left > 0 else None
                    if wait is None or anyio.current_time() + wait >= until:
                        raise
                await anyio.sleep(wait)
                left -= 1
        raise timed_out(limit)

    @asynccontextmanager
    async def _open(self, call: Call) -> AsyncIterator[httpx.Response]:
        request = self._http.build_request(**self._wire.request(call), timeout=None)
        with _http_errors(None):
            response = await self._http.send(request, stream=True, follow_redirects=False)
        try:
            rejected = self._wire.rejected(response.status_code, response.headers, call)
            if rejected is not None:
                raise rejected
            yield response
        finally:
            await response.aclose()

    @asynccontextmanager
    async def _downloading(self, call: Call) -> AsyncIterator[httpx.Response]:
        """The time limit is that until the file begins."""

        async def begin() -> Any:
            opened = self._open(call)
            response = await opened.__aenter__()
            if response.is_success:
                return opened, response
            try:
                raise refusal(response.status_code, await _async_body(response))
            finally:
                await opened.__aexit__(None, None, None)

        opened, response = await self._attempts(call, begin)
        try:
            yield response
        finally:
            await opened.__aexit__(None, None, None)
