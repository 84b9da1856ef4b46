"""The forms of a guardrail. Rules come from the request models; here is what values mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from gwtui.contract.content_filters import PROMPT_INJECTION
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrail_rules import never_sent
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail, UpdateGuardrailRequest
from gwtui.contract.request import Problem
from gwtui.contract.values import Region
from gwtui.crud.form import (
    Choices,
    CustomFilterField,
    Facts,
    FieldGroup,
    FilterListField,
    FormField,
    FormSpec,
    MultiPickField,
    PickOption,
    Preview,
    TextAreaField,
    ThreeWaySwitch,
)
from gwtui.crud.resource import Cell
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.resources.guardrails.effect import LiveEffect
from gwtui.resources.guardrails.fields import EMPTY, INHERIT, known_values, labels, shown_name
from gwtui.resources.guardrails.view import display_name
from gwtui.watch.feeds.guardrails import GuardrailRow

_PERIODS = {"daily": "each UTC day", "weekly": "each UTC week", "monthly": "each UTC month"}
_DEPRECATED = "enforce_zdr"
_HINT = Cell("F2 shows which endpoints remain", "muted")
_DATA_SWITCHES = (
    "enable_free_model_training",
    "enable_free_model_publication",
    "enable_paid_model_training",
    "allow_safety_retention_google",
    "allow_safety_retention_other",
)


@dataclass(frozen=True, slots=True)
class GuardrailSources:
    """What the form of a guardrail needs to know of the gateway."""

    dialect: Dialect
    models: Choices
    providers: Choices
    effect: LiveEffect


def create_form(workspace: str | None, sources: GuardrailSources) -> FormSpec:
    """The form of a new guardrail; ``workspace`` is the one the list is narrowed to."""
    names = labels(sources.dialect)
    general = FieldGroup(
        "General",
        (
            FormField("name", names["name"], "text"),
            TextAreaField("description", names["description"]),
            FormField(
                "workspace_id",
                names["workspace_id"],
                "workspace",
                help="the workspace that the guardrail belongs to; it cannot be moved later",
                empty=EMPTY["workspace_id"],
            ),
        ),
    )
    return FormSpec(
        title="New guardrail",
        model=CreateGuardrailRequest,
        fields=(general, *_rules(sources, deprecated=None)),
        submit="Create guardrail",
        initial={} if workspace is None else {"workspace_id": workspace},
        check=_check(sources.dialect),
        unknown_help="The guardrail may have been created. Look at the list before you try again.",
    )


def edit_form(row: GuardrailRow, sources: GuardrailSources) -> FormSpec:
    """The form of an existing guardrail, or of a default one that its first change makes."""
    guardrail = row.guardrail
    names = labels(sources.dialect)
    name = FormField("name", names["name"], "text")
    if row.is_default:
        fixed = (display_name(row), "the name of a default guardrail cannot be changed")
        name = FormField("name", names["name"], "text", fixed=fixed)
    title = display_name(row) if row.is_default else shown_name(guardrail)
    general = FieldGroup("General", (name, TextAreaField("description", names["description"])))
    return FormSpec(
        title=f"{'Edit' if row.made else 'Set up'} guardrail {title}",
        model=UpdateGuardrailRequest,
        fields=(general, *_rules(sources, deprecated=guardrail)),
        submit="Review changes",
        initial=known_values(guardrail, sources.dialect),
        partial=True,
        check=_check(sources.dialect),
        unknown_help="The change may have been made or not. Look at the guardrail before you try "
        "again.",
    )


def _check(dialect: Dialect) -> Callable[[Any], Sequence[Problem]]:
    return lambda request: never_sent(request, dialect)


def _rules(sources: GuardrailSources, *, deprecated: Guardrail | None) -> tuple[FieldGroup, ...]:
    """The parts that creation and change have in common."""
    dialect = sources.dialect
    groups = [
        _routing(sources),
        _cap(dialect),
        _retention(sources, deprecated),
        _filters(dialect),
    ]
    data = _data(dialect)
    return (*groups, data) if data.fields else tuple(groups)


def _routing(sources: GuardrailSources) -> FieldGroup:
    names = labels(sources.dialect)

    def pick(name: str, noun: str, choices: Choices) -> FormField:
        allowed = name.startswith("allowed")
        return MultiPickField(
            name,
            names[name],
            choices=choices,
            empty=EMPTY[name] if allowed else "none",
            chosen="only" if allowed else "never",
            noun=noun,
            free=True,
            preview=_live(sources.effect, always=name == "allowed_models"),
        )

    return FieldGroup(
        "Routing",
        (
            pick("allowed_models", "models", sources.models),
            pick("ignored_models", "models", sources.models),
            pick("allowed_providers", "providers", sources.providers),
            pick("ignored_providers", "providers", sources.providers),
        ),
    )


def _live(effect: LiveEffect, *, always: bool) -> Preview:
    """What all rules together leave of the catalog; below lists that say something, or always."""

    def preview(value: Any, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        if value is None and not always:
            return None
        return effect.note(values) or (_HINT if always else None)

    return preview


def _cap(dialect: Dialect) -> FieldGroup:
    names = labels(dialect)
    return FieldGroup(
        "Cap",
        (
            FormField(
                "limit_usd",
                names["limit_usd"],
                "usd",
                placeholder="such as 25 or 1,000.50; empty for none",
                preview=_limit(together=dialect.cap_needs_interval),
            ),
            FormField(
                "reset_interval",
                names["reset_interval"],
                "choice",
                empty=EMPTY["reset_interval"],
                preview=_reset,
            ),
            FormField("include_byok_in_budgets", names["include_byok_in_budgets"], "switch"),
        ),
    )


def _limit(*, together: bool) -> Preview:
    def preview(value: Decimal | None, values: Mapping[str, Any], _facts: Facts) -> Cell:
        if value is None:
            end = "; a cap is given together with its interval" if together else ""
            return Cell(f"no cap{end}", "muted")
        period = _PERIODS.get(values.get("reset_interval") or "", "in all, it never starts over")
        return Cell(f"each key and each member may spend {usd(value)} {period}")

    return preview


def _reset(value: str | None, values: Mapping[str, Any], facts: Facts) -> Cell:
    if values.get("limit_usd") is None:
        return Cell("matters only with a spending cap", "muted")
    if value is None:
        return Cell("the cap never starts over")
    return Cell(f"next reset {describe_reset(value, facts.now())}")


def _retention(sources: GuardrailSources, guardrail: Guardrail | None) -> FieldGroup:
    names = labels(sources.dialect)
    switches: list[FormField] = [
        ThreeWaySwitch(
            name,
            label,
            help=f"{label.removeprefix('ZDR ')}: route only to endpoints that keep no data",
            empty=INHERIT,
            preview=_switch(sources.effect),
        )
        for name, label in names.items()
        if name.startswith("enforce_zdr_")
    ]
    value = None if guardrail is None else guardrail.enforce_zdr
    word = "not set" if value is None else "on" if value else "off"
    why = "deprecated: the switches above decide; it is never sent from here"
    switches.append(FormField(_DEPRECATED, _DEPRECATED, "three_way", fixed=(word, why)))
    return FieldGroup("Retention", tuple(switches))


def _switch(effect: LiveEffect) -> Preview:
    """While a switch is on, what all rules leave; otherwise what the field is for."""
    return lambda value, values, _facts: effect.note(values) if value else None


def _filters(dialect: Dialect) -> FieldGroup:
    names = labels(dialect)
    return FieldGroup(
        "Filters",
        (
            FilterListField(
                "content_filter_builtins", names["content_filter_builtins"], dialect=dialect
            ),
            CustomFilterField("content_filters", names["content_filters"]),
        ),
    )


def _data(dialect: Dialect) -> FieldGroup:
    """What only some services have; empty where this one has none of it."""
    names = labels(dialect)
    fields: list[FormField] = [
        ThreeWaySwitch(name, names[name], empty=INHERIT, yes="allow", no="refuse")
        for name in _DATA_SWITCHES
        if name in names
    ]
    if "allowed_data_regions" in names:
        fields.append(
            MultiPickField(
                "allowed_data_regions",
                names["allowed_data_regions"],
                choices=_regions,
                empty=EMPTY["allowed_data_regions"],
                chosen="only",
                noun="regions",
            )
        )
    return FieldGroup("Data use", tuple(fields))


async def _regions() -> Sequence[PickOption]:
    return [PickOption(region) for region in get_args(Region)]


@dataclass(frozen=True, slots=True)
class BuiltinRow:
    """A builtin filter that is on."""

    slug: str
    action: str
    scan_scope: str = ""
    """Empty when nothing was said: the gateway then reads all messages."""

    def value(self) -> dict[str, str]:
        """The entry of the request."""
        found = {"slug": self.slug, "action": self.action}
        if self.scan_scope and self.slug == PROMPT_INJECTION:
            found["scan_scope"] = self.scan_scope
        return found


@dataclass(frozen=True, slots=True)
class CustomRow:
    """A custom filter."""

    pattern: str
    action: str
    label: str = ""

    def value(self) -> dict[str, str]:
        """The entry of the request."""
        found = {"pattern": self.pattern, "action": self.action}
        if self.label:
            found["label"] = self.label
        return found


def builtin_rows(entries: Iterable[Any]) -> tuple[BuiltinRow, ...]:
    """Rows of entries that are mappings or models; ones that this program does not know stay."""
    return tuple(
        BuiltinRow(_part(entry, "slug"), _part(entry, "action"), _part(entry, "scan_scope"))
        for entry in entries
    )


def custom_rows(entries: Iterable[Any]) -> tuple[CustomRow, ...]:
    """Rows of entries that are mappings or models."""
    return tuple(
        CustomRow(_part(entry, "pattern"), _part(entry, "action"), _part(entry, "label"))
        for entry in entries
    )


def _part(entry: Any, name: str) -> str:
    value = entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)
    return "" if value is None else str(value)
