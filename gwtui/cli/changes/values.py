"""From ``--set name=value`` to the values of a request model, by the rules of that model alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError

from gwtui.cli.exits import USAGE, CommandError
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.domain.lookup import among
from gwtui.domain.money import parse_share, parse_usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import parse_moment

R = TypeVar("R", bound=RequestModel)
Schema = Mapping[str, Any]

_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}
_NAME = 60


@cache
def field_schemas(model: type[RequestModel]) -> Mapping[str, Schema]:
    """What each field takes, parts of a part as ``part.field``."""
    whole = model.model_json_schema()
    found: dict[str, Schema] = {}
    for name, given in whole["properties"].items():
        schema = _plain(given, whole)
        found[name] = schema
        for part, below in schema.get("properties", {}).items():
            found[f"{name}.{part}"] = _plain(below, whole)
    return found


def _plain(schema: Schema, whole: Schema) -> Schema:
    """The schema of a value that is not null, with what it refers to; its description is kept."""
    chosen = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    if "$ref" in chosen:
        chosen = whole["$defs"][chosen["$ref"].rpartition("/")[2]]
    kept = {"description": schema.get("description", ""), "deprecated": is_deprecated(schema)}
    return {**chosen, **kept}


def is_deprecated(schema: Schema) -> bool:
    """Whether the API still takes the field, but this program does not send it any more."""
    return bool(schema.get("deprecated"))


def is_secret(schema: Schema) -> bool:
    """Whether a value must not stand on a command line, where other users can read it."""
    return bool(schema.get("writeOnly"))


def read_values(
    model: type[RequestModel],
    fields: Sequence[str],
    sets: Iterable[str],
    unsets: Iterable[str],
    now: datetime,
) -> dict[str, Any]:
    """The values by field. Raises CommandError, which names the field and repeats no value."""
    schemas = field_schemas(model)
    values: dict[str, Any] = {}
    for pair in sets:
        name, equals, text = pair.partition("=")
        if not equals:
            raise CommandError(f"--set {safe_line(name, _NAME)}: needs a value, name=value", USAGE)
        schema = _schema(name, schemas, fields)
        if is_secret(schema):
            raise CommandError(f"{name}: is a secret, give it with --stdin {name}", USAGE)
        try:
            put(values, name, _value(schema, text, now))
        except ValueError as error:
            raise CommandError(f"{name}: {error}", USAGE) from None
    for name in unsets:
        _schema(name, schemas, fields)
        put(values, name, None)
    return values


def put(values: dict[str, Any], name: str, value: Any) -> None:
    """Take a value in. Raises CommandError for a field that is given twice."""
    top, _, part = name.partition(".")
    inside = values.setdefault(top, {}) if part else values
    if not isinstance(inside, dict) or (part or top) in inside:
        raise CommandError(f"{name}: is given twice", USAGE)
    inside[part or top] = value


def stdin_value(model: type[RequestModel], fields: Sequence[str], name: str, text: str) -> Any:
    """A value that was read from stdin. Raises CommandError."""
    schema = _schema(name, field_schemas(model), fields)
    return SecretStr(text) if is_secret(schema) else text


def validated(model: type[R], values: Mapping[str, Any]) -> R:
    """The request. Raises CommandError, which names every field that is wrong."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise complaint(problems(error)) from None


def complaint(found: Iterable[Problem]) -> CommandError:
    """What is wrong with a request, field by field."""
    return CommandError("; ".join(str(one) for one in found), USAGE)


def _schema(name: str, schemas: Mapping[str, Schema], fields: Sequence[str]) -> Schema:
    top = name.partition(".")[0]
    if top in fields and name in schemas:
        return schemas[name]
    if name in schemas and is_deprecated(schemas[name]):
        raise CommandError(f"{name}: is {schemas[name]['description']}", USAGE)
    hint = among(name, fields)
    raise CommandError(f"{safe_line(name, _NAME)}: is no field that is set here{hint}", USAGE)


def _value(schema: Schema, text: str, now: datetime) -> Any:
    """Raises ValueError with a message for the person."""
    kind = schema.get("type")
    if kind == "boolean":
        if text.lower() not in _WORDS:
            raise ValueError("must be true or false")
        return _WORDS[text.lower()]
    if kind == "number":
        # A share is the only number with an upper limit of one.
        return parse_share(text) if schema.get("maximum") == 1 else parse_usd(text)
    if kind == "array":
        return _entries(schema, text)
    if kind == "object":
        return _json(text, dict)
    if schema.get("format") == "date-time":
        return parse_moment(text, now)
    return text


def _entries(schema: Schema, text: str) -> list[Any]:
    """A list as JSON, or its entries with commas between."""
    if text.lstrip().startswith("["):
        return list(_json(text, list))
    kind = schema.get("items", {}).get("type")
    if kind is None:
        raise ValueError("must be a JSON list of objects")
    words = [word.strip() for word in text.split(",") if word.strip()]
    if kind == "integer":
        if not all(word.isascii() and word.lstrip("-").isdigit() for word in words):
            raise ValueError("must be whole numbers with commas between")
        return [int(word) for word in words]
    return words


def _json(text: str, kind: type[Any]) -> Any:
    expected = "a JSON list" if kind is list else "a JSON object"
    try:
        found = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise ValueError(f"must be {expected}") from None
    if not isinstance(found, kind):
        raise ValueError(f"must be {expected}")  # noqa: TRY004 - a wrong value, not a wrong call
    return found
