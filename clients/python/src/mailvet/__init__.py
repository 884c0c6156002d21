"""
The client of Mailvet: verification of addresses, lists, webhooks, and a guard for sign-up forms.

    >>> import mailvet
    >>> client = mailvet.Client("https://verify.example.net", "mv_live_…")
    >>> client.verify("someone@mailinator.com").reason
    'disposable_domain'

``models`` has the types of replies, ``errors`` a class for each error code.
"""

from __future__ import annotations

from . import errors, models
from ._call import NOT_GIVEN
from ._error import (
    MailvetError,
    RedirectedError,
    ReplyTooLargeError,
    TimedOutError,
    UnexpectedReplyError,
    UnreachableError,
    WebhookVerificationError,
)
from ._source import Source
from ._transport import AsyncDownload, Download
from .client import AsyncClient, Client
from .guard import AsyncGuard, Guard, Outcome
from .webhooks import verify_webhook

__all__ = [
    "NOT_GIVEN",
    "AsyncClient",
    "AsyncDownload",
    "AsyncGuard",
    "Client",
    "Download",
    "Guard",
    "MailvetError",
    "Outcome",
    "RedirectedError",
    "ReplyTooLargeError",
    "Source",
    "TimedOutError",
    "UnexpectedReplyError",
    "UnreachableError",
    "WebhookVerificationError",
    "errors",
    "models",
    "verify_webhook",
]
