"""What a list, or a file of filters, can be made of."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, Protocol, Union

import anyio

from ._call import Upload

CSV = "text/csv"
# Bytes that are read of a file at a time.
PIECE = 1 << 16


class PandasLike(Protocol):
    """A table that writes itself as CSV, as those of pandas do."""

    def to_csv(self, *, index: bool) -> str: ...


class PolarsLike(Protocol):
    """A table that writes itself as CSV, as those of Polars do."""

    def write_csv(self) -> str: ...


Row = Union[Mapping[str, Any], Sequence[Any]]
Source = Union[
    "str | os.PathLike[str] | bytes | IO[bytes] | IO[str]",
    PandasLike,
    PolarsLike,
    Iterable[str],
    Iterable[bytes],
    Iterable[Row],
]
"""
A path, the bytes of a file, an open file, a table, or an iterable: of addresses, of rows
(mappings, or sequences of cells) or of pieces of a file.
"""
AsyncSource = AsyncIterable[bytes]


@dataclass(frozen=True)
class Addresses:
    """Sent as JSON."""

    emails: Sequence[str]


@dataclass(frozen=True)
class File:
    """Sent as it is read."""

    content: bytes | Iterable[bytes] | AsyncIterable[bytes]
    name: str | None = None
    type: str = CSV

    def upload(self, type: str | None) -> Upload:
        return Upload(type or self.type, self.content)


def read_source(source: object) -> Addresses | File:
    """
    Raises TypeError for what is none. A path is opened when its file is read, so OSError comes
    from the call.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return File(_pieces_of(path), os.path.basename(path))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return File(bytes(source))
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return File(_read(source), os.path.basename(name) if isinstance(name, str) else None)
    if hasattr(source, "to_csv"):
        return File(source.to_csv(index=False).encode())
    if hasattr(source, "write_csv"):
        return File(source.write_csv().encode())
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return _read_items(source)
    raise TypeError(
        "The source must be a path, bytes, a file, a table, or an iterable of addresses, rows or bytes."
    )


def read_async_source(source: object) -> Addresses | File:
    """The same for what is read without blocking others."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return File(_async_pieces_of(path), os.path.basename(path))
    if isinstance(source, AsyncIterable):
        return File(source)
    found = read_source(source)
    if isinstance(found, Addresses) or isinstance(found.content, (bytes, AsyncIterable)):
        return found
    return File(_as_async(found.content), found.name, found.type)


def _read_items(source: Iterable[object]) -> Addresses | File:
    """What the first item is decides."""
    rest = iter(source)
    first = next(rest, None)
    if first is None:
        return Addresses([])
    items: Iterable[Any] = chain([first], rest)
    if isinstance(first, str):
        return Addresses(list(items))
    if isinstance(first, (bytes, bytearray, memoryview)):
        return File(bytes(piece) for piece in items)
    if isinstance(first, Mapping):
        names = list(first)
        return File(_csv(chain([names], ([row.get(name) for name in names] for row in items))))
    if isinstance(first, Sequence):
        return File(_csv(items))
    raise TypeError("The items of the source must be addresses, rows or bytes.")


def _csv(rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow(row)
        if text.tell() >= PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _pieces_of(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from _read(file)


def _read(file: Any) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece.encode() if isinstance(piece, str) else piece


async def _async_pieces_of(path: str) -> AsyncIterator[bytes]:
    async with await anyio.open_file(path, "rb") as file:
        while piece := await file.read(PIECE):
            yield piece


async def _as_async(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
