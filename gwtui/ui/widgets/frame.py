"""The frame of a screen: header, breadcrumbs, status line, and the footer with key hints.

The header shows the tabs, the gateway, and restrictions such as read-only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from gwtui.crud.action import APP, Action
from gwtui.domain.safe_text import safe_text
from gwtui.local.caught_errors import BROKEN, caught_errors
from gwtui.resources.actions import place_actions
from gwtui.resources.registry import TABS, TITLES
from gwtui.ui.commands import focus_keys, key_label, tab_of, with_keys
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.lines import OneLine, Part

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.crud.resource import Cell
    from gwtui.ui.app import GwtuiApp


READ_ONLY = "READ-ONLY"
CRITICAL = "CRITICAL"
FAULTS = "FAULTS ON"
SILENT = "NO RESPONSE"
_CRUMB = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
_GAP = 2
_NARROWEST = 24
"""Minimum width in cells of the texts at the right of the status line."""
_LONGEST_TITLE = 40
_SHORTEST_TITLE = 4
"""Minimum width in cells of a tab's title; with less room, the tab shows only its key."""
_ALWAYS = ("app.help", "app.quit")
"""Actions that get a footer hint first: they lead to all other keys, or quit."""


@dataclass(frozen=True, slots=True)
class HeaderTab:
    """A tab in the header: a screen with a number key, or the current screen.

    ``action`` is the id of the action that opens the screen.
    """

    action: str
    key: str
    title: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """Everything that the header can show. Text from the gateway must have passed ``safe_text``."""

    tabs: tuple[HeaderTab, ...]
    workspace: str | None = None
    """The workspace name; None for all workspaces, empty to leave it out."""
    profile: str = ""
    host: str = ""
    token_source: str = ""
    read_only: bool = False
    why_read_only: str = ""
    """Why the program is read-only, unless the profile says so."""
    critical: bool = False
    alerts: Cell | None = None
    """Text with the number of active alerts; None without any."""
    faults: bool = False
    """Whether the gateway injects faults on purpose."""
    errors: int = 0
    """Number of errors in gwtui itself that were caught."""
    silent: bool = False
    """Whether the gateway has stopped answering."""
    name: str = "gwtui"
    apart: bool = True
    """Whether there are spaces between the tabs."""
    current_cells: int = _LONGEST_TITLE
    """Maximum width in cells of the current tab's title."""
    other_cells: int = _LONGEST_TITLE
    """Maximum width in cells of the other tabs' titles; 0 shows only their keys."""

    @property
    def origin(self) -> tuple[str, ...]:
        """Host, source of the token, and reason for read-only, without empty ones."""
        source = f"key: {self.token_source}" if self.token_source else ""
        return tuple(filter(None, (self.host, source, self.why_read_only)))


def header_parts(facts: HeaderFacts, width: int) -> tuple[Part, ...]:
    """Return the most detailed header that fits ``width`` cells.

    Badges and profile are never dropped. ``left_out`` returns the texts that were dropped.
    """
    variant = _fitted(facts, width)
    blank = Part(Content(" " * _spare(variant, width)))
    return (*_left(variant), blank, *_right(variant))


def left_out(facts: HeaderFacts, width: int) -> tuple[str, ...]:
    """Return the texts that the header drops for lack of room; the status line shows them."""
    variant = _fitted(facts, width)
    hidden = facts.workspace and not variant.workspace
    scope = (f"w {facts.workspace}",) if hidden else ()
    return scope if variant.origin else (*scope, *facts.origin)


@lru_cache(maxsize=8)
def _fitted(facts: HeaderFacts, width: int) -> HeaderFacts:
    for variant in _variants(facts):
        if _spare(variant, width) >= 0:
            break
    if facts.workspace and variant.workspace:
        # The workspace name was cut to a fixed width; give it the rest of the line.
        cells = cell_len(variant.workspace) + _spare(variant, width)
        variant = replace(variant, workspace=_cut(facts.workspace, cells))
    return variant


def _spare(facts: HeaderFacts, width: int) -> int:
    return width - sum(part.content.cell_length for part in (*_left(facts), *_right(facts)))


