"""One request, and how it is written and read, without any input or output."""

from __future__ import annotations

import enum
import json
import re
import secrets
from collections.abc import AsyncIterable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, Protocol
from urllib.parse import quote, urljoin, urlsplit

from . import errors
from ._error import (
    MailvetError,
    RedirectedError,
    ReplyTooLargeError,
    TimedOutError,
    UnexpectedReplyError,
    UnreachableError,
)

TIMEOUT = 35.0
# Of a reply that is read as a whole. The clients in all languages have the same limit.
MAX_REPLY_BYTES = 32 * 1024 * 1024
URL_EXAMPLE = "such as https://verify.example.net"

try:
    _VERSION = version("mailvet")
except PackageNotFoundError:  # Used from its sources.
    _VERSION = "0"


class NotGiven(enum.Enum):
    """Tells an argument that was left out from one that is None."""

    NOT_GIVEN = "NOT_GIVEN"


NOT_GIVEN: Literal[NotGiven.NOT_GIVEN] = NotGiven.NOT_GIVEN


class HasId(Protocol):
    """A list, webhook or verification."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True)
class Upload:
    """A body that is sent as it is. An iterable is sent once, so such a call is not retried."""

    type: str
    content: bytes | Iterable[bytes] | AsyncIterable[bytes]


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    timeout: float | None = None
    """Seconds. By default the client's, or none for an upload."""
    reply_field: str | None = None
    """A field that every reply has: what lacks it did not come from Mailvet."""
    upload: Upload | None = None


