"""``alerts.toml``, the person's rules and what an alert does, and the program that it runs.

What the file does not say is the default.

    [effects]
    bell = true
    command = ["notify-send", "gwtui"]

    [rules.credits-low]             # a rule that is there by default: only what differs
    fires_at = "25 USD"
    clears_at = "30 USD"

    [rules.atlas-slow]              # one of the person's own
    kind = "latency-above"
    name = "Atlas slow"
    scope = "model"
    only = "northwind/atlas-large"
    fires_at = "4000 ms"
    clears_at = "3000 ms"
    fire_after = "10 min"

Amounts and times are texts with their unit; a plain number counts in the field's unit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from gwtui.contract.request import RequestModel, field_rules, problems
from gwtui.domain.alert_rules import KINDS, RETIRED, AlertRule, default_rules
from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.money import parse_quantity, quantity
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import duration, parse_duration_or_zero
from gwtui.local.tokens import TOKEN_VARIABLE
from gwtui.local.toml_file import (
    TomlEditor,
    TomlValue,
    UserFileError,
    edit_user_file,
    line_of,
    not_toml,
    read_user_text,
)

Model = TypeVar("Model", bound=RequestModel)

FILE_NAME = "alerts.toml"
"""The file of the rules, in the directory of the configuration."""
COMMAND_LIMIT = 10.0
"""Seconds that the program may take."""
MOST_RULES = 200

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
_RULES = "rules"
_EFFECTS = "effects"
_TABLES = (_RULES, _EFFECTS)
_KIND = "kind"
_NO_PROBES = "is ignored: gwtui no longer sends probes"


class AlertFileError(Exception):
    """The rules cannot be read or changed; the message names the file, the line and the fault."""


class AlertEffects(RequestModel):
    """What a new alert does besides being listed."""

    toast: bool = Field(True, description="a short notice on the screen")
    title: bool = Field(True, description="the number of alerts in the terminal's title")
    bell: bool = Field(False, description="the terminal's bell")
    command: Annotated[
        list[Annotated[str, Field(max_length=4000)]] | None,
        Field(min_length=1, max_length=100),
    ] = Field(None, description="a program and its arguments that get the alert as JSON on stdin")


@dataclass(frozen=True, slots=True)
class AlertBook:
    """Every rule by id, default ones first, and the effects; ``own`` are those the file names.

    ``ignored`` says with their lines which rules of the file no longer exist.
    """

    rules: Mapping[str, AlertRule] = field(default_factory=default_rules)
    effects: AlertEffects = field(default_factory=AlertEffects)
    own: frozenset[str] = frozenset()
    ignored: tuple[str, ...] = ()


def load_alerts(path: Path) -> AlertBook:
    """Read the file; an absent one says nothing. Raises AlertFileError."""
    try:
        text = read_user_text(path)
    except UserFileError as error:
        raise AlertFileError(str(error)) from None
    return parse_alerts(path, text)


def parse_alerts(path: Path, text: str) -> AlertBook:
    """What the text of the file at ``path`` says. Raises AlertFileError."""
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise AlertFileError(not_toml(path, text, error)) from None
    return _AlertFileReader(path, text).book(content)


def put_rule(path: Path, identity: str, rule: AlertRule) -> None:
    """Add a rule or change it. Raises AlertFileError and then leaves the file as it was."""
    if not _ID.fullmatch(identity):
        raise AlertFileError(f"{safe_line(identity, 80)} cannot be the name of a rule")
    begun = default_rules().get(identity)
    values = rule_values(rule, begun)
    if begun is None:
        values = {_KIND: rule.kind.id, **values}

    def change(editor: TomlEditor) -> None:
        table = (_RULES, identity)
        present = dict(editor.data.get(_RULES, {}).get(identity, {}))
        if not values:
            editor.drop_table(table)
        for name in present:
            if name not in values and name != _KIND:
                editor.drop(table, name)
        for name, value in values.items():
            if present.get(name) != value:
                editor.put(table, name, value)

    _edit(path, change)


def remove_rule(path: Path, identity: str) -> None:
    """Remove a rule; one that is there by default is as it was by default then.

    Raises AlertFileError.
    """
    _edit(path, lambda editor: editor.drop_table((_RULES, identity)))


def put_effects(path: Path, effects: AlertEffects) -> None:
    """Change what an alert does. Raises AlertFileError."""

    def change(editor: TomlEditor) -> None:
        present = dict(editor.data.get(_EFFECTS, {}))
        for name, info in AlertEffects.model_fields.items():
            value = getattr(effects, name)
            if value == info.default:
                editor.drop((_EFFECTS,), name)
            elif present.get(name) != value:
                editor.put((_EFFECTS,), name, value)

    _edit(path, change)


def rule_values(rule: AlertRule, begun: AlertRule | None = None) -> dict[str, TomlValue]:
    """What of a rule differs from ``begun``, else from its kind's defaults, as the file says it."""
    rules = field_rules(type(rule))
    found: dict[str, TomlValue] = {}
    for name, info in type(rule).model_fields.items():
        value = getattr(rule, name)
        usual = info.default if begun is None else getattr(begun, name)
        if value == usual and (begun is not None or not info.is_required()):
            continue
        match value:
            case Decimal():
                found[name] = quantity(value, rules[name].unit)
            case timedelta():
                found[name] = duration(value)
            case None:
                found[name] = ""
            case _:
                found[name] = value
    return found


