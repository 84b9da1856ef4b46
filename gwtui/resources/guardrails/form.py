"""The fields and forms of a guardrail: contract "Guardrail"; extended contract section 5.

Bounds and choices come from the request models; here is what a field is called and how it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any, get_args

from pydantic import ValidationError

from gwtui.contract.content_filters import (
    PROMPT_INJECTION,
    BuiltinFilter,
    BuiltinFilterRequest,
    CustomFilter,
    CustomFilterRequest,
)
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    UpdateGuardrailRequest,
    never_sent,
)
from gwtui.contract.models import Model
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.values import Region
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, Format, PlanContext, workspace_field
from gwtui.crud.form import (
    Choices,
    CustomFilterField,
    Facts,
    FieldGroup,
    FilterListField,
    FormContext,
    FormField,
    FormSpec,
    MultiPickField,
    PickOption,
    Preview,
    TextAreaField,
    ThreeWaySwitch,
)
from gwtui.crud.plan_text import MOST_NAMED, NAME_LIMIT, quoted, several
from gwtui.crud.resource import Cell
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.resources.choices import value_now
from gwtui.resources.guardrails.effect import LiveEffect
from gwtui.resources.guardrails.view import display_name
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.models import catalog_feed, models_feed, providers_feed
from gwtui.watch.hub import Scope

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

LISTS = ("allowed_models", "ignored_models", "allowed_providers", "ignored_providers")
"""The lists that decide which endpoints remain."""
_FILTERS = ("content_filter_builtins", "content_filters")
_PATTERN_LIMIT = 120


class _FieldsWithFilters(Fields):
    """Content filters come in another form than the one in which a request carries them."""

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        """Filters as requests, those of an unknown kind included; a list with a gap is missing."""
        known = super().read(model, names)
        for name in _FILTERS:
            filters = known.get(name)
            if filters is not None and any(one.gaps for one in filters):
                # A list is replaced whole: it would lose the entry that is not whole.
                del known[name]
            elif filters is not None:
                known[name] = [_as_request(one) for one in filters]
        return known


def _as_request(one: BuiltinFilter | CustomFilter) -> RequestModel:
    """What the gateway has is sent back as it is, even where this program does not know it."""
    model, names = (
        (BuiltinFilterRequest, ("slug", "action", "scan_scope"))
        if isinstance(one, BuiltinFilter)
        else (CustomFilterRequest, ("pattern", "action", "label"))
    )
    values = {name: value for name in names if (value := getattr(one, name)) is not None}
    try:
        return model.model_validate(values)
    except ValidationError:
        return model.model_construct(_fields_set=set(values), **values)


@cache
def fields_of(dialect: Dialect) -> Fields:
    """The fields that the dialect knows, vendors by their names."""
    absent = dialect.absent_fields.get("Guardrail", frozenset())
    return _FieldsWithFilters(*(one for one in _declared(dialect) if one.name not in absent))


def _declared(dialect: Dialect) -> Iterator[Field]:
    first, second, third = dialect.vendors
    yield Field("name", "Name")
    yield workspace_field(editable=False)
    yield Field("description", "Description")
    yield _list("allowed_models", "Allowed models", empty="every model")
    yield _list("ignored_models", "Ignored models")
    yield _list("allowed_providers", "Allowed providers", empty="every provider")
    yield _list("ignored_providers", "Ignored providers")
    yield fields.limit_field("limit_usd", "Spending cap", "no cap")
    yield Field("reset_interval", "Cap resets", _reset_text, "never")
    yield Field("include_byok_in_budgets", "BYOK counts to cap", fields.yes_no)
    yield _switch_field("enforce_zdr_vendor_a", f"ZDR {first}")
    yield _switch_field("enforce_zdr_vendor_b", f"ZDR {second}")
    yield _switch_field("enforce_zdr_vendor_c", f"ZDR {third}")
    yield _switch_field("enforce_zdr_xai", "ZDR xAI")
    yield _switch_field("enforce_zdr_other", "ZDR other vendors")
    yield _list("content_filter_builtins", "Builtin filters", _each(builtin_filter_text))
    yield _list("content_filters", "Custom filters", _each(custom_filter_text))
    yield _list("allowed_data_regions", "Data regions", empty="everywhere")
    yield _switch_field("enable_free_model_publication", "Free models may publish")
    yield _switch_field("enable_free_model_training", "Free models may train")
    yield _switch_field("enable_paid_model_training", "Paid models may train")
    yield _switch_field("allow_safety_retention_google", "Safety retention Google")
    yield _switch_field("allow_safety_retention_other", "Safety retention others")


def _list(name: str, label: str, format: Format = fields.texts, *, empty: str = "none") -> Field:
    return Field(name, label, format, empty, blank=([],))


def _switch_field(name: str, label: str) -> Field:
    """On, off, or left to what else applies."""
    return Field(name, label, fields.on_off, "inherit")


def _reset_text(value: Any, context: PlanContext) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, context.now)}"


def builtin_filter_text(one: BuiltinFilter | BuiltinFilterRequest) -> str:
    """A builtin filter in a few words: "email: redact"."""
    scope = one.slug == PROMPT_INJECTION and one.scan_scope == "user_only"
    end = " (user messages only)" if scope else ""
    return f"{safe_line(one.slug, 40)}: {safe_line(one.action, 40)}{end}"


def custom_filter_text(one: CustomFilter | CustomFilterRequest) -> str:
    """A custom filter in a few words: "redact /gw-[0-9]+/ as [KEY]"."""
    end = f" as {safe_line(one.label, 40)}" if one.label else ""
    return f"{safe_line(one.action, 40)} /{safe_line(one.pattern, _PATTERN_LIMIT)}/{end}"


def _each(describe: Callable[[Any], str]) -> Format:
    def format(filters: Sequence[Any], _context: PlanContext) -> str:
        return several([describe(one) for one in filters], MOST_NAMED)

    return format


FIELDS = _FieldsWithFilters(*_declared(GENERIC))
"""Every field that some service has, the vendors by the reference's names."""


