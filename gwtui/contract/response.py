"""Tolerant reading of responses: an invalid field becomes None, and the others stay.

An invalid entry of a list or map is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

MISSING = "missing"
_NO_GAPS: Mapping[str, str] = {}
"""Shared by all responses without gaps, to save memory; must not be changed."""


def wire(
    description: str,
    *,
    unit: str = "",
    nullable: bool = False,
    optional: bool = False,
    known: tuple[str, ...] = (),
) -> Any:
    """Declare a response field.

    Every response field is None in Python when the response lacks it. The contract's rules are kept
    with the field: ``nullable`` (may be null), ``optional`` (may be absent without being a gap),
    ``unit`` (USD, ms, tokens/s, %) and the ``known`` values of an open enumeration.
    """
    extra: dict[str, Any] = {"x-unit": unit, "x-nullable": nullable, "x-optional": optional}
    if known:
        extra["x-known-values"] = list(known)
    return Field(default=None, description=description, json_schema_extra=extra)


class ResponseModel(BaseModel):
    """Base of all responses of the gateway.

    The received object is stored as a tuple of values. Responses with the same fields share one
    tuple of field names, which saves memory in lists of 100,000 rows.
    """

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
        defer_build=True,
    )

    _raw_names: tuple[str, ...] = PrivateAttr(default=())
    _raw_values: tuple[Any, ...] = PrivateAttr(default=())
    _gaps: Mapping[str, str] = PrivateAttr(default_factory=lambda: _NO_GAPS)
    _expected: ClassVar[dict[type[ResponseModel], tuple[tuple[str, bool], ...]]] = {}
    _names: ClassVar[dict[tuple[type[ResponseModel], int], set[str]]] = {}
    _shapes: ClassVar[dict[tuple[type[ResponseModel], int], tuple[str, ...]]] = {}

    @property
    def raw(self) -> Mapping[str, Any]:
        """A copy of the object as the gateway sent it, unknown fields included."""
        held = self._held
        return dict(zip(held["_raw_names"], held["_raw_values"], strict=True))

    def sent_null(self, name: str) -> bool:
        """Whether the gateway sent null for a field, as opposed to leaving it out."""
        held = self._held
        names = held["_raw_names"]
        return name in names and held["_raw_values"][names.index(name)] is None

    @property
    def gaps(self) -> Mapping[str, str]:
        """Field path -> problem, for fields that are missing, of a wrong type, or null by mistake.

        Empty if the response follows the contract.
        """
        gaps: Mapping[str, str] = self._held["_gaps"]
        return gaps

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Fields of the response that the model does not declare, in their order."""
        names = self._held["_raw_names"]
        return tuple(name for name in names if name not in type(self).model_fields)

    @property
    def _held(self) -> Any:
        # One read of the dict: reading each private attribute takes ten times as long.
        return self.__pydantic_private__

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, data: Any, handler: Callable[[Any], Self]) -> Self:
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise ValueError("expected an object")  # noqa: TRY004 - pydantic wants ValueError
        gaps: dict[str, str] = {}
        readable = dict(data)
        while True:
            try:
                model = handler(readable)
                break
            except ValidationError as error:
                readable = _without_unreadable(readable, error, gaps)
        for name, nullable in cls._promised():
            if name not in data:
                gaps.setdefault(name, MISSING)
            elif data[name] is None and not nullable:
                gaps.setdefault(name, "null, which the contract does not allow")
        model._hold(data)
        if gaps:
            model._gaps = gaps
        cls._share_field_names(model)
        return model

    def _hold(self, data: Mapping[str, Any]) -> None:
        names = tuple(data)
        shared = ResponseModel._shapes.setdefault((type(self), len(names)), names)
        held = self._held
        held["_raw_names"] = shared if shared == names else names
        held["_raw_values"] = tuple(data.values())

    @classmethod
    def _share_field_names(cls, model: Self) -> None:
        # A set for each response would be as large as the rest of it. Sharing is safe because
        # response models are frozen.
        names = model.__pydantic_fields_set__
        shared = ResponseModel._names.setdefault((cls, len(names)), names)
        if shared == names:
            object.__setattr__(model, "__pydantic_fields_set__", shared)

    @classmethod
    def _promised(cls) -> tuple[tuple[str, bool], ...]:
        promised = ResponseModel._expected.get(cls)
        if promised is None:
            promised = tuple(
                (name, bool(extra.get("x-nullable")))
                for name, field in cls.model_fields.items()
                if isinstance(extra := field.json_schema_extra, dict)
                and not extra.get("x-optional")
            )
            ResponseModel._expected[cls] = promised
        return promised


def _without_unreadable(
    data: dict[str, Any], error: ValidationError, gaps: dict[str, str]
) -> dict[str, Any]:
    kept = dict(data)
    doomed: dict[str, set[int | str]] = {}
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        name, *rest = problem["loc"]
        name = str(name)
        if rest and _is_entry(rest[0], kept.get(name)):
            doomed.setdefault(name, set()).add(rest[0])
            gaps[f"{name}[{rest[0]}]"] = _reason(problem["msg"])
        else:
            kept.pop(name, None)
            doomed.pop(name, None)
            gaps[name] = _reason(problem["msg"])
    for name, entries in doomed.items():
        if name in kept:
            kept[name] = _without(kept[name], entries)
    return kept


def _is_entry(key: int | str, whole: Any) -> bool:
    if isinstance(whole, list):
        return isinstance(key, int) and 0 <= key < len(whole)
    return isinstance(whole, Mapping) and key in whole


def _without(whole: Any, entries: set[int | str]) -> Any:
    if isinstance(whole, list):
        return [item for index, item in enumerate(whole) if index not in entries]
    return {name: item for name, item in whole.items() if name not in entries}


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ")
