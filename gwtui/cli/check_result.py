"""The findings of a check, and the status line that a monitoring system reads.

The format is that of monitoring plugins: a status, a text and, after a bar, performance data, each
as ``'label'=value[unit];warning;critical;min;max``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from pydantic import JsonValue

from gwtui.domain.alert_rules import ConditionRule
from gwtui.domain.safe_text import safe_ends, safe_line

_TEXT = 300
_LABEL = 120
_LONGEST = 8000
"""Monitoring systems cut longer lines."""


class Severity(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_WORST_FIRST = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The rules for a figure; without a rule it is OK."""

    rules: tuple[ConditionRule, ...] = ()

    def watching(
        self, subject: tuple[str, str], facts: Mapping[str, JsonValue], figure: str = ""
    ) -> Judgement:
        """The rules that watch a subject and this figure of it."""
        return Judgement(
            tuple(
                rule
                for rule in self.rules
                if rule.watches(subject, facts) and (not figure or rule.figures == (figure,))
            )
        )

    def severity(self, value: Decimal) -> Severity:
        """The severity of a value."""
        bad = [rule for rule in self.rules if rule.bounds.evidence(value) == "bad"]
        return max((Severity[rule.severity.upper()] for rule in bad), default=Severity.OK)

    def perfdata(self) -> str:
        """Both bounds as ranges of monitoring plugins: "50:" alerts below 50."""
        return f"{self._bound('warning')};{self._bound('critical')}"

    def _bound(self, severity: str) -> str:
        bounds = [rule.bounds for rule in self.rules if rule.severity == severity]
        if not bounds:
            return ""
        limits = [one.fires_at for one in bounds]
        if bounds[0].direction == "below":
            return f"{max(limits):f}:"
        return f"{min(limits):f}"


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure with its rules; the value None is unknown."""

    label: str
    value: Decimal | None = None
    judgement: Judgement = Judgement()
    unit: str = ""
    least: str = ""
    most: str = ""

    def perfdata(self) -> str:
        """The figure as performance data."""
        label = safe_line(self.label, _LABEL)
        for special in "'=|":
            label = label.replace(special, "_")
        value = "U" if self.value is None else f"{self.value:f}{self.unit}"
        text = f"'{label}'={value};{self.judgement.perfdata()};{self.least};{self.most}"
        return text.rstrip(";")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    severity: Severity
    text: str
    figures: tuple[CheckedFigure, ...] = ()


def worst_of(findings: Sequence[Finding]) -> Severity:
    """The worst severity, in the order critical, unknown, warning; UNKNOWN without findings."""
    present = {finding.severity for finding in findings}
    return next((one for one in _WORST_FIRST if one in present), Severity.UNKNOWN)


def one_line(findings: Sequence[Finding]) -> str:
    """The status line, with the worst findings first."""
    severity = worst_of(findings)
    ranked = sorted(findings, key=lambda one: _WORST_FIRST.index(one.severity))
    texts = [_plain(one.text) for one in ranked] or ["nothing was checked"]
    line = f"GWTUI {severity.name}: {'; '.join(texts)}"
    drawn = " ".join(figure.perfdata() for one in findings for figure in one.figures)
    return f"{line[:_LONGEST]} | {drawn}" if drawn else line[:_LONGEST]


def _plain(text: str) -> str:
    """Without bars, which start the performance data."""
    return safe_ends(text, _TEXT).replace("|", "/")
