"""The fields of a guardrail.

See "Guardrail" in the contract and section 5 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.values import Region
from gwtui.crud.fields import (
    ON_OFF,
    Field,
    Fields,
    Format,
    ListColumn,
    PickOption,
    PlanContext,
    Preview,
    PreviewContext,
    limit_field,
    reset_field,
    workspace_field,
)
from gwtui.crud.plan_text import MOST_NAMED
from gwtui.crud.resource import Cell
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import RESET_PERIODS

LISTS = ("allowed_models", "ignored_models", "allowed_providers", "ignored_providers")
"""The list fields that decide which endpoints remain."""
FILTERS = ("content_filter_builtins", "content_filters")
_PATTERN_LIMIT = 120


def _limit(*, together: bool) -> Preview:
    def preview(value: Decimal | None, values: Mapping[str, Any], _context: PreviewContext) -> Cell:
        if value is None:
            end = "; a cap is given together with its interval" if together else ""
            return Cell(f"no cap{end}", "muted")
        period = RESET_PERIODS.get(values.get("reset_interval") or "", "in total; it never resets")
        return Cell(f"each key and each member may spend {usd(value)} {period}")

    return preview


class _GuardrailFields(Fields):
    """Guardrail fields. An omitted rule is null, and content filters are read in request format."""

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        known = super().read(model, names)
        for name in FILTERS:
            filters = known.get(name)
            if filters is not None and any(entry.gaps for entry in filters):
                # An update replaces the whole list and would lose the unreadable entry.
                del known[name]
            elif filters is not None:
                known[name] = [_as_request(entry) for entry in filters]
        return known

    def is_known(self, name: str, model: ResponseModel) -> bool:
        return bool(getattr(model, name)) or not is_garbled(model, name)


def is_garbled(model: ResponseModel, *names: str) -> bool:
    """Return whether one of these fields, or an entry of it, could not be read."""
    return any(gap.partition("[")[0] in names for gap in model.gaps)


def _as_request(content_filter: BuiltinFilter | CustomFilter) -> RequestModel:
    model, names = (
        (BuiltinFilterRequest, ("slug", "action", "scan_scope"))
        if isinstance(content_filter, BuiltinFilter)
        else (CustomFilterRequest, ("pattern", "action", "label"))
    )
    values = {name: value for name in names if (value := getattr(content_filter, name)) is not None}
    try:
        return model.model_validate(values)
    except ValidationError:
        return model.model_construct(_fields_set=set(values), **values)


@cache
def fields_of(dialect: Dialect) -> Fields:
    """Return the fields that a dialect supports, with its vendor names."""
    absent = dialect.absent_fields.get("Guardrail", frozenset())
    return _GuardrailFields(*(field for field in _declared(dialect) if field.name not in absent))


def _declared(dialect: Dialect) -> Iterator[Field]:
    first, second, third = dialect.vendors
    yield from _general()
    yield from _routing()
    yield limit_field(
        "limit_usd",
        "Spending cap",
        "no cap",
        group="Cap",
        placeholder="such as 25 or 1,000.50; empty for none",
        preview=_limit(together=dialect.cap_needs_interval),
    )
    yield reset_field("reset_interval", "Cap resets", "limit_usd", "cap", group="Cap")
    yield Field("include_byok_in_budgets", "BYOK in cap", empty=UNKNOWN, group="Cap")
    yield _zdr("enforce_zdr_vendor_a", first)
    yield _zdr("enforce_zdr_vendor_b", second)
    yield _zdr("enforce_zdr_vendor_c", third)
    yield _zdr("enforce_zdr_xai", "xAI")
    yield _zdr("enforce_zdr_other", "other vendors")
    yield _list(
        "content_filter_builtins",
        "Built-in filters",
        "Filters",
        format=_each(builtin_filter_text),
        dialect=dialect,
    )
    yield _list(
        "content_filters",
        "Custom filters",
        "Filters",
        format=_each(custom_filter_text),
        dialect=dialect,
    )
    yield _data_use("enable_free_model_training", "Training (free models)")
    yield _data_use("enable_free_model_publication", "Publication (free models)")
    yield _data_use("enable_paid_model_training", "Training (paid models)")
    yield _data_use("allow_safety_retention_google", "Safety retention (Google)")
    yield _data_use("allow_safety_retention_other", "Safety retention (others)")
    yield _list(
        "allowed_data_regions",
        "Data regions",
        "Data use",
        empty="everywhere",
        offers=lambda _context: _regions,
    )


def _general() -> Iterator[Field]:
    yield Field("name", "Name", group="General")
    yield Field(
        "description",
        "Description",
        group="General",
        kind="lines",
        column=ListColumn(30, "what it is for"),
    )
    yield workspace_field(editable=False, group="General")


def _routing() -> Iterator[Field]:
    yield _list("allowed_models", "Allowed models", "Routing", empty="any not blocked", free=True)
    yield _list("ignored_models", "Blocked models", "Routing", chosen="never", free=True)
    yield _list(
        "allowed_providers", "Allowed providers", "Routing", empty="any not blocked", free=True
    )
    yield _list("ignored_providers", "Blocked providers", "Routing", chosen="never", free=True)


def _list(
    name: str, label: str, group: str, empty: str = "none", chosen: str = "only", **more: Any
) -> Field:
    return Field(
        name,
        label,
        empty=empty,
        blank=([],),
        group=group,
        chosen=chosen,
        noun=label.rsplit(maxsplit=1)[-1].lower(),
        **more,
    )


def _zdr(name: str, vendor: str) -> Field:
    return Field(
        name,
        f"ZDR {vendor}",
        short=f"ZDR {vendor}",
        empty="inherit",
        words=ON_OFF,
        group="Retention",
        help=f"{vendor}: route only to endpoints that keep no data",
    )


def _data_use(name: str, label: str) -> Field:
    short = label[:1].lower() + label[1:]
    words = ("refuse", "allow")
    return Field(name, label, empty="inherit", words=words, group="Data use", short=short)


def builtin_filter_text(builtin: BuiltinFilter | BuiltinFilterRequest) -> str:
    """Return a builtin filter in a few words: "redact email"."""
    scope = builtin.slug == PROMPT_INJECTION and builtin.scan_scope == "user_only"
    end = " in user messages only" if scope else ""
    return f"{safe_line(builtin.action, 40)} {safe_line(builtin.slug, 40)}{end}"


def custom_filter_text(custom: CustomFilter | CustomFilterRequest) -> str:
    """Return a custom filter in a few words: "redact /gw-[0-9]+/ as [KEY]"."""
    end = f" as {safe_line(custom.label, 40)}" if custom.label else ""
    return f"{safe_line(custom.action, 40)} /{safe_line(custom.pattern, _PATTERN_LIMIT)}/{end}"


def _each(describe: Callable[[Any], str]) -> Format:
    def format(filters: Sequence[Any], _context: PlanContext) -> str:
        shown = [describe(entry) for entry in filters[:MOST_NAMED]]
        more = len(filters) - len(shown)
        return "; ".join([*shown, *([f"{more} more"] if more else [])])

    return format


FIELDS = _GuardrailFields(*_declared(GENERIC))
"""The fields of all dialects, with the vendor names of the reference dialect."""


async def _regions() -> Sequence[PickOption]:
    return [PickOption(region) for region in get_args(Region)]
