"""The header: where you are, whose gateway this is, and what you may not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from rich.cells import cell_len
from textual.content import Content

from gwtui.ui.resources.spec import Tone
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import Part, PartsLine
from gwtui.ui.widgets.table.paint import fit

READ_ONLY = "READ-ONLY"
CRITICAL = "CRITICAL"

TabStyle = Literal["whole", "short", "number", "current"]
"""How tabs are written: with their titles, with shorter ones, as the number keys alone, or only
the one that is shown."""


@dataclass(frozen=True, slots=True)
class Tab:
    """A screen that a number key opens. The place that is shown has one even without a key."""

    action: str
    key: str
    title: str
    current: bool = False
    short: str = ""
    """A shorter title, where there is one."""

    def text(self, style: TabStyle) -> str:
        """How it reads."""
        if style == "number" and not self.current:
            return self.key
        title = self.title if style == "whole" else self.short or self.title
        return f"{self.key} {title}" if self.key else title


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What the header says. Texts from data must have passed ``safe_text``."""

    tabs: tuple[Tab, ...]
    workspace: str | None = None
    """None stands for every workspace."""
    profile: str = ""
    host: str = ""
    token_source: str = ""
    read_only: bool = False
    why_read_only: str = ""
    """What it is that makes it so, where that is not the profile."""
    critical: bool = False
    name: str = "gwtui"


def header_parts(facts: HeaderFacts, width: int) -> list[Part]:
    """The richest version of the header that fits ``width`` cells.

    The badges and the profile never give way.
    """
    for variant, style in _poorer(facts):
        left, right = _left(variant, style), _right(variant)
        used = sum(part.content.cell_length for part in (*left, *right))
        if used < width:
            break
    gap = Part(Content(" " * max(1, width - used)))
    return [*left, gap, *right]


def _poorer(facts: HeaderFacts) -> Iterator[tuple[HeaderFacts, TabStyle]]:
    yield facts, "whole"
    facts = replace(facts, token_source="")
    yield facts, "whole"
    facts = replace(facts, host="")
    yield facts, "whole"
    facts = replace(facts, why_read_only="")
    yield facts, "whole"
    facts = replace(facts, name="", workspace=_cut(facts.workspace or "all", 16))
    yield facts, "whole"
    facts = replace(facts, profile=_cut(facts.profile, 12))
    yield facts, "whole"
    yield facts, "short"
    yield replace(facts, workspace=_cut(facts.workspace or "all", 8)), "short"
    yield facts, "number"
    facts = replace(facts, workspace=_cut(facts.workspace or "all", 8))
    yield facts, "number"
    yield facts, "current"


def _cut(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else fit(text, cells)


def _left(facts: HeaderFacts, style: TabStyle) -> list[Part]:
    parts = [Part(toned(f" {facts.name} " if facts.name else "", "accent", bold=True))]
    # Shorter titles stand closer: the key before each tells where one begins.
    gap = " " if style != "short" else ""
    for tab in facts.tabs:
        text = tab.text(style)
        if tab.current:
            content = Content.styled(f" {text} ", "bold reverse")
        elif style == "current":
            continue
        elif style == "number":
            content = toned(f" {text} ", "muted")
        else:
            key, _, title = text.partition(" ")
            content = Content.assemble(gap, toned(key, "accent"), " ", toned(title), " ")
        parts.append(Part(content, tab.action))
    return parts


def _right(facts: HeaderFacts) -> list[Part]:
    parts: list[Part] = []
    workspace = facts.workspace or "all workspaces"
    parts.append(
        Part(
            Content.assemble(toned("w ", "accent"), toned(workspace), "  "),
            "app.workspace",
        )
    )
    if facts.critical:
        parts.append(_badge(CRITICAL, "alarm"))
        parts.append(Part(Content(" ")))
    if facts.profile:
        tone: Tone = "bad" if facts.critical else "plain"
        parts.append(Part(toned(facts.profile, tone, bold=True)))
    if facts.host:
        parts.append(Part(toned(f" {facts.host}", "muted")))
    if facts.token_source:
        parts.append(Part(toned(f" · key from {facts.token_source}", "muted")))
    parts.append(Part(Content(" ")))
    if facts.read_only:
        why = f": {facts.why_read_only}" if facts.why_read_only else ""
        parts.append(_badge(f"{READ_ONLY}{why}", "badge"))
    return parts


def _badge(text: str, colours: str) -> Part:
    style = f"bold ${colours}-foreground on ${colours}-background"
    return Part(Content.styled(f" {text} ", style))


class HeaderBar(PartsLine):
    """The header line."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._facts: HeaderFacts | None = None

    def show_facts(self, facts: HeaderFacts) -> None:
        """Show these facts, in as much width as there is."""
        self._facts = facts
        if self.size.width:
            self.show_parts(header_parts(facts, self.size.width))

    def on_resize(self) -> None:
        """Fit the facts to the new width."""
        if self._facts is not None:
            self.show_facts(self._facts)
