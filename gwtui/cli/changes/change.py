"""A change on the command line: its values, and the context in which it is planned.

The request model decides how ``--set FIELD=VALUE`` is parsed.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr, ValidationError

from gwtui.cli.exits import USAGE, CommandError, reporting
from gwtui.cli.lists.selection import CommandReadings, find_row, find_workspace
from gwtui.cli.output import narrate
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import FieldRules, Problem, RequestModel, all_rules, problems
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import Field
from gwtui.crud.form import kind_of, parse_value
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.diffs import ABSENT
from gwtui.domain.lookup import among
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id, workspaces_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session


R = TypeVar("R", bound=RequestModel)
T = TypeVar("T")
_WHOLE = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Matches identifiers that the gateway accepts without a lookup: key hashes and UUIDs."""
_WORKSPACE = "workspace_id"

_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}

_NAME = 60


class NothingToDoError(Exception):
    """The resource is already in the requested state: nothing is sent, and the command succeeds.

    ``brief`` is a shorter message for one row of a bulk change.
    """

    def __init__(self, message: str, brief: str = "no change") -> None:
        super().__init__(message)
        self.brief = brief


class ChangeContext:
    """The context of a planned change; ``given`` has the values that the user gave, by field."""

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
        """The API client."""
        return self.session.gateway

    @property
    def dialect(self) -> Dialect:
        """The dialect of the gateway."""
        return self.session.connection.dialect

    def for_identity(self, identity: str) -> ChangeContext:
        """Return the context for one resource of a bulk change, whose operand is ``identity``.

        It shares the cached readings of this context.
        """
        arguments = Namespace(**{**vars(self.arguments), "id": identity})
        context = ChangeContext(self.session, arguments, self.given, self.now)
        context.readings = self.readings
        return context

    # Resources ----------------------------------------------------------------------------------

    async def identity(self, spec: ResourceSpec[Any], text: str) -> str:
        """Return the identifier of the row with this name, identifier or start of an identifier.

        Raises CommandError and GatewayError.
        """
        if _WHOLE.fullmatch(text):
            return text
        return spec.identity(await self.row(spec, text))

    async def row(self, spec: ResourceSpec[T], text: str) -> T:
        """Return the list row with this name. Raises CommandError and GatewayError."""
        rows = await self.readings.value(spec.feed(self.session.hub, Scope()))
        return find_row(spec, rows, text)

    async def workspace(self, text: str) -> Workspace:
        """Read a workspace by its id, slug or name. Raises CommandError and GatewayError."""
        known = text if _WHOLE.fullmatch(text) else None
        identity = known or (await find_workspace(self.readings, text)).id or ""
        return await self.gateway.workspaces.get(identity)

    async def workspace_names(self, *, default: bool = False) -> dict[str, str]:
        """Read workspace id -> name; empty if unreadable.

        With ``default``, "" also maps to the name of the default workspace, unless --workspace was
        given.
        """
        spaces = await self.readings.value_or_nothing(
            workspaces_feed(self.session.hub, Scope()), "names of workspaces"
        )
        names = {space.id: space.shown_name or space.id for space in spaces or () if space.id}
        if default and spaces and not self.given.get(_WORKSPACE):
            by_slug = (space.id for space in spaces if space.slug == DEFAULT_SLUG and space.id)
            identity = await default_workspace_id(self.gateway) or next(by_slug, "")
            names[""] = names.get(identity, "")
        return names

    # Values -------------------------------------------------------------------------------------

    async def request(self, model: type[R]) -> R:
        """Return the given values as a request; a workspace given by name is replaced by its id.

        Raises CommandError and GatewayError.
        """
        workspace = self.given.get(_WORKSPACE)
        if isinstance(workspace, str) and not _WHOLE.fullmatch(workspace.lower()):
            self.given[_WORKSPACE] = (await find_workspace(self.readings, workspace)).id
        return validated(model, self.given)

    async def update(self, model: type[R], known: Mapping[str, Any]) -> R:
        """Return a request with the given values that differ from ``known``.

        ``known`` has the present values by field. Fields whose values do not differ are reported on
        stderr. Raises NothingToDoError if no value differs, CommandError and GatewayError.
        """
        request = await self.request(model)
        changed = {
            name: getattr(request, name)
            for name in request.model_fields_set
            if known.get(name, ABSENT) != getattr(request, name)
        }
        if not changed:
            raise NothingToDoError("all fields already have these values")
        report_unchanged(request.model_fields_set - changed.keys())
        return validated(model, changed)


