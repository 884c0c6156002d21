"""
For Pydantic 2 and 1: a function that validates an address.

    >>> from typing import Annotated
    >>> from pydantic import AfterValidator, BaseModel
    >>> class Signup(BaseModel):
    ...     email: Annotated[str, AfterValidator(verified_email(guard))]

With Pydantic 1: ``_email = validator("email", allow_reuse=True)(verified_email(guard))``.
"""

from __future__ import annotations

from collections.abc import Callable

from .guard import Guard, Outcome

try:
    from pydantic_core import PydanticCustomError
except ImportError:  # Pydantic 1.
    from pydantic.errors import PydanticValueError

    def _error(outcome: Outcome) -> ValueError:
        # It is formatted, which a brace in an address would break.
        template = (outcome.message or "").replace("{", "{{").replace("}", "}}")
        # The type of an error is an attribute of its class.
        kind = type(
            "VerifiedEmailError",
            (PydanticValueError,),
            {"code": outcome.code, "msg_template": template},
        )
        return kind(suggestion=outcome.suggestion)  # type: ignore[no-any-return]

else:

    def _error(outcome: Outcome) -> ValueError:
        context = {"said": outcome.message or "", "suggestion": outcome.suggestion}
        return PydanticCustomError(outcome.code, "{said}", context)  # type: ignore[no-any-return]


def verified_email(guard: Guard) -> Callable[[str], str]:
    """
    A function from an address to the one to store. An address that the guard rejects is an error
    whose type is the guard's code, with its message and, in its context, its ``suggestion``.
    """

    def validate(email: str) -> str:
        outcome = guard(email)
        if outcome.email is None:
            raise _error(outcome)
        return outcome.email

    return validate
