"""The fields of a guardrail: contract "Guardrail"; extended contract section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

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
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, Format, PlanContext, workspace_field
from gwtui.crud.plan_text import MOST_NAMED, several
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line

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
    yield Field("limit_usd", "Spending cap", lambda value, _context: usd(value), "no cap")
    yield Field("reset_interval", "Cap resets", _reset, "never")
    yield Field("include_byok_in_budgets", "BYOK counts to cap", fields.yes_no)
    yield _switch("enforce_zdr_vendor_a", f"ZDR {first}")
    yield _switch("enforce_zdr_vendor_b", f"ZDR {second}")
    yield _switch("enforce_zdr_vendor_c", f"ZDR {third}")
    yield _switch("enforce_zdr_xai", "ZDR xAI")
    yield _switch("enforce_zdr_other", "ZDR other vendors")
    yield _list("content_filter_builtins", "Builtin filters", _each(builtin_in_words))
    yield _list("content_filters", "Custom filters", _each(custom_in_words))
    yield _list("allowed_data_regions", "Data regions", empty="everywhere")
    yield _switch("enable_free_model_publication", "Free models may publish")
    yield _switch("enable_free_model_training", "Free models may train")
    yield _switch("enable_paid_model_training", "Paid models may train")
    yield _switch("allow_safety_retention_google", "Safety retention Google")
    yield _switch("allow_safety_retention_other", "Safety retention others")


def _list(name: str, label: str, format: Format = fields.texts, *, empty: str = "none") -> Field:
    return Field(name, label, format, empty, blank=([],))


def _switch(name: str, label: str) -> Field:
    """On, off, or left to what else applies."""
    return Field(name, label, fields.on_off, "inherit")


def _reset(value: Any, context: PlanContext) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, context.now)}"


def builtin_in_words(one: BuiltinFilter | BuiltinFilterRequest) -> str:
    """A builtin filter in a few words: "email: redact"."""
    scope = one.slug == PROMPT_INJECTION and one.scan_scope == "user_only"
    end = " (user messages only)" if scope else ""
    return f"{safe_line(one.slug, 40)}: {safe_line(one.action, 40)}{end}"


def custom_in_words(one: CustomFilter | CustomFilterRequest) -> str:
    """A custom filter in a few words: "redact /gw-[0-9]+/ as [KEY]"."""
    end = f" as {safe_line(one.label, 40)}" if one.label else ""
    return f"{safe_line(one.action, 40)} /{safe_line(one.pattern, _PATTERN_LIMIT)}/{end}"


def _each(describe: Callable[[Any], str]) -> Format:
    def format(filters: Sequence[Any], _context: PlanContext) -> str:
        return several([describe(one) for one in filters], MOST_NAMED)

    return format


FIELDS = _FieldsWithFilters(*_declared(GENERIC))
"""Every field that some service has, the vendors by the reference's names."""