def given(fields: Mapping[str, Any], nullable: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields that were given; those of ``nullable`` also where they are None."""
    said = {name: value for name, value in fields.items() if value is not None}
    return said | {k: v for k, v in (nullable or {}).items() if v is not NOT_GIVEN}


def flag(value: bool | None) -> int | None:
    """As a URL has it."""
    return None if value is None else int(value)


def path_of(ref: str | HasId) -> str:
    """An id as a part of a path."""
    return quote(ref if isinstance(ref, str) else ref.id, safe="")


def message_upload(message: bytes | str) -> Upload:
    return Upload("message/rfc822", message.encode() if isinstance(message, str) else message)


class Wire:
    """What requests of one client have in common. Raises ValueError for options of no use."""

    def __init__(
        self, url: str | None, key: str | None, timeout: float | None, retries: int
    ) -> None:
        self._base = _service_address(url)
        if key is None:
            raise ValueError("key is missing: set it to an API key, mv_live_… or mv_test_….")
        # The error of the HTTP library for a header that is not valid would contain the key.
        if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("key must be an API key: mv_live_… or mv_test_… without spaces.")
        check_timeout(timeout)
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ValueError("retries must be a whole number from 0.")
        self._key = key
        self._timeout = timeout
        self._retries = retries

    def prepared(self, call: Call) -> Call:
        """
        A call that may be repeated has an idempotency key, so that it takes effect once, whatever
        a proxy makes of it.
        """
        is_repeated = self._retries > 0 and call.method == "POST" and call.upload is None
        if not is_repeated or call.idempotency_key is not None:
            return call
        return replace(call, idempotency_key=secrets.token_hex(16))

    def retries(self, call: Call) -> int:
        return 0 if call.upload is not None else self._retries

    def limit(self, call: Call) -> float | None:
        """Seconds for the whole call."""
        if call.timeout is not None:
            check_timeout(call.timeout)
            return call.timeout
        return self._timeout if call.upload is None else None

    def request(self, call: Call) -> dict[str, Any]:
        """Arguments of ``build_request``."""
        headers = {
            "authorization": f"Bearer {self._key}",
            "user-agent": f"mailvet-python/{_VERSION}",
            # The service compresses no replies, and a small one cannot become a large one.
            "accept-encoding": "identity",
        }
        if call.idempotency_key is not None:
            # The HTTP library would say that the service cannot be reached.
            if not re.fullmatch(r"[\x20-\x7e]{1,255}", call.idempotency_key):
                raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters.")
            headers["idempotency-key"] = call.idempotency_key
        content: Any = None
        if call.upload is not None:
            if not re.fullmatch(r"[\x20-\x7e]+", call.upload.type):
                raise ValueError("type must be a media type, such as text/csv.")
            headers["content-type"] = call.upload.type
            content = call.upload.content
        elif call.body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode()
        params = {name: _text_of(value) for name, value in (call.query or {}).items()}
        return {
            "method": call.method,
            "url": self._base + call.path,
            "headers": headers,
            "params": params,
            "content": content,
        }

    def rejected(
        self, status: int, headers: Mapping[str, str], call: Call
    ) -> MailvetError | None:
        """The error of a reply whose body is not read."""
        if not 300 <= status < 400 or status == 304:
            is_plain = headers.get("content-encoding", "identity") == "identity"
            return None if is_plain else foreign(status)
        location = headers.get("location")
        target = urlsplit(urljoin(self._base + call.path, location)) if location else None
        to = f" to {target.scheme}://{target.netloc}" if target is not None else ""
        text = f"The service answered with a redirect{to}, which is not followed. "
        text += "Set url to the final address."
        return RedirectedError(status, {"error": text, "code": "redirected"})

    @staticmethod
    def read(call: Call, status: int, body: bytes) -> Any:
        """The parsed body of a reply. Raises MailvetError where it is a refusal, or not ours."""
        parsed = _object_of(body)
        is_ours = parsed is not None and (
            call.reply_field is None or (isinstance(parsed, dict) and call.reply_field in parsed)
        )
        if 200 <= status < 300 and is_ours:
            return parsed
        raise refusal(status, body)


def refusal(status: int, body: bytes) -> MailvetError:
    """The error of a reply, of the class of its code."""
    parsed = _object_of(body)
    if not isinstance(parsed, dict) or 200 <= status < 300:
        return foreign(status)
    code = parsed.get("code")
    if not isinstance(code, str):
        return UnexpectedReplyError(status, parsed)
    return errors.BY_CODE.get(code, MailvetError)(status, parsed)


def foreign(status: int) -> MailvetError:
    text = f"The reply (status {status}) did not come from Mailvet. Check the url."
    return UnexpectedReplyError(status, {"error": text})


def too_large(status: int) -> MailvetError:
    text = f"The reply (status {status}) is larger than 32 MiB, and was not read to its end."
    return ReplyTooLargeError(status, {"error": text, "code": "reply_too_large"})


def retry_delay(error: MailvetError) -> float | None:
    """
    Seconds to wait before a retry; None where the call must not be retried. Only errors of the
    service itself promise that nothing was done; those of a proxy in front of it do not.
    """
    if error.request_id is None or error.retry_after is None:
        return None
    return error.retry_after if error.status in (429, 503) else None


def timed_out(limit: float | None) -> MailvetError:
    text = "The service did not answer in time."
    if limit is not None:
        text = f"The service did not answer within {limit:g} seconds."
    return TimedOutError(0, {"error": text, "code": "timeout"})


def unreachable(error: Exception) -> MailvetError:
    why = f" ({error})" if str(error) else ""
    text = f"The service could not be reached{why}. Check the url, and that the service runs."
    return UnreachableError(0, {"error": text, "code": "unreachable"})


def check_timeout(timeout: object) -> None:
    if timeout is None:
        return
    is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if not is_number or not timeout > 0:  # type: ignore[operator]
        raise ValueError("timeout must be a number of seconds above 0.")


def _service_address(url: str | None) -> str:
    """Without a slash at its end; also for a URL of the API itself, which ends in ``/v1``."""
    if url is None:
        raise ValueError(
            f"url is missing: set it to the address of the service, {URL_EXAMPLE}."
        )
    address = re.sub(r"(/v1)?/*\Z", "", url) if isinstance(url, str) else ""
    try:
        parts = urlsplit(address)
        is_address = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise ValueError(f"url must be the address of the service, {URL_EXAMPLE}.")
    return address


def _text_of(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _object_of(body: bytes) -> Any:
    """Parsed JSON, if it is an object or array."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):  # Not JSON, not UTF-8, or nested too deeply.
        return None
    return parsed if isinstance(parsed, (dict, list)) else None
