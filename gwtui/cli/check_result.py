"""What a check found, and the one line that a monitoring system reads.

The form is that of monitoring plugins: a word, a text, then after a bar what can be drawn, each as
``'label'=value[unit];warning;critical;min;max``.
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
"""Monitoring systems cut what is longer."""


class Severity(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_WORST_FIRST = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The rules by which a figure is judged; without any, it is well."""

    rules: tuple[ConditionRule, ...] = ()

    def watching(
        self, subject: tuple[str, str], facts: Mapping[str, JsonValue], figure: str = ""
    ) -> Judgement:
        """Those of the rules that watch a subject, and this figure of it."""
        return Judgement(
            tuple(
                rule
                for rule in self.rules
                if rule.watches(subject, facts) and (not figure or rule.figures == (figure,))
            )
        )

    def severity(self, value: Decimal) -> Severity:
        """How bad a figure is."""
        bad = [rule for rule in self.rules if rule.bounds.evidence(value) == "bad"]
        return max((Severity[rule.severity.upper()] for rule in bad), default=Severity.OK)

    def perfdata(self) -> str:
        """Both bounds as monitoring plugins write ranges: "50:" alerts below 50."""
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
    """Something to be drawn over time; None is not known."""

    label: str
    value: Decimal | None = None
    judgement: Judgement = Judgement()
    unit: str = ""
    least: str = ""
    most: str = ""

    def perfdata(self) -> str:
        """The figure in the form of monitoring plugins."""
        label = safe_line(self.label, _LABEL)
        for special in "'=|":
            label = label.replace(special, "_")
        value = "U" if self.value is None else f"{self.value:f}{self.unit}"
        text = f"'{label}'={value};{self.judgement.perfdata()};{self.least};{self.most}"
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