def create_form(context: FormContext) -> FormSpec:
    """The form of a new guardrail, in the workspace that the list is narrowed to."""
    names = fields_of(context.dialect).labels
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
                empty=FIELDS.empty("workspace_id"),
            ),
        ),
    )
    return FormSpec(
        title="New guardrail",
        model=CreateGuardrailRequest,
        fields=(general, *_rules(context, None)),
        submit="Create guardrail",
        initial=context.initial_workspace,
        check=_check(context.dialect),
        unknown_help="The guardrail may have been created. Look at the list before you try again.",
    )


def edit_form(row: GuardrailRow, context: FormContext) -> FormSpec:
    """The form of an existing guardrail, or of a default one that its first change makes."""
    guardrail, fields = row.guardrail, fields_of(context.dialect)
    name = FormField("name", fields.labels["name"], "text")
    title = quoted(guardrail.name, guardrail.id)
    if row.is_default:
        title = display_name(row)
        name = replace(name, fixed=(title, "the name of a default guardrail cannot be changed"))
    general = FieldGroup(
        "General", (name, TextAreaField("description", fields.labels["description"]))
    )
    return FormSpec(
        title=f"{'Edit' if row.made else 'Set up'} guardrail {title}",
        model=UpdateGuardrailRequest,
        fields=(general, *_rules(context, guardrail)),
        submit="Review changes",
        initial=fields.known(guardrail),
        partial=True,
        check=_check(context.dialect),
        unknown_help="The change may have been made or not. Look at the guardrail before you try "
        "again.",
    )


def _check(dialect: Dialect) -> Callable[[Any], Sequence[Problem]]:
    return lambda request: never_sent(request, dialect)


def _rules(context: FormContext, present: Guardrail | None) -> tuple[FieldGroup, ...]:
    """The parts that creation and change have in common; ``present`` is what is changed."""
    catalog = catalog_feed(context.hub)
    effect = LiveEffect(lambda: catalog.state.value, context.dialect)
    groups = (
        _routing(context, present, effect),
        _cap(context.dialect),
        _retention(context.dialect, present, effect),
        _filters(context.dialect),
        _data(context.dialect),
    )
    return tuple(group for group in groups if group.fields)


