"""
For Django: a form field, and a validator for fields of forms and models.

Settings: ``MAILVET_URL``, ``MAILVET_KEY``, and ``MAILVET_GUARD``, a dictionary of options of
``mailvet.Guard`` for all fields.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.deconstruct import deconstructible

from .guard import Guard, Outcome


@lru_cache(maxsize=None)
def _guard(options: tuple[tuple[str, Any], ...]) -> Guard:
    """One for all fields with these options, so that connections and suggestions are shared."""
    shared = getattr(settings, "MAILVET_GUARD", {})
    url, key = getattr(settings, "MAILVET_URL", None), getattr(settings, "MAILVET_KEY", None)
    return Guard(url, key, **{**shared, **dict(options)})


def _check(value: object, options: tuple[tuple[str, Any], ...]) -> Outcome:
    outcome = _guard(options)(value)
    if outcome.ok:
        return outcome
    # Not through the formatting of messages, which a percent sign in an address would break.
    error = ValidationError(outcome.message or "", code=outcome.code)
    error.suggestion = outcome.suggestion
    raise error


@deconstructible(path="mailvet.django.VerifiedEmail")
class VerifiedEmail:
    """
    A validator for ``validators`` of a field of a form or model; its options are those of
    ``mailvet.Guard`` that are texts. A validator cannot change the value: ``VerifiedEmailField``
    does. Django calls the validators of a model field in ``full_clean``, not in ``save``.
    """

    def __init__(self, **options: str) -> None:
        self.options = tuple(sorted(options.items()))

    def __call__(self, value: object) -> None:
        _check(value, self.options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifiedEmail) and self.options == other.options

    def __hash__(self) -> int:
        return hash(self.options)


class VerifiedEmailField(forms.EmailField):
    """
    A form field whose value is the address to store. An address that the guard rejects is an error
    with the guard's code and, as ``suggestion``, the address that the user may have meant.
    """

    def __init__(self, *, guard: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._options = tuple(sorted((guard or {}).items()))

    def clean(self, value: Any) -> Any:
        email = super().clean(value)
        return email if email in self.empty_values else _check(email, self._options).email