def _variants(facts: HeaderFacts) -> Iterator[HeaderFacts]:
    # From the most to the least detailed. The profile matters more than the titles of tabs.
    alerts = facts.alerts and replace(facts.alerts, text=facts.alerts.text.partition(" ")[0])
    titles = range(max(cell_len(tab.title) for tab in facts.tabs), _SHORTEST_TITLE - 1, -1)
    steps: tuple[dict[str, Any], ...] = (
        {},
        {"name": "", "workspace": _cut(facts.workspace or "all", 16)},
        {"host": "", "token_source": "", "why_read_only": ""},
        {"alerts": alerts},
        {"workspace": _cut(facts.workspace or "", 8)},
        {"profile": _cut(facts.profile, 24)},
        *({"other_cells": cells} for cells in titles),
        *({"current_cells": cells} for cells in titles),
        {"workspace": ""},
        {"other_cells": 0},
        {"tabs": tuple(tab for tab in facts.tabs if tab.current)},
        {"profile": _cut(facts.profile, 12)},
    )
    for step in steps:
        facts = replace(facts, **step)
        yield facts
        yield replace(facts, apart=False)


def _cut(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else fit(text, cells)


def _left(facts: HeaderFacts) -> Iterator[Part]:
    yield Part(toned(f" {facts.name} " if facts.name else "", "accent", bold=True))
    gap = " " if facts.apart else ""
    for tab in facts.tabs:
        title = _cut(tab.title, facts.current_cells if tab.current else facts.other_cells)
        if tab.current:
            name = f"{tab.key} {title}".strip()
            content = Content.styled(f"{gap}{name} ", "bold reverse")
        elif not facts.other_cells:
            content = toned(f"{tab.key} ", "muted")
        else:
            content = Content.assemble(gap, toned(tab.key, "accent"), " ", toned(title), " ")
        yield Part(content, tab.action)


def _right(facts: HeaderFacts) -> Iterator[Part]:
    workspace = "all workspaces" if facts.workspace is None else facts.workspace
    if workspace:
        scope = Content.assemble(toned("w ", "accent"), toned(workspace), "  ")
        yield Part(scope, "app.workspace")
    yield from _badges(facts)
    yield Part(toned(facts.profile, "bad" if facts.critical else "plain", bold=True))
    host = f" {facts.host}" if facts.host else ""
    source = f" · key: {facts.token_source}" if facts.token_source else ""
    yield Part(Content.assemble(toned(f"{host}{source}", "muted"), " "))
    if facts.faults:
        yield Part(badge(FAULTS) + " ")
    if facts.read_only:
        why = f": {facts.why_read_only}" if facts.why_read_only else ""
        yield Part(badge(f"{READ_ONLY}{why}"))


def _badges(facts: HeaderFacts) -> Iterator[Part]:
    if facts.alerts is not None:
        colours = "alarm" if facts.alerts.tone == "bad" else "badge"
        yield Part(badge(facts.alerts.text, colours) + " ", "go.alerts")
    errors = f"{BROKEN} {facts.errors}" if facts.errors else ""
    silent, critical = SILENT if facts.silent else "", CRITICAL if facts.critical else ""
    for text in filter(None, (errors, silent, critical)):
        yield Part(badge(text, "alarm") + " ")


def crumbs_line(crumbs: Sequence[str], width: int) -> Content:
    """Return the breadcrumbs in one line.

    If they are wider than ``width``, the earlier breadcrumbs are shortened and the last is not.
    """
    here = toned(crumbs[-1], "plain", bold=True)
    room = max(1, width - 2 - here.cell_length)
    way = _CRUMB.join([*crumbs[:-1], ""])
    if cell_len(way) > room:
        way = fit(way, max(1, room - len(_CRUMB))) + _CRUMB
    back = toned(with_keys("   {app.back} goes back"), "muted")
    return Content.assemble(" ", toned(way, "muted"), here, back)


def header_facts(app: GwtuiApp, current: str) -> HeaderFacts:
    """Collect the content of the header; ``current`` is the id of the highlighted tab."""
    facts = HeaderFacts(_tabs(current), app.scope_name, errors=len(caught_errors))
    if app.session is None and app.bound_for is not None:
        to = app.bound_for
        return replace(
            facts,
            profile=safe_text(to.name, 40),
            read_only=to.read_only,
            critical=to.critical,
        )
    if app.session is None:
        return facts
    connection = app.session.connection
    return replace(
        facts,
        profile=safe_text(connection.label, 40),
        host=_host(connection),
        token_source=_source(connection),
        read_only=app.read_only,
        why_read_only="" if connection.read_only else app.hold_reason or "",
        critical=connection.critical,
        alerts=app.alert_badge,
        faults=connection.faults,
        silent=app.session.gateway.traffic.silent,
    )


def gateway_label(app: GwtuiApp) -> str:
    """Return profile and host of the connected gateway, for dialogs that cover the header.

    Empty without a connection, and for a gateway on a private socket.
    """
    if app.session is None:
        return ""
    connection = app.session.connection
    host = _host(connection)
    label = safe_text(connection.label, 40)
    parts = (CRITICAL if connection.critical else "", "" if label == host else label, host)
    return " · ".join(filter(None, parts)) if host else ""


def _host(connection: Connection) -> str:
    # The address of a private socket means nothing to people.
    return "" if connection.socket_path else safe_text(urlsplit(connection.base_url).netloc, 60)


def _source(connection: Connection) -> str:
    same = connection.token_source == connection.label
    return "" if same else safe_text(connection.token_source, 30)


def _tabs(current: str) -> tuple[HeaderTab, ...]:
    places = [(action, tab_of(action)) for action in place_actions()]
    return tuple(
        HeaderTab(
            action.id,
            key_label(action.keys[0]) if action.keys else "",
            TITLES[place],
            place == current,
        )
        for action, place in places
        if place is not None and (place in TABS or place == current)
    )


def status_line(left: Content, facts: HeaderFacts, width: int) -> Content:
    """Return the status line: ``left``, then right-aligned the texts that the header drops."""
    return status_content(left, left_out(facts, width), width)


def badge(text: str, colours: str = "badge") -> Content:
    """Return ``text`` with a coloured background; ``colours`` is "badge" or "alarm"."""
    return Content.styled(f" {text} ", f"bold ${colours}-foreground on ${colours}-background")


def status_content(left: Content, texts: Sequence[str], width: int, *, least: int = 0) -> Content:
    """Return a line with ``left`` and the right-aligned ``texts``.

    ``left`` is truncated to make room for the texts, which get up to ``least`` cells in any case.
    """
    if not texts:
        return left
    right = _cut(" · ".join(texts), max(least, _NARROWEST, width - left.cell_length - _GAP - 1))
    room = max(0, width - cell_len(right) - _GAP - 1)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    gap = " " * max(0, width - left.cell_length - cell_len(right) - 1)
    return Content.assemble(left, gap, toned(right, "muted"), " ")


class TwoEnds(OneLine):
    """A line with a left and a right-aligned text; the right one may always use half of it."""

    def __init__(self, left: Content, right: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = left
        self._right = (right,) if right else ()

    def render(self) -> Content:
        width = self.size.width
        return status_content(self._left, self._right, width, least=width // 2)


def footer_parts(
    actions: Sequence[Action], width: int, focused: Widget | None = None
) -> tuple[Part, ...]:
    """Return the key hints that fit ``width`` cells; hints at the end are dropped first.

    If the focused widget handles keys itself, the footer shows the keys of that widget.
    """
    if keys := focus_keys(focused):
        return (Part(toned(f" {keys}", "muted")),)
    hinted = [action for action in actions if action.footer and action.keys]
    room = width - 1
    kept: set[str] = set()
    for action in sorted(hinted, key=lambda action: action.id not in _ALWAYS):
        needed = _hint(action).cell_length
        if needed > room:
            break
        room -= needed
        kept.add(action.id)
    # Global keys stand at the right end of every footer.
    ordered = sorted(hinted, key=lambda action: action.scope == APP)
    hints = [Part(_hint(action), action.id) for action in ordered if action.id in kept]
    return (Part(Content(" ")), *hints)


def _hint(action: Action) -> Content:
    return Content.assemble(
        toned(key_label(action.keys[0]), "accent", bold=True),
        " ",
        toned(action.title, "muted"),
        "  ",
    )
