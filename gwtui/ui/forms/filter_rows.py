"""Content filters as a form holds them: plain texts, so that a half-typed one can stand there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gwtui.contract.content_filters import PROMPT_INJECTION


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
