"""Reads and edits ``alerts.toml``: the alert rules, and what happens when an alert fires.

The file contains only what differs from the defaults:

    [effects]
    bell = true
    command = ["notify-send", "gwtui"]

    [rules.credits-low]             # changes a default rule
    fires_at = "25 USD"
    clears_at = "30 USD"

    [rules.atlas-slow]              # adds a rule
    kind = "latency-above"
    name = "Atlas slow"
    scope = "model"
    only = "northwind/atlas-large"
    fires_at = "4000 ms"
    clears_at = "3000 ms"
    fire_after = "10 min"

Amounts and durations are texts with a unit. A plain number has the unit of its field.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from gwtui.contract.request import RequestModel, field_rules, problems
from gwtui.domain.alert_rules import KINDS, AlertRule, default_rules
from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.money import parse_quantity, quantity
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import duration, parse_duration_or_zero
from gwtui.local.programs import run_program
from gwtui.local.tokens import TOKEN_VARIABLE
from gwtui.local.toml_file import (
    TomlFile,
    TomlPath,
    TomlValue,
    WrongSettingError,
    with_values,
    without_table,
)

Model = TypeVar("Model", bound=RequestModel)

FILE_NAME = "alerts.toml"
"""The name of the file in the configuration directory."""
COMMAND_LIMIT = 10.0
"""The time limit of the alert command, in seconds."""
MOST_RULES = 200

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
_RULES = "rules"
_EFFECTS = "effects"
_TABLES = (_RULES, _EFFECTS)
_KIND = "kind"


class AlertFileError(Exception):
    """The alerts file cannot be read or changed; the message names the rule and the problem."""


class AlertEffects(RequestModel):
    """What happens when an alert fires, besides its entry in the list of alerts."""

    toast: bool = Field(True, description="a short notice on the screen")
    bell: bool = Field(False, description="the terminal's bell")
    command: Annotated[
        list[Annotated[str, Field(max_length=4000)]] | None,
        Field(min_length=1, max_length=100),
    ] = Field(None, description="a program and its arguments that get the alert as JSON on stdin")


@dataclass(frozen=True, slots=True)
class AlertBook:
    """All rules by id, default rules first, and how alerts are announced.

    ``own`` are the ids of the rules that the file adds or changes.
    """

    rules: Mapping[str, AlertRule] = field(default_factory=default_rules)
    effects: AlertEffects = field(default_factory=AlertEffects)
    own: frozenset[str] = frozenset()


def load_alerts(path: Path) -> AlertBook:
    """Read the file; a missing file gives the defaults. Raises AlertFileError."""
    return _file(path).read()


def _file(path: Path) -> TomlFile[AlertBook]:
    return TomlFile(path, _book, AlertFileError)


def put_rule(path: Path, identity: str, rule: AlertRule) -> None:
    """Add or change a rule in the file. Raises AlertFileError and leaves the file as it was."""
    if not _ID.fullmatch(identity):
        raise AlertFileError(f"{safe_line(identity, 80)} cannot be the name of a rule")
    base = default_rules().get(identity)
    values = rule_values(rule, base)
    if base is None:
        values = {_KIND: rule.kind.id, **values}

    def edit(text: str) -> str:
        if not values:
            return without_table(text, _RULES, identity)
        present = tomllib.loads(text).get(_RULES, {}).get(identity, {})
        gone = dict.fromkeys(name for name in present if name not in (*values, _KIND))
        return with_values(text, _inside((_RULES, identity), {**gone, **values}))

    _file(path).change(edit)


def remove_rule(path: Path, identity: str) -> None:
    """Remove a rule from the file; a default rule returns to its default settings.

    Raises AlertFileError.
    """
    _file(path).change(lambda text: without_table(text, _RULES, identity))


def _inside(
    table: TomlPath, values: Mapping[str, TomlValue | None]
) -> dict[TomlPath, TomlValue | None]:
    return {(*table, name): value for name, value in values.items()}


def rule_values(rule: AlertRule, base: AlertRule | None = None) -> dict[str, TomlValue]:
    """The fields of a rule as values for the file, without those that equal the defaults.

    ``base`` is the default rule with the same id, whose fields are the defaults. If it is None, the
    defaults of the kind of rule apply.
    """
    rules = field_rules(type(rule))
    values: dict[str, TomlValue] = {}
    for name, info in type(rule).model_fields.items():
        value = getattr(rule, name)
        default = info.default if base is None else getattr(base, name)
        if value == default and (base is not None or not info.is_required()):
            continue
        match value:
            case Decimal():
                values[name] = quantity(value, rules[name].unit)
            case timedelta():
                values[name] = duration(value)
            case None:
                values[name] = ""
            case _:
                values[name] = value
    return values


def new_identity(name: str, taken: Mapping[str, Any]) -> str:
    """An unused id for a new rule, derived from its name."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    slug = "-".join(words)[:40].strip("-") or "rule"
    number, identity = 1, slug
    while identity in taken:
        number += 1
        identity = f"{slug}-{number}"
    return identity