def new_identity(name: str, taken: Mapping[str, Any]) -> str:
    """An id for a new rule, from its name."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    slug = "-".join(words)[:40].strip("-") or "rule"
    number, identity = 1, slug
    while identity in taken:
        number += 1
        identity = f"{slug}-{number}"
    return identity


def _edit(path: Path, change: Callable[[TomlEditor], None]) -> None:
    try:
        edit_user_file(path, change, lambda text: parse_alerts(path.resolve(), text))
    except UserFileError as error:
        raise AlertFileError(str(error)) from None


class _AlertFileReader:
    """Reads one file, and says of each fault where it stands."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def book(self, content: dict[str, Any]) -> AlertBook:
        for name in content:
            if name not in _TABLES:
                raise self._fault((name,), f"is not a known key{among(name, _TABLES)}")
        tables = self._table((_RULES,), content.get(_RULES, {}))
        if len(tables) > MOST_RULES:
            raise self._fault((_RULES,), f"must have at most {MOST_RULES} entries")
        rules = default_rules()
        ignored = [identity for identity, values in tables.items() if _retired(identity, values)]
        for identity in ignored:
            del tables[identity]
        for identity, values in tables.items():
            rules[identity] = self._rule(identity, values, rules.get(identity))
        effects = self._table((_EFFECTS,), content.get(_EFFECTS, {}))
        return AlertBook(
            rules,
            self._valid((_EFFECTS,), AlertEffects, effects),
            frozenset(tables),
            tuple(str(self._fault((_RULES, one), _NO_PROBES)) for one in ignored),
        )

    def _rule(self, identity: str, found: object, begun: AlertRule | None) -> AlertRule:
        where = (_RULES, identity)
        values = self._table(where, found)
        if not _ID.fullmatch(identity):
            raise self._fault(where, "must be named by letters, digits, dots and dashes")
        kind = values.pop(_KIND, None if begun is None else begun.kind.id)
        if not isinstance(kind, str) or kind not in KINDS:
            hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else ""
            raise self._fault((*where, _KIND), f"must be one of {', '.join(KINDS)}{hint}")
        if begun is not None and kind != begun.kind.id:
            raise self._fault((*where, _KIND), f"is {begun.kind.id} for this rule")
        model = KINDS[kind]
        typed = {} if begun is None else {name: getattr(begun, name) for name in model.model_fields}
        for name, value in values.items():
            if name not in model.model_fields:
                hint = did_you_mean(name, model.model_fields)
                raise self._fault((*where, name), f"is not a known key{hint}")
            typed[name] = self._value((*where, name), model, value)
        if begun is None:
            typed.setdefault("name", identity[:60])
        return self._valid(where, model, typed)

    def _value(self, where: tuple[str, ...], model: type[AlertRule], value: Any) -> Any:
        info = model.model_fields.get(where[-1])
        kind = None if info is None else info.annotation
        try:
            if kind is Decimal and isinstance(value, str):
                return parse_quantity(value, field_rules(model)[where[-1]].unit)
            if kind is Decimal and isinstance(value, int) and not isinstance(value, bool):
                return Decimal(value)
            if kind is timedelta and isinstance(value, str):
                return parse_duration_or_zero(value)
        except ValueError as error:
            raise self._fault(where, str(error)) from None
        return None if value == "" else value

    def _valid(
        self, where: tuple[str, ...], model: type[Model], values: Mapping[str, Any]
    ) -> Model:
        try:
            return model.model_validate(dict(values))
        except ValidationError as error:
            wrong = problems(error)[0]
        raise self._fault((*where, *filter(None, wrong.field.split("."))), wrong.message)

    def _table(self, where: tuple[str, ...], found: object) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise self._fault(where, "must be a table")
        return dict(found)

    def _fault(self, path: tuple[str, ...], message: str) -> AlertFileError:
        line = line_of(self._text, path)
        place = f"{self._path}:{line}" if line else str(self._path)
        return AlertFileError(f"{place}: {safe_line('.'.join(path), 120)}: {message}")


