"""The base of the types in ``models``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from keyword import iskeyword
from typing import Any, ClassVar, TypeVar

Decoder = Callable[[Any], Any]
Decoders = Mapping[str, Decoder]
T = TypeVar("T", bound="Model")


@dataclass(frozen=True)
class Model:
    """An object of a reply. What the service left out is None."""

    raw: Mapping[str, Any] = field(repr=False, compare=False)
    """The object as it arrived."""

    _decoders: ClassVar[Decoders] = {}

    @classmethod
    def from_dict(cls: type[T], data: Any) -> T:
        """
        Makes an object of parsed JSON, such as in a test. What is not an object is returned as it
        is, as a later version of the service may send something else.
        """
        if not isinstance(data, Mapping):
            return data  # type: ignore[no-any-return]
        given: dict[str, Any] = {"raw": data}
        for one in fields(cls):
            if one.name == "raw":
                continue
            name = _json_name(one.name)
            value = data.get(name)
            decoder = cls._decoders.get(name)
            given[one.name] = value if decoder is None or value is None else decoder(value)
        return cls(**given)

    @property
    def extra(self) -> dict[str, Any]:
        """The fields that this version of the client does not know."""
        known = {_json_name(one.name) for one in fields(self)}
        return {name: value for name, value in self.raw.items() if name not in known}

    def to_dict(self) -> dict[str, Any]:
        """The object as it arrived, with the fields that this version of the client does not know."""
        return dict(self.raw)


def _json_name(name: str) -> str:
    """Names that are keywords of Python end with an underscore."""
    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name


def items(decoder: Decoder) -> Decoder:
    """Reads each value of an array."""
    return lambda given: [decoder(one) for one in given] if isinstance(given, list) else given


def values(decoder: Decoder) -> Decoder:
    """Reads each value of an object whose names are data."""
    return lambda given: (
        {name: decoder(one) for name, one in given.items()} if isinstance(given, Mapping) else given
    )
