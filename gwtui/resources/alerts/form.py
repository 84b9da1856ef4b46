"""The forms of alerts: a rule, a silence, the effects. The models have the bounds and units."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from itertools import chain, count
from typing import Annotated, Any

from pydantic import Field

from gwtui.contract.request import RequestModel, field_rules
from gwtui.crud import fields
from gwtui.crud.fields import Choices, Facts
from gwtui.crud.form import FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.alert_rules import AlertRule, BoundRule, default_rules
from gwtui.domain.times import local_preview, utc
from gwtui.local.alerts import AlertEffects

_ORDER = (
    "name",
    "window",
    "percentile",
    "interval",
    "fires_at",
    "clears_at",
    "within",
    "at_least",
    "fire_after",
    "clear_after",
    "keep_for",
    "severity",
    "scope",
    "only",
    "profile",
    "enabled",
)
_LABELS = {
    "name": "Name",
    "window": "Uptime of the last",
    "percentile": "Percentile",
    "interval": "Budget",
    "within": "Expires within",
    "at_least": "Changes by",
    "fire_after": "Must last",
    "clear_after": "Must be well for",
    "keep_for": "Shown for",
    "severity": "Severity",
    "scope": "Watches",
    "only": "Which one",
    "profile": "Only on profile",
    "enabled": "On",
}
_SIDES = {"below": ("Fires below", "Clears from"), "above": ("Fires from", "Clears down to")}


class SilenceRequest(RequestModel):
    """For how long alerts are silenced."""

    lasts: Annotated[timedelta, Field(ge=timedelta(minutes=1), le=timedelta(days=30))] = Field(
        description="then it is told again, if it still lasts"
    )


class EffectsRequest(RequestModel):
    """The effects as a form fills them in."""

    toast: bool = Field(True, description="a short notice on the screen")
    title: bool = Field(True, description="the number of alerts in the terminal's title")
    bell: bool = Field(False, description="the terminal's bell")
    command: Annotated[str, Field(max_length=4000)] | None = Field(
        None,
        description="a program and its arguments, a line each; it gets the alert as JSON on stdin",
    )

    @classmethod
    def values(cls, effects: AlertEffects) -> dict[str, Any]:
        """What a form begins from."""
        command = None if effects.command is None else "\n".join(effects.command)
        return {**effects.model_dump(exclude={"command"}), "command": command}

    def effects(self) -> AlertEffects:
        """As the file holds them. Raises ValidationError."""
        lines = [line for line in (self.command or "").splitlines() if line.strip()]
        given = self.model_dump(exclude={"command"})
        return AlertEffects.model_validate({**given, "command": lines or None})


def rule_form(
    rule: AlertRule | None,
    model: type[AlertRule],
    choices: Choices,
    taken: Collection[str] = (),
) -> FormSpec:
    """The form of a rule; None is a new one, which begins from the built-in rule of its kind.

    ``taken`` are names of others: a new one begins with a name of its own.
    """
    begun = rule or next(one for one in default_rules().values() if type(one) is model)
    initial = {name: getattr(begun, name) for name in model.model_fields}
    if rule is None:
        numbered = (f"{begun.name} {number}" for number in count(2))
        free = next(name for name in chain([begun.name], numbered) if name not in taken)
        initial |= {"enabled": True, "name": free}
    return FormSpec(
        title=f"{'New rule' if rule is None else 'Rule'} · {model.kind.title}",
        model=model,
        fields=[_field(model, name, choices) for name in _ORDER if _edited(model, name)],
        submit="Save rule",
        sends="saves",
        initial=initial,
    )


def silence_form(count: int) -> FormSpec:
    """For how long."""
    what = "the alert" if count == 1 else f"{count} alerts"
    return FormSpec(
        title=f"Silence {what}",
        model=SilenceRequest,
        fields=(fields.Field("lasts", "For", placeholder="such as 2 h", preview=_until),),
        submit="Silence",
        sends="silences",
        initial={"lasts": timedelta(hours=1)},
    )


def effects_form(effects: AlertEffects) -> FormSpec:
    """What an alert does."""
    return FormSpec(
        title="What an alert does",
        model=EffectsRequest,
        fields=(
            fields.Field("toast", "Notice"),
            fields.Field("title", "Terminal title"),
            fields.Field("bell", "Bell"),
            fields.Field("command", "Command", kind="lines", placeholder="none"),
        ),
        submit="Save effects",
        sends="saves",
        initial=EffectsRequest.values(effects),
    )


def _edited(model: type[AlertRule], name: str) -> bool:
    """Whether a kind has a field; a choice of one is none."""
    if name not in model.model_fields:
        return False
    if name == "only":
        return len(field_rules(model)["scope"].choices) > 1
    return name != "scope" or len(field_rules(model)["scope"].choices) > 1


def _field(model: type[AlertRule], name: str, choices: Choices) -> fields.Field:
    rules = field_rules(model)[name]
    label = _LABELS.get(name, name)
    if name in {"fires_at", "clears_at"} and issubclass(model, BoundRule):
        label = _SIDES[model.kind.direction][name == "clears_at"]
    if rules.unit:
        label = f"{label} ({rules.unit})"
    if name == "only":
        return fields.Field(name, label, choices=choices, placeholder="{form.choices} lists them")
    hints = {"profile": "every profile", "fire_after": "such as 5 min", "clear_after": "5 min"}
    return fields.Field(name, label, placeholder=hints.get(name, ""))


def _until(value: timedelta, _values: Mapping[str, Any], facts: Facts) -> Cell:
    end = facts.now() + value
    return Cell(f"until {utc(end)} · here {local_preview(end, facts.zone)}")
