"""A change on the command line: its values, and what its planner works with.

Values come from ``--set name=value`` and are read by the rules of the request model alone.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr, ValidationError

from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.lists.lookup import CommandReadings, find_row, find_workspace
from gwtui.cli.output import narrate
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.workspaces import Workspace
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.diffs import ABSENT
from gwtui.domain.lookup import among
from gwtui.domain.money import parse_share, parse_usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import parse_moment
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id, workspaces_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session


R = TypeVar("R", bound=RequestModel)
T = TypeVar("T")
_WHOLE = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identifier that the gateway itself understands: the hash of a key, a UUID."""
_WORKSPACE = "workspace_id"
Schema = Mapping[str, Any]

_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}

_NAME = 60


class NothingToDoError(Exception):
    """The requested state is already there: nothing is sent, and it is no failure.

    The message says what; ``brief`` is the shorter text for one row of several.
    """

    def __init__(self, message: str, brief: str = "like this already") -> None:
        super().__init__(message)
        self.brief = brief


class ChangeContext:
    """One change on its way to a plan. ``given`` are the values by field, validated."""

    def __init__(
        self, session: Session, arguments: Namespace, given: Mapping[str, Any], now: datetime
    ) -> None:
        self.session = session
        self.arguments = arguments
        self.given = dict(given)
        self.now = now
        self.readings = CommandReadings(session.hub)

    @property
    def gateway(self) -> GatewayClient:
        """The services."""
        return self.session.gateway

    @property
    def dialect(self) -> Dialect:
        """The names that the gateway uses."""
        return self.session.connection.dialect

    def named(self, identity: str) -> ChangeContext:
        """The same change of one resource; what was read is read once for all."""
        arguments = Namespace(**{**vars(self.arguments), "id": identity})
        one = ChangeContext(self.session, arguments, self.given, self.now)
        one.readings = self.readings
        return one

    # What is named ------------------------------------------------------------------------------

    async def identity(self, spec: ResourceSpec[Any], text: str) -> str:
        """The identifier for a name or the start of one. Raises CommandError and GatewayError."""
        if _WHOLE.fullmatch(text):
            return text
        return spec.identity(await self.row(spec, text))

    async def row(self, spec: ResourceSpec[T], text: str) -> T:
        """The row of a list with that name. Raises CommandError and GatewayError."""
        rows = await self.readings.value(spec.feed(self.session.hub, Scope()))
        return find_row(spec, rows, text)

    async def workspace(self, text: str) -> Workspace:
        """A workspace, read anew. Raises CommandError and GatewayError."""
        known = text if _WHOLE.fullmatch(text) else None
        identity = known or (await find_workspace(self.readings, text)).id or ""
        return await self.gateway.workspaces.get(identity)

    async def workspace_names(self, *, default: bool = False) -> dict[str, str]:
        """Workspace id -> name; empty where they cannot be read.

        With ``default`` also "" -> the name of the default one, where no workspace was given.
        """
        spaces = await self.readings.value_or_nothing(
            workspaces_feed(self.session.hub, Scope()), "names of workspaces"
        )
        names = {one.id: one.shown_name or one.id for one in spaces or () if one.id}
        if default and spaces and not self.given.get(_WORKSPACE):
            called_so = (one.id for one in spaces if one.slug == DEFAULT_SLUG and one.id)
            found = await default_workspace_id(self.gateway) or next(called_so, "")
            names[""] = names.get(found, "")
        return names

    # What is wanted -----------------------------------------------------------------------------

    async def request(self, model: type[R]) -> R:
        """The given values as a request. Raises CommandError and GatewayError."""
        workspace = self.given.get(_WORKSPACE)
        if isinstance(workspace, str) and not _WHOLE.fullmatch(workspace.lower()):
            self.given[_WORKSPACE] = (await find_workspace(self.readings, workspace)).id
        return validated(model, self.given)

    async def update(self, model: type[R], known: Mapping[str, Any]) -> R:
        """The given values that differ from what is known of a resource.

        Raises NothingToDoError where none does, CommandError and GatewayError.
        """
        request = await self.request(model)
        changed = {
            name: getattr(request, name)
            for name in request.model_fields_set
            if known.get(name, ABSENT) != getattr(request, name)
        }
        if not changed:
            raise NothingToDoError("it is like this already")
        report_unchanged(request.model_fields_set - changed.keys())
        return validated(model, changed)


def report_unchanged(names: Set[str]) -> None:
    """Say which of the given fields have the wanted value already: no plan shows them."""
    if names:
        narrate(f"like this already, left alone: {', '.join(sorted(names))}")


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
    """Whether a value must not be given as an argument, which other users can read."""
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
            assign_value(values, name, _value(schema, text, now))
        except ValueError as error:
            raise CommandError(f"{name}: {error}", USAGE) from None
    for name in unsets:
        _schema(name, schemas, fields)
        assign_value(values, name, None)
    return values


def assign_value(values: dict[str, Any], name: str, value: Any) -> None:
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
        raise invalid_values(problems(error)) from None


def invalid_values(found: Iterable[Problem]) -> CommandError:
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
