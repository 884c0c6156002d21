"""Checks the requests of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ._error import WebhookVerificationError
from .models import WEBHOOK_EVENTS, WebhookEvent

# Standard Webhooks recommends five minutes.
TOLERANCE = 300.0
_SECRET_PREFIX = "whsec_"
# The version of the signature with a shared secret.
_SCHEME = "v1,"


def verify_webhook(
    payload: bytes | str,
    headers: Mapping[str, Any],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE,
) -> WebhookEvent | Any:
    """
    Returns the event of a webhook that is genuine.

    Args:
        payload: The body as it arrived, not parsed and written again.
        headers: Of the request, their names in any case, as every framework has them.
        secret: That of the webhook, ``whsec_…``; several while it is rotated.
        tolerance: By how many seconds the time of the request may differ from the clock.

    An event of a type of a later version is returned as a dictionary. Raises
    WebhookVerificationError where no signature fits or the time is off, ValueError for a secret
    that is none, and TypeError for a payload that is neither text nor bytes.
    """
    body = _bytes_of(payload)
    message_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature").split(" ")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("webhook-timestamp is not a Unix time.")
    signed = f"{message_id}.{timestamp}.".encode() + body
    keys = [_key_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    given = [_bytes_in(one[len(_SCHEME) :]) for one in signatures if one.startswith(_SCHEME)]
    fits = False
    for key in keys:
        expected = hmac.new(key, signed, hashlib.sha256).digest()
        for one in given:
            fits |= one is not None and hmac.compare_digest(expected, one)
    if not fits:
        raise WebhookVerificationError("No signature fits the secret.")
    # After the signature, so that the answer tells nothing to others.
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("webhook-timestamp is too old or too new. Check the clock.")
    event = json.loads(body)
    kind = event.get("type") if isinstance(event, dict) else None
    known = WEBHOOK_EVENTS.get(kind) if isinstance(kind, str) else None
    return event if known is None else known.from_dict(event)


def _bytes_of(payload: object) -> bytes:
    if isinstance(payload, str):
        return payload.encode()
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload)
    raise TypeError("payload must be the body as it arrived, text or bytes: not parsed JSON.")


def _header(headers: Mapping[str, Any], name: str) -> str:
    """Also of WSGI, which has ``HTTP_WEBHOOK_ID``."""
    wanted = (name, "http-" + name)
    for given, value in headers.items():
        if str(given).lower().replace("_", "-") in wanted:
            text = value if isinstance(value, str) else " ".join(value)
            if text:
                return text
    raise WebhookVerificationError(f"The header {name} is missing.")


def _key_of(secret: object) -> bytes:
    is_secret = isinstance(secret, str) and secret.startswith(_SECRET_PREFIX)
    key = _bytes_in(str(secret)[len(_SECRET_PREFIX) :]) if is_secret else None
    # Without the secret in the message.
    if not key:
        raise ValueError("secret must be the secret of a webhook: whsec_….")
    return key


def _bytes_in(text: str) -> bytes | None:
    """Of base64; None where it is not."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