def _retired(identity: str, values: object) -> bool:
    kind = values.get(_KIND) if isinstance(values, dict) else None
    return kind in RETIRED or (kind is None and identity in RETIRED)


class AlertCommandError(Exception):
    """The program could not be run, failed or took too long; the message is for a person."""


async def run_alert_command(
    command: Sequence[str],
    text: str,
    *,
    limit: float = COMMAND_LIMIT,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run a program with ``text`` on stdin. Raises AlertCommandError.

    It runs in a session of its own: it can neither read the keyboard nor draw over the screen, and
    a time-out ends its children, too. What it prints is thrown away.
    """
    environ = os.environ if environ is None else environ
    program = command[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={name: value for name, value in environ.items() if name != TOKEN_VARIABLE},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise AlertCommandError(f"{program}: {why or 'cannot be run'}") from None
    try:
        async with asyncio.timeout(limit):
            # One that does not read its input is no fault.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await process.communicate(text.encode())
            status = await process.wait()
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if isinstance(error, TimeoutError):
            raise AlertCommandError(f"{program}: did not end within {limit:g} s") from None
        raise
    if status != 0:
        raise AlertCommandError(f"{program}: ended with status {status}")


class RuleFile:
    """The rules of the file as they last were without fault; ``problem`` is what is wrong now."""

    def __init__(self, path: Path, profile: str) -> None:
        self.path = path
        self.problem = ""
        self.book = AlertBook()
        self._profile = profile
        self._version: tuple[int, int, int] | None = None
        self._read = False
        self._active: Mapping[str, AlertRule] = {}

    def refresh(self) -> Mapping[str, AlertRule]:
        """The rules for this profile; the same object as long as nothing changed. Never raises."""
        version = self._stamp()
        if not self._read or version != self._version:
            self._read, self._version = True, version
            try:
                self.book = load_alerts(self.path)
            except AlertFileError as error:
                self.problem = f"The rules stay as they were: {error}"
                if not self._active:
                    self._active = self._of_profile()
            else:
                self.problem = "; ".join(self.book.ignored)
                self._active = self._of_profile()
        return self._active

    def _of_profile(self) -> Mapping[str, AlertRule]:
        return {
            identity: rule
            for identity, rule in self.book.rules.items()
            if rule.profile in (None, self._profile)
        }

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
