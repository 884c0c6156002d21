"""The base of all errors, and those of the client's own. Others are in ``errors``, a class a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class MailvetError(Exception):
    """A failed call. Its text is the message of the service, where it sent one."""

    status: int
    """HTTP status; 0 where there was no reply."""
    code: str
    """
    Stable; listed on the errors page of the service. Five are the client's own: ``unreachable`` and
    ``timeout`` (no reply, so the call may or may not have taken effect), ``redirected``,
    ``reply_too_large`` (more than 32 MiB), and ``unexpected_reply`` (the reply did not come from
    Mailvet).
    """
    message: str
    """What is wrong, in one sentence."""
    field: str | None
    """The parameter that caused the error."""
    retry_after: float | None
    """Seconds to wait before a retry."""
    request_id: str | None
    """The id of the request in the service's log."""
    details: Mapping[str, Any]
    """The whole body of the error."""

    def __init__(self, status: int, details: Mapping[str, Any]) -> None:
        message = _text(details.get("error")) or f"Status {status} without an error message."
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = _text(details.get("code")) or "unexpected_reply"
        self.field = _text(details.get("field"))
        wait = details.get("retry_after")
        is_time = isinstance(wait, (int, float)) and not isinstance(wait, bool) and wait >= 0
        self.retry_after = wait if is_time else None
        self.request_id = _text(details.get("request_id"))
        self.details = details

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, dict(self.details))


class UnreachableError(MailvetError):
    """No connection, or it broke off. The call may or may not have taken effect."""


class TimedOutError(MailvetError):
    """No complete reply within the time limit. The call may or may not have taken effect."""


class RedirectedError(MailvetError):
    """The reply was a redirect, which is not followed, as it could take the key elsewhere."""


class ReplyTooLargeError(MailvetError):
    """The reply was larger than 32 MiB, and was not read to its end."""


class UnexpectedReplyError(MailvetError):
    """The reply did not come from Mailvet, but from a proxy, for example."""


class WebhookVerificationError(Exception):
    """A request that did not come from Mailvet, or that came too late. Reply with 400."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