def _routing(context: FormContext, present: Guardrail | None, effect: LiveEffect) -> FieldGroup:
    models, providers = _models(context, present), _providers(context)

    def pick(name: str, noun: str, choices: Choices) -> FormField:
        return MultiPickField(
            name,
            FIELDS.labels[name],
            choices=choices,
            empty=FIELDS.empty(name),
            chosen="only" if name.startswith("allowed") else "never",
            noun=noun,
            free=True,
            preview=_live(effect, always=name == "allowed_models"),
        )

    return FieldGroup(
        "Routing",
        (
            pick("allowed_models", "models", models),
            pick("ignored_models", "models", models),
            pick("allowed_providers", "providers", providers),
            pick("ignored_providers", "providers", providers),
        ),
    )


def _models(context: FormContext, present: Guardrail | None) -> Choices:
    held = frozenset(
        entry
        for entries in (present and present.allowed_models, present and present.ignored_models)
        for entry in entries or ()
    )

    async def read() -> Sequence[PickOption]:
        return model_options(await value_now(models_feed(context.hub, Scope())), held)

    return read


def model_options(models: Sequence[Model], present: frozenset[str]) -> list[PickOption]:
    """One option for each model with its variants: the slug that they share.

    The gateway answers with that slug whatever was sent. An entry that names a model by another
    identifier keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", NAME_LIMIT)
        note = safe_line(model.id or "", NAME_LIMIT)
        if shared:
            options.setdefault(shared, PickOption(shared, title, note))
        if model.id in present and model.id:
            own = PickOption(model.id, title, f"{note}, by its identifier")
            options.setdefault(model.id, own)
    return sorted(options.values(), key=lambda option: option.title.casefold())


def _providers(context: FormContext) -> Choices:
    """One option for each provider, by its slug."""

    async def read() -> Sequence[PickOption]:
        found = await value_now(providers_feed(context.hub, Scope()))
        return [
            PickOption(
                one.slug,
                safe_line(one.name or one.slug, NAME_LIMIT),
                safe_line(one.slug, NAME_LIMIT),
            )
            for one in sorted(found, key=lambda one: (one.name or "").casefold())
            if one.slug
        ]

    return read


def _live(effect: LiveEffect, *, always: bool) -> Preview:
    """What all rules together leave of the catalog, below lists with entries, or always."""

    def preview(value: Any, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        if value is None and not always:
            return None
        return effect.note(values) or (_HINT if always else None)

    return preview


def _cap(dialect: Dialect) -> FieldGroup:
    names = FIELDS.labels
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
                empty=FIELDS.empty("reset_interval"),
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


def _retention(dialect: Dialect, guardrail: Guardrail | None, effect: LiveEffect) -> FieldGroup:
    switches: list[FormField] = [
        ThreeWaySwitch(
            name,
            label,
            help=f"{label.removeprefix('ZDR ')}: route only to endpoints that keep no data",
            empty=FIELDS.empty(name),
            preview=_switch(effect),
        )
        for name, label in fields_of(dialect).labels.items()
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
    names = FIELDS.labels
    return FieldGroup(
        "Filters",
        (
            FilterListField(
                "content_filter_builtins", names["content_filter_builtins"], dialect=dialect
            ),
            CustomFilterField("content_filters", names["content_filters"], dialect=dialect),
        ),
    )


def _data(dialect: Dialect) -> FieldGroup:
    """What only some services have; empty where this one has none of it."""
    names = fields_of(dialect).labels
    fields: list[FormField] = [
        ThreeWaySwitch(name, names[name], empty=FIELDS.empty(name), yes="allow", no="refuse")
        for name in _DATA_SWITCHES
        if name in names
    ]
    if "allowed_data_regions" in names:
        fields.append(
            MultiPickField(
                "allowed_data_regions",
                names["allowed_data_regions"],
                choices=_regions,
                empty=FIELDS.empty("allowed_data_regions"),
                chosen="only",
                noun="regions",
            )
        )
    return FieldGroup("Data use", tuple(fields))


async def _regions() -> Sequence[PickOption]:
    return [PickOption(region) for region in get_args(Region)]
