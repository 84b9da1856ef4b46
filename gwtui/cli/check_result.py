"""What a check found, and the one line that a monitoring system reads.

The form is that of monitoring plugins: a word, a text, then after a bar what can be drawn, each as
``'label'=value[unit];warning;critical;min;max``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from gwtui.domain.safe_text import safe_ends, safe_line

_TEXT = 300
_LABEL = 120
_LONGEST = 8000
"""Monitoring systems cut what is longer."""


class Severity(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_WORST_FIRST = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


@dataclass(frozen=True, slots=True)
class Range:
    """From where on a figure alerts: ``below`` a limit, or above it; None is never."""

    warning: Decimal | None
    critical: Decimal | None
    below: bool = True

    @property
    def is_off(self) -> bool:
        """Whether no figure alerts."""
        return self.warning is None and self.critical is None

    def severity(self, value: Decimal) -> Severity:
        """How bad a figure is."""
        for limit, severity in (
            (self.critical, Severity.CRITICAL),
            (self.warning, Severity.WARNING),
        ):
            if limit is not None and (value < limit if self.below else value >= limit):
                return severity
        return Severity.OK

    def perfdata(self) -> str:
        """Both limits as monitoring plugins write ranges: "50:" alerts below 50."""
        return f"{self._bound(self.warning)};{self._bound(self.critical)}"

    def _bound(self, limit: Decimal | None) -> str:
        if limit is None:
            return ""
        return f"{limit:f}:" if self.below else f"{limit:f}"


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """Something to be drawn over time; None is not known."""

    label: str
    value: Decimal | None
    range: Range = Range(None, None)
    unit: str = ""
    least: str = ""
    most: str = ""

    def perfdata(self) -> str:
        """The figure in the form of monitoring plugins."""
        label = safe_line(self.label, _LABEL)
        for special in "'=|":
            label = label.replace(special, "_")
        value = "U" if self.value is None else f"{self.value:f}{self.unit}"
        text = f"'{label}'={value};{self.range.perfdata()};{self.least};{self.most}"
        return text.rstrip(";")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    severity: Severity
    text: str
    figures: tuple[CheckedFigure, ...] = ()


def worst_of(findings: Sequence[Finding]) -> Severity:
    """Critical before unknown before warning; nothing that was looked at is unknown."""
    present = {finding.severity for finding in findings}
    return next((one for one in _WORST_FIRST if one in present), Severity.UNKNOWN)


def one_line(findings: Sequence[Finding]) -> str:
    """All of it in one line, the worst first."""
    severity = worst_of(findings)
    ranked = sorted(findings, key=lambda one: _WORST_FIRST.index(one.severity))
    texts = [_plain(one.text) for one in ranked] or ["nothing was checked"]
    line = f"GWTUI {severity.name}: {'; '.join(texts)}"
    drawn = " ".join(figure.perfdata() for one in findings for figure in one.figures)
    return f"{line[:_LONGEST]} | {drawn}" if drawn else line[:_LONGEST]


def _plain(text: str) -> str:
    """A bar would begin what is drawn."""
    return safe_ends(text, _TEXT).replace("|", "/")
