"""The findings of a check, and the status line for a monitoring system.

The format is that of monitoring plugins: a status, a text and, after a bar, performance data, each
item as ``'label'=value[unit];warning;critical;min;max``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from gwtui.domain.alert_rules import ConditionRule
from gwtui.domain.safe_text import safe_ends, safe_line

_TEXT = 300
_LABEL = 120
_LONGEST = 8000
"""Maximum length of the status line; monitoring systems cut longer lines."""


class Severity(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_WORST_FIRST = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure with the rules that judge it; ``value`` None is unknown."""

    label: str
    value: Decimal | None = None
    rules: Sequence[ConditionRule] = ()
    unit: str = ""
    least: str = ""
    most: str = ""

    def perfdata(self) -> str:
        """Return the figure as performance data."""
        label = safe_line(self.label, _LABEL)
        for special in "'=|":
            label = label.replace(special, "_")
        value = "U" if self.value is None else f"{self.value:f}{self.unit}"
        bounds = f"{self._bound('warning')};{self._bound('critical')}"
        return f"'{label}'={value};{bounds};{self.least};{self.most}".rstrip(";")

    def _bound(self, severity: str) -> str:
        # In the range notation of monitoring plugins, "50:" alerts below 50.
        bounds = [rule.bounds for rule in self.rules if rule.severity == severity]
        if not bounds:
            return ""
        limits = [bound.fires_at for bound in bounds]
        return f"{max(limits):f}:" if bounds[0].direction == "below" else f"{min(limits):f}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    severity: Severity
    text: str
    figures: tuple[CheckedFigure, ...] = ()


def worst_of(findings: Sequence[Finding]) -> Severity:
    """Return the worst severity: critical, unknown, warning, ok. UNKNOWN without findings."""
    present = {finding.severity for finding in findings}
    return next((one for one in _WORST_FIRST if one in present), Severity.UNKNOWN)


def one_line(findings: Sequence[Finding]) -> str:
    """Return the status line, with the worst findings first."""
    severity = worst_of(findings)
    ranked = sorted(findings, key=lambda one: _WORST_FIRST.index(one.severity))
    texts = [_plain(one.text) for one in ranked] or ["nothing was checked"]
    line = f"GWTUI {severity.name}: {'; '.join(texts)}"
    drawn = " ".join(figure.perfdata() for finding in findings for figure in finding.figures)
    return f"{line[:_LONGEST]} | {drawn}" if drawn else line[:_LONGEST]


def _plain(text: str) -> str:
    # A bar would start the performance data.
    return safe_ends(text, _TEXT).replace("|", "/")