def report_unchanged(names: Set[str]) -> None:
    """Report fields that already have the requested value, because plans do not display them."""
    if names:
        narrate(f"unchanged: {', '.join(sorted(names))}")


def read_values(
    model: type[RequestModel],
    fields: Sequence[str],
    sets: Iterable[str],
    unsets: Iterable[str],
    now: datetime,
) -> dict[str, Any]:
    """Parse the values of ``--set`` and ``--unset``, by field.

    Raises CommandError, which names the field and never quotes the value.
    """
    values: dict[str, Any] = {}
    for pair in sets:
        name, equals, text = pair.partition("=")
        if not equals:
            raise CommandError(f"--set {safe_line(name, _NAME)}: expected FIELD=VALUE", USAGE)
        rules = _rules(model, name, fields)
        if rules.is_secret:
            raise CommandError(f"{name} is a secret: pass it with --stdin {name}", USAGE)
        with reporting(ValueError, context=f"{name}: "):
            assign_value(values, name, _value(rules, text, now))
    for name in unsets:
        _rules(model, name, fields)
        assign_value(values, name, None)
    return values


def assign_value(values: dict[str, Any], name: str, value: Any) -> None:
    """Add a value; "object.field" is set inside the object. Raises CommandError for a duplicate."""
    top, _, part = name.partition(".")
    inside = values.setdefault(top, {}) if part else values
    if not isinstance(inside, dict) or (part or top) in inside:
        raise CommandError(f"{name} is given twice", USAGE)
    inside[part or top] = value


def stdin_value(model: type[RequestModel], fields: Sequence[str], name: str, text: str) -> Any:
    """Return a value that was read from stdin, unchanged, but as SecretStr for a secret field.

    Raises CommandError for an unknown field.
    """
    return SecretStr(text) if _rules(model, name, fields).is_secret else text


def validated(model: type[R], values: Mapping[str, Any]) -> R:
    """Return the validated request. Raises CommandError, which names all invalid fields."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise invalid_values(problems(error)) from None


def invalid_values(invalid: Iterable[Problem]) -> CommandError:
    """Return the error that lists the problems of all invalid fields."""
    return CommandError("; ".join(map(str, invalid)), USAGE)


def _rules(model: type[RequestModel], name: str, fields: Sequence[str]) -> FieldRules:
    rules = all_rules(model).get(name)
    if rules is not None and name.partition(".")[0] in fields:
        return rules
    if rules is not None and rules.deprecated:
        raise CommandError(f"{name}: is {rules.description}", USAGE)
    raise CommandError(f"unknown field {safe_line(name, _NAME)!r}{among(name, fields)}", USAGE)


def _value(rules: FieldRules, text: str, now: datetime) -> Any:
    kind = kind_of(Field(rules.name, rules.name), rules)
    match kind:
        case "switch" | "three_way":
            if text.lower() not in _WORDS:
                raise ValueError("must be true or false")
            return _WORDS[text.lower()]
        case "pick" | "integers" | "builtins" | "filters" if text.lstrip().startswith("["):
            return _json(text, list)
        case "pick":
            return [word.strip() for word in text.split(",") if word.strip()]
        case "builtins" | "filters":
            raise ValueError("must be a JSON list of objects")
        case "number" if not rules.unit:  # the only number without a unit is a share
            return parse_value("percent", text, rules, now)
    if rules.is_object:
        return _json(text, dict)
    return parse_value(kind, text, rules, now)


def _json(text: str, kind: type[Any]) -> Any:
    expected = "a JSON list" if kind is list else "a JSON object"
    try:
        value = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise ValueError(f"must be {expected}") from None
    if not isinstance(value, kind):
        raise ValueError(f"must be {expected}")  # noqa: TRY004 - a wrong value, not a wrong call
    return value
