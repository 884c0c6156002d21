"""For Flask-WTF, and for WTForms without Flask: a validator of a field."""

from __future__ import annotations

from typing import Any

from wtforms.validators import StopValidation

from .guard import Guard

try:
    from flask import has_request_context, request
except ImportError:  # WTForms alone.
    request = None  # type: ignore[assignment]


class VerifiedEmail:
    """
    Rejects what the guard rejects, with its message, and puts the address to store in the place of
    what was typed. The address and the languages of the user come from Flask's request; behind a
    proxy, ``ProxyFix`` finds them out. A true field ``<name>_confirmed`` of the form confirms an
    address whose suggestion the user has seen.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def __call__(self, form: Any, field: Any) -> None:
        confirmed = getattr(form, f"{field.name}_confirmed", None)
        client_ip = language = None
        if request is not None and has_request_context():
            client_ip = request.remote_addr
            language = request.headers.get("Accept-Language")
        outcome = self._guard(
            field.data,
            client_ip=client_ip,
            language=language,
            confirmed=bool(getattr(confirmed, "data", False)),
        )
        if not outcome.ok:
            raise StopValidation(outcome.message)
        field.data = outcome.email
