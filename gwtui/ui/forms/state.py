"""What a form knows: typed texts, values, refusals. No widgets, so that every rule is testable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from gwtui.client.errors import (
    BadRequestError,
    ConnectFailedError,
    GatewayError,
    InvalidRequestError,
)
from gwtui.contract.request import FieldRules, Problem, RequestModel, field_rules, problems
from gwtui.domain.diffs import ABSENT, same
from gwtui.domain.safe_text import safe_text
from gwtui.ui.forms.fields import Facts, FormField, FormSpec
from gwtui.ui.forms.reading import Typed, to_typed, to_value
from gwtui.ui.resources.spec import Cell, Tone

NOTHING_CHANGED = "Nothing was changed yet."
_CLOSE_TO_FULL = 0.9


class FormState:
    """One form being filled in."""

    def __init__(self, spec: FormSpec, facts: Facts) -> None:
        self.spec = spec
        self.facts = facts
        self.fields: Mapping[str, FormField] = {
            field.name: field for field in spec.every_field() if field.fixed is None
        }
        self._rules = field_rules(spec.model)
        self._initial: dict[str, Typed] = {
            name: to_typed(field, spec.initial.get(name)) for name, field in self.fields.items()
        }
        self._typed = dict(self._initial)
        self._touched: set[str] = set()
        self._settled: set[str] = set()
        self._refused: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        self.refusal = ""
        """What the gateway said about the whole request."""
        self._check()

    # What is typed --------------------------------------------------------------------------

    def typed(self, name: str) -> Typed:
        """What the field's editor holds."""
        return self._typed[name]

    def put(self, name: str, typed: Typed) -> None:
        """The person typed or chose; a refusal of the old text no longer counts."""
        if self._typed[name] == typed:
            return
        self._typed[name] = typed
        self._touched.add(name)
        self._refused.pop(name, None)
        self.refusal = ""
        self._check()

    def leave(self, name: str) -> None:
        """The person left the field: what is wrong with it may be said plainly."""
        self._settled.add(name)

    @property
    def changed(self) -> bool:
        """Whether anything differs from what the form started with."""
        return self._typed != self._initial

    # What it means --------------------------------------------------------------------------

    def rules(self, name: str) -> FieldRules:
        """The model's rules of a field."""
        return self._rules[name]

    def value(self, name: str) -> Any:
        """The field's value, ABSENT while it cannot be read."""
        try:
            return self._read(name)
        except ValueError:
            return ABSENT

    def is_unknown(self, name: str) -> bool:
        """Whether the gateway did not say what the field is, and nothing was typed instead."""
        return (
            self.spec.partial
            and name not in self.spec.initial
            and self._typed[name] == self._initial[name]
        )

    def _read(self, name: str) -> Any:
        typed = self._typed[name]
        if typed == self._initial[name]:
            if name in self.spec.initial:
                return self.spec.initial[name]
            if self.is_unknown(name):
                return ABSENT
        return to_value(self.fields[name], self._rules[name], typed, self.facts.now())

    def values(self) -> dict[str, Any]:
        """Every value that can be read."""
        return {name: value for name in self.fields if (value := self.value(name)) is not ABSENT}

    def payload(self) -> dict[str, Any]:
        """The body of the request: all that was given, or for an update all that changed."""
        if self.spec.partial:
            return {
                name: value
                for name, value in self.values().items()
                if self._typed[name] != self._initial[name]
                and (name not in self.spec.initial or not same(value, self.spec.initial[name]))
            }
        return {
            name: value
            for name, value in self.values().items()
            if value is not None or name in self._touched
        }

    def request(self) -> RequestModel | None:
        """The valid request, None while something is wrong."""
        self._check()
        if self._problems or (self.spec.partial and not self.payload()):
            return None
        return self.spec.model.model_validate(self.payload())

    # What is wrong --------------------------------------------------------------------------

    def attempt(self) -> bool:
        """Submitting was asked for: everything wrong is said from now on. Whether all is well."""
        self._settled.update(self.fields)
        self._check()
        if self.spec.partial and not self._problems and not self.payload():
            self.refusal = NOTHING_CHANGED
            return False
        loose = [text for name, text in self._problems.items() if name not in self.fields]
        self.refusal = "; ".join(loose)
        return not self._problems

    def problem(self, name: str) -> Cell | None:
        """What is wrong with a field, once it was touched; a hint until it was left."""
        message = self._refused.get(name) or self._problems.get(name)
        if message is None or name not in self._touched | self._settled:
            return None
        return Cell(message, "bad" if name in self._settled else "warn")

    @property
    def first_problem(self) -> str | None:
        """The first field that something is wrong with."""
        wrong = {**self._problems, **self._refused}
        return next((name for name in self.fields if name in wrong), None)

    def refuse(self, error: GatewayError) -> None:
        """The gateway, or the client for it, refused: on the fields it names, else on the form."""
        rest: list[str] = []
        for problem in _named(error, self._rules):
            if problem.field in self.fields:
                self._settled.add(problem.field)
                self._refused[problem.field] = safe_text(problem.message, 200)
            else:
                rest.append(str(problem))
        self.refusal = safe_text("; ".join(rest), 300)
        if isinstance(error, ConnectFailedError):
            self.refusal = f"{self.refusal.rstrip('.')}. Nothing was sent."
        if rest and error.request_id:
            self.refusal += f" (request {safe_text(error.request_id, 60)})"

    def note(self, name: str) -> Cell | None:
        """What the value means, from the field's preview."""
        if self.is_unknown(name):
            return Cell("unknown: the gateway did not say; stays as it is", "muted")
        preview = self.fields[name].preview
        value = self.value(name)
        if preview is None or value is ABSENT:
            return None
        return preview(value, self.values(), self.facts)

    def counter(self, name: str) -> Cell | None:
        """The length of a text against its limits; None where the model has none."""
        rules = self._rules[name]
        typed = self._typed[name]
        if not isinstance(typed, str) or self.fields[name].kind != "text":
            return None
        length = len(typed.strip())
        if rules.max_length is not None:
            over = length > rules.max_length
            near = length >= rules.max_length * _CLOSE_TO_FULL
            tone: Tone = "bad" if over else "warn" if near else "muted"
            return Cell(f"{length}/{rules.max_length}", tone)
        if rules.min_length is not None and (length or not rules.nullable):
            short = length < rules.min_length
            return Cell(f"{length}, min {rules.min_length}" if short else str(length), "muted")
        return None

    def _check(self) -> None:
        """Ask the request model what is wrong."""
        found: dict[str, str] = {}
        for name in self.fields:
            try:
                self._read(name)
            except ValueError as error:
                found[name] = str(error)
        try:
            if not self.spec.partial or self.payload():
                self.spec.model.model_validate(self.payload())
        except ValidationError as error:
            for problem in problems(error):
                found.setdefault(problem.field, problem.message)
        self._problems = found


def _named(error: GatewayError, rules: Mapping[str, FieldRules]) -> Iterable[Problem]:
    """The refusal by field. A 400 reads "field: message", several of them joined by "; "."""
    if isinstance(error, InvalidRequestError):
        return error.problems
    if not isinstance(error, BadRequestError):
        return [Problem("", error.message)]
    found: list[Problem] = []
    for part in error.message.split("; "):
        field, colon, message = part.partition(": ")
        if colon and field in rules:
            found.append(Problem(field, message))
        elif found:
            last = found.pop()
            found.append(Problem(last.field, f"{last.message}; {part}"))
        else:
            found.append(Problem("", part))
    return found
