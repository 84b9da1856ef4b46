"""Strict requests: every request that the program sends is checked against the contract.

Limits are defined only in the request models. ``field_rules`` returns them for forms, and
``problems`` turns validation errors into messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import MaxLen, MinLen
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    JsonValue,
    PlainSerializer,
    SecretStr,
    SerializationInfo,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

MASK = "••••••••"
"""Replaces a secret everywhere except in the request that sends it."""

_IN_CLEAR = "secrets in clear"


class RequestModel(BaseModel):
    """Base of every request body. Types are strict, unknown fields are refused."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True
    )

    def body(self) -> dict[str, JsonValue]:
        """The JSON body with masked secrets, for plans, the audit log and screens.

        Contains only the fields that were set; null clears a field.
        """
        body: dict[str, JsonValue] = self.model_dump(mode="json", exclude_unset=True)
        return body

    def wire_body(self) -> dict[str, JsonValue]:
        """The JSON body to send, with secrets in clear text."""
        body: dict[str, JsonValue] = self.model_dump(
            mode="json", exclude_unset=True, context={_IN_CLEAR: True}
        )
        return body

    def secrets(self) -> list[SecretStr]:
        """The secrets in ``wire_body``, for masking them in responses."""
        given = [getattr(self, name) for name in self.model_fields_set]
        secrets = [value for value in given if isinstance(value, SecretStr)]
        for part in given:
            if isinstance(part, RequestModel):
                secrets += part.secrets()
        return secrets


def _secret_text(value: SecretStr, info: SerializationInfo) -> str:
    in_clear = bool(info.context and info.context.get(_IN_CLEAR))
    return value.get_secret_value() if in_clear else MASK


def _sendable(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    if not secret:
        raise PydanticCustomError("secret_empty", "must not be empty")
    if any("\ud800" <= character <= "\udfff" for character in secret):
        raise PydanticCustomError("secret_text", "must be valid Unicode text")
    return value


SecretText = Annotated[
    SecretStr,
    AfterValidator(_sendable),
    PlainSerializer(_secret_text, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "minLength": 1, "writeOnly": True}),
]
"""A secret in a request, masked everywhere except in ``wire_body``."""


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The rules of one field of a request model, for forms and help.

    ``choices`` are the allowed values, empty if any value is allowed.
    """

    name: str
    description: str
    required: bool
    nullable: bool
    min_length: int | None
    max_length: int | None
    choices: tuple[str, ...]
    unit: str
    type: Any
    """The type of a value that is not null."""
    deprecated: bool
    """Whether the API still accepts the field, but gwtui no longer sends it."""

    @property
    def is_object(self) -> bool:
        """Whether the value is an object with its own fields."""
        return isinstance(self.type, type) and issubclass(self.type, RequestModel)

    @property
    def entry_choices(self) -> tuple[str, ...]:
        """The allowed entries of a list; empty if any is allowed, or if the field is no list."""
        entry = get_args(self.type)[0] if get_origin(self.type) is list else None
        return _choices(entry)

    @property
    def is_secret(self) -> bool:
        """Whether the value is secret and not allowed in arguments, which other users can read."""
        return self.type is SecretStr


@dataclass(frozen=True, slots=True)
class Problem:
    """A validation error: the field ("" for the whole body) and a message."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


@cache
def field_rules(model: type[RequestModel]) -> Mapping[str, FieldRules]:
    """The rules of every field of a request model, by field name."""
    return {name: _rules(name, field) for name, field in model.model_fields.items()}


@cache
def all_rules(model: type[RequestModel]) -> Mapping[str, FieldRules]:
    """The rules of every field, and of the fields of nested objects ("external.user").

    If the object is optional, its fields are optional, too.
    """
    inside = {
        f"{whole}.{part}": replace(rules, name=f"{whole}.{part}", required=False, nullable=True)
        for whole, field in model.model_fields.items()
        if not field.is_required()
        for inner in get_args(field.annotation)
        if isinstance(inner, type) and issubclass(inner, RequestModel)
        for part, rules in field_rules(inner).items()
    }
    return {**field_rules(model), **inside}


def _rules(name: str, field: FieldInfo) -> FieldRules:
    constraints = [*field.metadata, *_inner_metadata(field.annotation)]
    lows = [c.min_length for c in constraints if isinstance(c, MinLen)]
    highs = [c.max_length for c in constraints if isinstance(c, MaxLen)]
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    return FieldRules(
        name=name,
        description=field.description or "",
        required=field.is_required(),
        nullable=type(None) in get_args(field.annotation),
        min_length=max(lows, default=None),
        max_length=min(highs, default=None),
        choices=_choices(field.annotation),
        unit=str(extra.get("x-unit", "")),
        type=_value_type(field.annotation),
        deprecated=bool(extra.get("deprecated")),
    )


def _value_type(annotation: Any) -> Any:
    if get_origin(annotation) in {Union, UnionType}:
        annotation = get_args(annotation)[0]
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _inner_metadata(annotation: Any) -> list[Any]:
    metadata: list[Any] = []
    if get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            for constraint in getattr(member, "__metadata__", ()):
                metadata.extend(getattr(constraint, "metadata", None) or [constraint])
    return metadata


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(value) for value in get_args(annotation))
    return tuple(
        choice
        for member in get_args(annotation)
        if get_origin(member) is Literal
        for choice in _choices(member)
    )


def problems(error: ValidationError) -> list[Problem]:
    """Convert validation errors to messages, in pydantic's order; never repeats the input."""
    details: dict[str, ErrorDetails] = {}
    for detail in error.errors(include_input=False, include_url=False):
        field = ".".join(str(part) for part in detail["loc"] if not _is_union_tag(part))
        # Of the members of a union, one that fits the type of the value says more.
        if field not in details or _is_wrong_type(details[field]) > _is_wrong_type(detail):
            details[field] = detail
    return [
        Problem(field, _wording(detail))
        for field, detail in details.items()
        if not (_is_wrong_type(detail) and any(other.startswith(f"{field}.") for other in details))
    ]


def _is_wrong_type(detail: ErrorDetails) -> bool:
    return detail["type"].endswith(("_type", "literal_error"))


def violation_text(error: Exception) -> str | None:
    """All problems of a ValidationError in one text; None for any other exception."""
    return "; ".join(map(str, problems(error))) if isinstance(error, ValidationError) else None


_TYPE_TAGS = frozenset({"str", "int", "float", "bool", "none", "decimal", "datetime", "list"})


def _is_union_tag(part: int | str) -> bool:
    # Pydantic adds the member's type to the location inside a union; field names are lower case.
    return isinstance(part, str) and (
        part in _TYPE_TAGS or part[:1].isupper() or any(mark in part for mark in "[(-")
    )


_WORDINGS: Mapping[str, str] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request",
    "string_too_short": "must have at least {min_length} character(s)",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entry(ies)",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "must be one of {expected}",
    "string_type": "must be text",
    "string_unicode": "holds half a character, which cannot be sent: type it anew",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}
_PLURALS = (
    ("must have at least 1 character(s)", "must not be empty"),
    ("1 character(s)", "1 character"),
    ("character(s)", "characters"),
    ("1 entry(ies)", "1 entry"),
    ("entry(ies)", "entries"),
)


def _wording(detail: ErrorDetails) -> str:
    template = _WORDINGS.get(detail["type"])
    if template is None:
        return detail["msg"].removeprefix("Value error, ")
    text = template.format_map(detail.get("ctx", {}))
    for ours, plain in _PLURALS:
        text = text.replace(ours, plain)
    return text.replace("'", "")