def _book(content: Mapping[str, Any]) -> AlertBook:
    for name in content:
        if name not in _TABLES:
            raise WrongSettingError(name, f"is not a known key{among(name, _TABLES)}")
    tables = _table(_RULES, content.get(_RULES, {}))
    if len(tables) > MOST_RULES:
        raise WrongSettingError(_RULES, f"must have at most {MOST_RULES} entries")
    rules = default_rules()
    for identity, values in tables.items():
        rules[identity] = _rule(identity, values, rules.get(identity))
    effects = _table(_EFFECTS, content.get(_EFFECTS, {}))
    return AlertBook(rules, _valid(_EFFECTS, AlertEffects, effects), frozenset(tables))


def _rule(identity: str, table: object, base: AlertRule | None) -> AlertRule:
    where = f"{_RULES}.{identity}"
    values = _table(where, table)
    if not _ID.fullmatch(identity):
        raise WrongSettingError(where, "must be named by letters, digits, dots and dashes")
    kind = values.pop(_KIND, None if base is None else base.kind.id)
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else ""
        raise WrongSettingError(f"{where}.{_KIND}", f"must be one of {', '.join(KINDS)}{hint}")
    if base is not None and kind != base.kind.id:
        raise WrongSettingError(f"{where}.{_KIND}", f"is {base.kind.id} for this rule")
    model = KINDS[kind]
    typed = {} if base is None else {name: getattr(base, name) for name in model.model_fields}
    for name, value in values.items():
        if name not in model.model_fields:
            hint = did_you_mean(name, model.model_fields)
            raise WrongSettingError(f"{where}.{name}", f"is not a known key{hint}")
        try:
            typed[name] = _value(name, model, value)
        except ValueError as error:
            raise WrongSettingError(f"{where}.{name}", str(error)) from None
    if base is None:
        typed.setdefault("name", identity[:60])
    return _valid(where, model, typed)


def _value(name: str, model: type[AlertRule], value: Any) -> Any:
    kind = model.model_fields[name].annotation
    if kind is Decimal and isinstance(value, str):
        return parse_quantity(value, field_rules(model)[name].unit)
    if kind is Decimal and isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if kind is timedelta and isinstance(value, str):
        return parse_duration_or_zero(value)
    return None if value == "" else value


def _valid(where: str, model: type[Model], values: Mapping[str, Any]) -> Model:
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        wrong = problems(error)[0]
    raise WrongSettingError(wrong.field, wrong.message).inside(where)


def _table(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongSettingError(where, "must be a table")
    return dict(value)


async def run_alert_command(
    command: Sequence[str],
    text: str,
    *,
    limit: float = COMMAND_LIMIT,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run a program with ``text`` on stdin, without the gateway token in its environment.

    It is killed after ``limit`` seconds. Raises ProgramError.
    """
    environ = os.environ if environ is None else environ
    kept = {name: value for name, value in environ.items() if name != TOKEN_VARIABLE}
    await run_program(command, kept, limit=limit, text=text, keep_output=False)


class RuleFile:
    """The last valid content of the file. ``problem`` says why the present file is invalid."""

    def __init__(self, path: Path, profile: str) -> None:
        self.path = path
        self.problem = ""
        self.book = AlertBook()
        self._profile = profile

    def refresh(self) -> Mapping[str, AlertRule]:
        """Read the file again and return the rules that apply to this profile. Never raises."""
        try:
            self.book, self.problem = load_alerts(self.path), ""
        except AlertFileError as error:
            self.problem = f"The rules stay as they were: {error}"
        return {
            identity: rule
            for identity, rule in self.book.rules.items()
            if rule.profile in (None, self._profile)
        }
