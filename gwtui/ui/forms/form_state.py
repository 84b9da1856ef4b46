"""The state of a form without widgets: typed texts, parsed values, problems and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import SecretStr, ValidationError

from gwtui.client.errors import (
    BadRequestError,
    ConnectFailedError,
    GatewayError,
    InvalidRequestError,
)
from gwtui.contract.request import (
    FieldRules,
    Problem,
    RequestModel,
    all_rules,
    problems,
)
from gwtui.crud.fields import Field, Kind, PreviewContext
from gwtui.crud.form import (
    NO_INTEGERS,
    BuiltinRow,
    CustomRow,
    FormSpec,
    builtin_rows,
    custom_rows,
    parse_value,
)
from gwtui.crud.resource import Cell
from gwtui.domain.diffs import ABSENT, same
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.times import duration, utc

Typed = (
    str | bool | None | SecretStr | tuple[str, ...] | tuple[BuiltinRow, ...] | tuple[CustomRow, ...]
)
"""The content of an editor: a text, the value of a choice ("" for none), the state of a switch, a
secret, picked values, or rows of filters."""

TEXTS = frozenset({"text", "pattern", "lines", "model"})
"""Field kinds whose value is the typed text."""

KEEP = "\0"
"""The content of a choice whose initial value is unknown, until the user chooses a value."""
_CHOICES = frozenset({"choice", "switch", "three_way"})

_PERCENT = 100
NOTHING_CHANGED = "Nothing has been changed yet."


def to_value(field: Field, rules: FieldRules, typed: Typed, now: datetime) -> Any:
    """Convert the content of a field's editor to the value for the request model.

    Returns ABSENT if the field is to be left out of the request, such as an empty secret. Raises
    ValueError with a message for the user.
    """
    match typed:
        case bool():
            return typed
        case SecretStr():
            secret = typed.get_secret_value().strip()
            return SecretStr(secret) if secret else ABSENT
        case None:
            return None
        case str():
            return _text_value(field, rules, typed, now)
    # No filter is null, which clears; nothing picked is a list of its own.
    entries = [entry if isinstance(entry, str) else entry.value() for entry in typed]
    return entries if entries or field.kind == "pick" else None


def _text_value(field: Field, rules: FieldRules, typed: str, now: datetime) -> Any:
    text = _stripped(field.kind, typed)
    if text:
        return parse_value(field.kind, text, rules, now)
    if field.kind == "workspace":
        return ABSENT
    if rules.nullable:
        return None
    return "" if field.kind in TEXTS else ABSENT


def _stripped(kind: Kind, typed: str) -> str:
    return {"pattern": typed, "lines": typed.rstrip()}.get(kind, typed.strip())


def to_typed(field: Field, value: Any) -> Typed:
    """Convert a value of the request model to the content of the field's editor.

    None stands for no value.
    """
    match field.kind:
        case "secret":
            return SecretStr("")
        case "three_way" | "pick" if value is None:
            return None
        case "switch" | "three_way":
            return bool(value)
        case "pick":
            return tuple(str(entry) for entry in value)
        case "builtins" | "filters":
            rows = builtin_rows if field.kind == "builtins" else custom_rows
            return rows(value or ())
    return "" if value is None else _typed_text(field.kind, value)


def _typed_text(kind: Kind, value: Any) -> str:
    match value:
        case list():
            return ", ".join(str(number) for number in value) or NO_INTEGERS
        case Decimal() if kind == "percent":
            return f"{(value * _PERCENT).normalize():f} %"
        case Decimal():
            return f"{value.normalize():f}"
        case timedelta():
            return duration(value)
        case datetime():
            return utc(value, seconds=bool(value.second)).removesuffix(" UTC")
    return str(value)


def problems_by_field(error: GatewayError, rules: Mapping[str, FieldRules]) -> Iterable[Problem]:
    """Split the message of a refused request into problems, each with the path of its field.

    The path is "" for the whole request, and "content_filters.0.pattern" for a field inside a list.
    ``rules`` has the names of the request's fields. The message of a 400 consists of parts such as
    "field: problem", joined by "; ".
    """
    if isinstance(error, InvalidRequestError):
        return error.problems
    if not isinstance(error, BadRequestError):
        return [Problem("", error.message)]
    refused: list[Problem] = []
    for part in error.message.split("; "):
        field, colon, message = part.partition(": ")
        if colon and field.partition(".")[0] in rules:
            refused.append(Problem(field, message))
        elif refused:
            last = refused.pop()
            refused.append(Problem(last.field, f"{last.message}; {part}"))
        else:
            refused.append(Problem("", part))
    return refused


class FormState:
    """The typed texts of one form, and their problems.

    A problem is found by gwtui, a refusal comes from the gateway; both belong to a field, or to the
    form as a whole. Fields are named as in the request model.
    """

    def __init__(self, spec: FormSpec, preview_context: PreviewContext) -> None:
        self.spec = spec
        self.preview_context = preview_context
        self.fields: Mapping[str, Field] = {
            field.name: field for field in spec.fields if field.fixed is None
        }
        self._rules = all_rules(spec.model)
        self._initial: dict[str, Typed] = {
            name: KEEP
            if self._is_missing(name) and field.kind in _CHOICES
            else to_typed(field, spec.initial.get(name))
            for name, field in self.fields.items()
        }
        self._given = dict(spec.initial)
        self._typed = dict(self._initial)
        self._touched: set[str] = set()
        self._settled: set[str] = set()
        self._refused: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        self.refusal = ""
        """Why the request as a whole was refused or not sent; empty if it was not."""
        self.request()

    # What is typed --------------------------------------------------------------------------

    def typed(self, name: str) -> Typed:
        """Return the content of the field's editor."""
        return self._typed[name]

    def put(self, name: str, typed: Typed) -> None:
        """Store what a field's editor contains; clear the errors of this field and of the form."""
        if self._typed[name] == typed:
            return
        self._typed[name] = typed
        self._touched.add(name)
        self._refused = {
            path: problems for path, problems in self._refused.items() if self._owner(path) != name
        }
        self.refusal = ""
        self._suggest()
        self.request()

    def _suggest(self) -> None:
        if self.spec.partial:
            return
        for name, field in self.fields.items():
            if field.suggest is not None and name not in self._touched:
                self._typed[name] = field.suggest(self.values())

    def leave(self, name: str) -> None:
        """Record that the user left the field: from now on a problem is an error, not a warning."""
        self._settled.add(name)

    def forget_secrets(self) -> None:
        """Forget all typed secrets; called when the form closes."""
        self._typed |= {
            name: SecretStr("")
            for name, typed in self._typed.items()
            if isinstance(typed, SecretStr)
        }

    @property
    def changed(self) -> bool:
        """Whether the content of any editor differs from its initial content."""
        return self._typed != self._initial

    # What it means --------------------------------------------------------------------------

    def rules(self, name: str) -> FieldRules:
        """Return the rules of the request model for a field."""
        return self._rules[name]

    def value(self, name: str) -> Any:
        """Return the field's value for the request.

        ABSENT if the field is to be left out, or its content cannot be parsed.
        """
        try:
            return self._read(name)
        except ValueError:
            return ABSENT

    def _is_missing(self, name: str) -> bool:
        is_kept = self.spec.partial and name not in self.spec.initial
        return is_kept and self.fields[name].kind != "secret"

    def is_unknown(self, name: str) -> bool:
        """Return whether the field of an update has no initial value and nothing was entered."""
        return self._is_missing(name) and self._typed[name] == self._initial[name]

    def _read(self, name: str) -> Any:
        typed = self._typed[name]
        if typed == self._initial[name]:
            if name in self._given:
                return self._given[name]
            if self.is_unknown(name):
                return ABSENT
        return to_value(self.fields[name], self._rules[name], typed, self.preview_context.now())

    def values(self) -> dict[str, Any]:
        """Return the values of all fields by name, without those that are ABSENT."""
        return {name: value for name in self.fields if (value := self.value(name)) is not ABSENT}

    def payload(self) -> dict[str, Any]:
        """Return the request body: all given values; of an update only the changed ones."""
        if self.spec.partial:
            return _nested(
                (name, value)
                for name, value in self.values().items()
                if self._typed[name] != self._initial[name]
                and (name not in self._given or not same(value, self._given[name]))
            )
        begun = {name: value for name, value in self._given.items() if name not in self.fields}
        return begun | _nested(
            (name, value)
            for name, value in self.values().items()
            if value is not None or name in self._touched
        )

    # What is wrong --------------------------------------------------------------------------

    def attempt(self) -> RequestModel | None:
        """Return the request to send; None if a field is invalid or an update changes nothing.

        From now on the problems of all fields are shown as errors.
        """
        self._settled.update(self.fields)
        request = self.request()
        loose = [
            text for path, text in self._problems.items() if self._owner(path) not in self.fields
        ]
        self.refusal = "; ".join(loose)
        if request is None and not self._problems:
            self.refusal = NOTHING_CHANGED
        return request

    def problem(self, name: str) -> Cell | None:
        """Return the problem or refusal to show at a field; None if there is none.

        No problem is shown until the user has edited or left the field. It is a warning until the
        user leaves the field, an error from then on.
        """
        message = next(self._messages(name), None)
        if message is None or name not in self._touched | self._settled:
            return None
        return Cell(message, "bad" if name in self._settled else "warn")

    def _messages(self, name: str) -> Iterator[str]:
        for path, message in (*self._refused.items(), *self._problems.items()):
            if self._owner(path) == name:
                yield f"{_place(path, self._typed.get(name))}{message}"

    @property
    def first_problem(self) -> str | None:
        """The name of the first field with a problem or refusal; None if no field has one."""
        wrong = {self._owner(path) for path in (*self._problems, *self._refused)}
        return next((name for name in self.fields if name in wrong), None)

    def refuse(self, error: GatewayError) -> None:
        """Store a refusal: problems of fields at these fields, all others in ``refusal``."""
        rest: list[str] = []
        for problem in problems_by_field(error, self._rules):
            if self._owner(problem.field) in self.fields:
                self._settled.add(self._owner(problem.field))
                self._refused[problem.field] = safe_text(problem.message, 200)
            else:
                rest.append(str(problem))
        self.refusal = safe_text("; ".join(rest), 300)
        if isinstance(error, ConnectFailedError):
            self.refusal = f"{self.refusal.rstrip('.')}. Nothing was sent."
        if rest and error.request_id:
            self.refusal += f" (request {safe_text(error.request_id, 60)})"

    def note(self, name: str) -> Cell | None:
        """Return the explanation of a field's present value, such as "in 30 days".

        None if the field has none, or its content cannot be parsed.
        """
        if self.is_unknown(name):
            return Cell("left as it is unless you enter a value", "muted")
        preview = self.fields[name].preview
        value = self.value(name)
        if preview is None or value is ABSENT:
            return None
        return preview(value, self.values(), self.preview_context)

    def request(self) -> RequestModel | None:
        """Return the validated request; None if a field is invalid or an update changes nothing.

        Checks all fields, and stores their problems.
        """
        self._problems = {}
        for name in self.fields:
            try:
                self._read(name)
            except ValueError as error:
                self._problems[name] = str(error)
        payload = self.payload()
        if self.spec.partial and not payload:
            return None
        try:
            request = self.spec.model.model_validate(payload)
            invalid = () if self.spec.check is None else self.spec.check(request)
        except ValidationError as error:
            request, invalid = None, problems(error)
        for problem in invalid:
            self._problems.setdefault(problem.field, problem.message)
        return None if self._problems else request

    def _owner(self, path: str) -> str:
        whole = path.partition(".")[0]
        if path in self.fields or whole in self.fields:
            return path if path in self.fields else whole
        return next((name for name in self.fields if name.startswith(f"{whole}.")), whole)


def _nested(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in values:
        whole, dot, part = name.partition(".")
        if not dot:
            nested[name] = value
        elif value is not None:
            nested.setdefault(whole, {})[part] = value
    return nested


def _place(path: str, typed: Typed) -> str:
    _, _, rest = path.partition(".")
    place, _, part = rest.partition(".")
    if not place.isdecimal():
        return ""
    entry = typed[int(place)] if isinstance(typed, tuple) and int(place) < len(typed) else None
    word = entry.slug if isinstance(entry, BuiltinRow) else entry
    if isinstance(word, str):
        return f"“{safe_line(word, 40)}”: "
    noun = "filter" if isinstance(entry, CustomRow) else "entry"
    return f"{noun} {int(place) + 1}{', ' + part if part else ''}: "
