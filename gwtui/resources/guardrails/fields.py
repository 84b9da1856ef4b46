"""A guardrail's fields as people read them, the same in forms and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from gwtui.contract.content_filters import (
    PROMPT_INJECTION,
    BuiltinFilter,
    BuiltinFilterRequest,
    CustomFilter,
    CustomFilterRequest,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.request import RequestModel
from gwtui.crud.text import (
    DEFAULT_WORKSPACE,
    MOST_NAMED,
    NAME_LIMIT,
    Formatter,
    Names,
    known_fields,
    quoted,
    several,
    workspace_in_words,
)
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line

LISTS: Mapping[str, str] = {
    "allowed_models": "Allowed models",
    "ignored_models": "Ignored models",
    "allowed_providers": "Allowed providers",
    "ignored_providers": "Ignored providers",
}
FILTERS = ("content_filter_builtins", "content_filters")

EMPTY: Mapping[str, str] = {
    "allowed_models": "every model",
    "allowed_providers": "every provider",
    "limit_usd": "no cap",
    "reset_interval": "never",
    "workspace_id": DEFAULT_WORKSPACE,
    "allowed_data_regions": "everywhere",
}
"""What it means that a field has no value; any other is "none", a switch "inherit"."""

INHERIT = "inherit"
_PATTERN_LIMIT = 120


def labels(dialect: Dialect) -> Mapping[str, str]:
    """What people call the fields that the dialect knows, vendors by their names."""
    first, second, third = dialect.vendors
    every = {
        "name": "Name",
        "workspace_id": "Workspace",
        "description": "Description",
        **LISTS,
        "limit_usd": "Spending cap",
        "reset_interval": "Cap resets",
        "include_byok_in_budgets": "BYOK counts to cap",
        "enforce_zdr_vendor_a": f"ZDR {first}",
        "enforce_zdr_vendor_b": f"ZDR {second}",
        "enforce_zdr_vendor_c": f"ZDR {third}",
        "enforce_zdr_xai": "ZDR xAI",
        "enforce_zdr_other": "ZDR other vendors",
        "content_filter_builtins": "Builtin filters",
        "content_filters": "Custom filters",
        "allowed_data_regions": "Data regions",
        "enable_free_model_publication": "Free models may publish",
        "enable_free_model_training": "Free models may train",
        "enable_paid_model_training": "Paid models may train",
        "allow_safety_retention_google": "Safety retention Google",
        "allow_safety_retention_other": "Safety retention others",
    }
    absent = dialect.absent_fields.get("Guardrail", frozenset())
    return {name: label for name, label in every.items() if name not in absent}


def editable(dialect: Dialect) -> tuple[str, ...]:
    """Fields of a guardrail that its form changes: all but the workspace."""
    return tuple(name for name in labels(dialect) if name != "workspace_id")


def shown_name(guardrail: Guardrail) -> str:
    """The guardrail in a sentence."""
    return quoted(guardrail.name, guardrail.id)


def known_values(guardrail: Guardrail, dialect: Dialect) -> dict[str, Any]:
    """The editable fields as the gateway gave them; those it left out or garbled are missing.

    Filters are in the form in which a request carries them, entries of an unknown kind included.
    """
    known = known_fields(guardrail, editable(dialect))
    for name in FILTERS:
        if name in known and known[name] is not None:
            filters = _as_requests(known.pop(name))
            if filters is not None:
                known[name] = filters
    return known


def _as_requests(filters: Sequence[BuiltinFilter | CustomFilter]) -> list[RequestModel] | None:
    """None when one of them is not whole: a list is replaced whole and would lose it."""
    if any(one.gaps for one in filters):
        return None
    return [_as_request(one) for one in filters]


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


def in_words(now: datetime, workspaces: Names) -> Formatter:
    """Gives the function that words a field's value."""

    def words(field: str, value: Any) -> str:
        if field == "workspace_id":
            return workspace_in_words(value, workspaces)
        if value is None or value == []:
            return INHERIT if field in _SWITCHES else EMPTY.get(field, "none")
        if field == "reset_interval":
            return f"{safe_line(value, 40)}, next {describe_reset(value, now)}"
        return _WORDS.get(field, _plain)(value)

    return words


_SWITCHES = frozenset(
    {
        "enforce_zdr_vendor_a",
        "enforce_zdr_vendor_b",
        "enforce_zdr_vendor_c",
        "enforce_zdr_xai",
        "enforce_zdr_other",
        "enable_free_model_publication",
        "enable_free_model_training",
        "enable_paid_model_training",
        "allow_safety_retention_google",
        "allow_safety_retention_other",
    }
)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return several([safe_line(entry, NAME_LIMIT) for entry in value], MOST_NAMED)
    return safe_line(value, 200)


def builtin_in_words(one: BuiltinFilter | BuiltinFilterRequest) -> str:
    """A builtin filter in a few words: "email: redact"."""
    scope = one.slug == PROMPT_INJECTION and one.scan_scope == "user_only"
    end = " (user messages only)" if scope else ""
    return f"{safe_line(one.slug, 40)}: {safe_line(one.action, 40)}{end}"


def custom_in_words(one: CustomFilter | CustomFilterRequest) -> str:
    """A custom filter in a few words: "redact /gw-[0-9]+/ as [KEY]"."""
    end = f" as {safe_line(one.label, 40)}" if one.label else ""
    return f"{safe_line(one.action, 40)} /{safe_line(one.pattern, _PATTERN_LIMIT)}/{end}"


def _each(words: Callable[[Any], str]) -> Callable[[Iterable[Any]], str]:
    return lambda filters: several([words(one) for one in filters], MOST_NAMED)


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "limit_usd": usd,
    "include_byok_in_budgets": lambda value: "yes" if value else "no",
    "content_filter_builtins": _each(builtin_in_words),
    "content_filters": _each(custom_in_words),
}
