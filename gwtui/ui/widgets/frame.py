"""The frame of a screen: header, status line, and the footer with the most important keys.

The header shows the current tab, the gateway, and restrictions such as read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud.action import APP, Action
from gwtui.domain.cell_values import Tone
from gwtui.domain.safe_text import safe_text
from gwtui.local.caught_errors import BROKEN, caught_errors
from gwtui.resources.actions import place_actions
from gwtui.resources.registry import TABS, TITLES
from gwtui.ui.commands import focus_keys, shown, tab_of, with_keys
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.lines import OneLine, Part, PartsLine

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.crud.resource import Cell
    from gwtui.ui.app import GwtuiApp


READ_ONLY = "READ-ONLY"
CRITICAL = "CRITICAL"
FAULTS = "FAULTS ON"
SILENT = "NO ANSWER"
_CRUMB = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
_GAP = 2
_NARROWEST = 12
"""Minimum width of each fact on the right."""
_BETWEEN = " · "
_LONGEST_TITLE = 40
_SHORTEST_TITLE = 4
"""Minimum width of a tab's title; with less room the tab shows only its key."""
_ALWAYS = ("app.help", "app.quit")
"""Shown at any width: with these a person finds all other keys, or quits."""


@dataclass(frozen=True, slots=True)
class HeaderTab:
    """A screen with a number key, or the current screen."""

    action: str
    key: str
    title: str
    current: bool = False

    def text(self, cells: int) -> str:
        """The key, and the title cut to ``cells`` cells."""
        return f"{self.key} {_cut(self.title, cells)}".strip()


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """The content of the header. Texts from data must have passed ``safe_text``."""

    tabs: tuple[HeaderTab, ...]
    workspace: str | None = None
    """None means all workspaces; an empty name is not shown."""
    profile: str = ""
    host: str = ""
    token_source: str = ""
    read_only: bool = False
    why_read_only: str = ""
    """The reason for read-only, if it is not the profile."""
    critical: bool = False
    alerts: Cell | None = None
    """The number of active alerts, if there are any."""
    faults: bool = False
    """Whether the gateway injects faults."""
    errors: int = 0
    """The number of program errors that were contained."""
    silent: bool = False
    """Whether the gateway does not answer."""
    name: str = "gwtui"
    apart: bool = True
    """Whether there are gaps between the tabs."""
    current_cells: int = _LONGEST_TITLE
    """Maximum width of the current tab's title."""
    other_cells: int = _LONGEST_TITLE
    """Maximum width of the other titles; 0 shows only their keys."""

    @property
    def origin(self) -> tuple[str, ...]:
        """The host, the source of the token, and the reason for read-only."""
        source = f"key: {self.token_source}" if self.token_source else ""
        return tuple(filter(None, (self.host, source, self.why_read_only)))


@lru_cache(maxsize=8)
def header_parts(facts: HeaderFacts, width: int) -> tuple[Part, ...]:
    """The most detailed header that fits ``width`` cells.

    Badges and profile are never left out. The status line shows the facts of ``left_out``.
    """
    variant = _richest(facts, width)
    left, right = _left(variant), _right(variant)
    used = _cells(left) + _cells(right)
    return (*left, Part(Content(" " * (width - used))), *right)


def left_out(facts: HeaderFacts, width: int) -> tuple[str, ...]:
    """The facts that the header has no room for."""
    variant = _richest(facts, width)
    hidden = facts.workspace and not variant.workspace
    scope = (f"w {facts.workspace}",) if hidden else ()
    return scope if variant.origin else (*scope, *facts.origin)


@lru_cache(maxsize=8)
def _richest(facts: HeaderFacts, width: int) -> HeaderFacts:
    for variant in _variants(facts):
        room = width - _cells(_left(variant)) - _cells(_right(variant))
        if room >= 0:
            break
    if facts.workspace and variant.workspace and room > 0:
        # The name was cut in steps; give it the rest of the line.
        cells = cell_len(variant.workspace) + room
        variant = replace(variant, workspace=_cut(facts.workspace, cells))
    return variant


def _cells(parts: Iterable[Part]) -> int:
    return sum(part.content.cell_length for part in parts)


def _variants(facts: HeaderFacts) -> Iterator[HeaderFacts]:
    """The versions of the header, the most detailed first. Titles are cut last."""
    shortest = facts
    for shortest in _briefer(facts):
        yield shortest
        yield replace(shortest, apart=False)
    whole = max((cell_len(tab.title) for tab in facts.tabs), default=0)
    cut = range(whole, _SHORTEST_TITLE - 1, -1)
    # The profile matters more than the titles of tabs.
    for cells in (24, 12):
        variant = replace(shortest, apart=False, profile=_cut(facts.profile, cells))
        for others in cut:
            yield replace(variant, other_cells=others)
        for current in cut:
            yield replace(variant, current_cells=current, other_cells=_SHORTEST_TITLE)
        yield replace(
            variant, workspace="", current_cells=_SHORTEST_TITLE, other_cells=_SHORTEST_TITLE
        )
        for workspace in (variant.workspace, ""):
            yield replace(variant, workspace=workspace, other_cells=0)
        current_tab = tuple(tab for tab in facts.tabs if tab.current)
        yield replace(variant, workspace="", other_cells=0, tabs=current_tab)


def _briefer(facts: HeaderFacts) -> Iterator[HeaderFacts]:
    """The versions with fewer facts."""
    brief = replace(facts, name="", workspace=_cut(facts.workspace or "all", 16))
    yield facts
    yield brief
    for variant in (facts, brief):
        yield (brief := replace(variant, host="", token_source="", why_read_only=""))
    if facts.alerts is not None:
        count = facts.alerts.text.partition(" ")[0]
        brief = replace(brief, alerts=replace(facts.alerts, text=count))
        yield brief
    # "All workspaces" need not be shown.
    yield replace(brief, workspace=_cut(facts.workspace or "", 8))


def _cut(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else fit(text, cells)


def _left(facts: HeaderFacts) -> list[Part]:
    parts = [Part(toned(f" {facts.name} " if facts.name else "", "accent", bold=True))]
    gap = " " if facts.apart else ""
    for tab in facts.tabs:
        if tab.current:
            text = f"{gap}{tab.text(facts.current_cells)} "
            content = Content.styled(text, "bold reverse")
        elif not facts.other_cells:
            content = toned(f"{tab.key} ", "muted")
        else:
            key, _, title = tab.text(facts.other_cells).partition(" ")
            content = Content.assemble(gap, toned(key, "accent"), " ", toned(title), " ")
        parts.append(Part(content, tab.action))
    return parts


def _right(facts: HeaderFacts) -> list[Part]:
    parts: list[Part] = []
    workspace = "all workspaces" if facts.workspace is None else facts.workspace
    if workspace:
        scope = Content.assemble(toned("w ", "accent"), toned(workspace), "  ")
        parts.append(Part(scope, "app.workspace"))
    for one in _badges(facts):
        parts += [one, Part(Content(" "))]
    if facts.profile:
        tone: Tone = "bad" if facts.critical else "plain"
        parts.append(Part(toned(facts.profile, tone, bold=True)))
    if facts.host:
        parts.append(Part(toned(f" {facts.host}", "muted")))
    if facts.token_source:
        parts.append(Part(toned(f" · key: {facts.token_source}", "muted")))
    parts.append(Part(Content(" ")))
    if facts.faults:
        parts += [Part(badge(FAULTS)), Part(Content(" "))]
    if facts.read_only:
        why = f": {facts.why_read_only}" if facts.why_read_only else ""
        parts.append(Part(badge(f"{READ_ONLY}{why}")))
    return parts


def _badges(facts: HeaderFacts) -> Iterator[Part]:
    """The badges that ask for attention."""
    if facts.alerts is not None:
        colours = "alarm" if facts.alerts.tone == "bad" else "badge"
        yield Part(badge(facts.alerts.text, colours), "go.alerts")
    if facts.errors:
        yield Part(badge(f"{BROKEN} {facts.errors}", "alarm"))
    if facts.silent:
        yield Part(badge(SILENT, "alarm"))
    if facts.critical:
        yield Part(badge(CRITICAL, "alarm"))


class HeaderBar(PartsLine):
    """The header line."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._facts: HeaderFacts | None = None

    def show_facts(self, facts: HeaderFacts) -> None:
        """Show these facts in the available width."""
        self._facts = facts
        self.show_parts(header_parts(facts, self.room))

    def on_resize(self) -> None:
        """Fit the facts to the new width."""
        if self._facts is not None:
            self.show_facts(self._facts)


def crumbs_line(crumbs: Sequence[str], width: int) -> Content:
    """The path to a screen that another one opened; the last crumb is cut last."""
    here = toned(crumbs[-1], "plain", bold=True)
    room = max(1, width - 2 - here.cell_length)
    way = _CRUMB.join([*crumbs[:-1], ""])
    if cell_len(way) > room:
        way = fit(way, max(1, room - len(_CRUMB))) + _CRUMB
    back = toned(with_keys("   {app.back} goes back"), "muted")
    return Content.assemble(" ", toned(way, "muted"), here, back)


def header_facts(app: GwtuiApp, current: str) -> HeaderFacts:
    """The content of the header on the tab ``current``."""
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
    """The gateway, for dialogs that cover the header; empty for one on a private socket."""
    if app.session is None:
        return ""
    connection = app.session.connection
    host = _host(connection)
    label = safe_text(connection.label, 40)
    parts = (CRITICAL if connection.critical else "", "" if label == host else label, host)
    return " · ".join(filter(None, parts)) if host else ""


def _host(connection: Connection) -> str:
    """Empty for a gateway on a private socket: its address is meaningless."""
    return "" if connection.socket_path else safe_text(urlsplit(connection.base_url).netloc, 60)


def _source(connection: Connection) -> str:
    same = connection.token_source == connection.label
    return "" if same else safe_text(connection.token_source, 30)


def _tabs(current: str) -> tuple[HeaderTab, ...]:
    """The tabs, plus the current screen if it has none."""
    places = [(action, tab_of(action)) for action in place_actions()]
    return tuple(
        HeaderTab(
            action.id,
            shown(action.keys[0]) if action.keys else "",
            TITLES[place],
            place == current,
        )
        for action, place in places
        if place is not None and (place in TABS or place == current)
    )


def badge(text: str, colours: str = "badge") -> Content:
    """A text with a background, in the theme's colours "badge" or "alarm"."""
    return Content.styled(f" {text} ", f"bold ${colours}-foreground on ${colours}-background")


def beside(texts: Sequence[str], room: int) -> str:
    """The facts in at most ``room`` cells; the longest are cut first."""
    fitted = list(texts)
    while (excess := cell_len(_BETWEEN.join(fitted)) - room) > 0:
        place = max(range(len(fitted)), key=lambda at: cell_len(fitted[at]))
        length = cell_len(fitted[place])
        if length <= _NARROWEST:
            break
        fitted[place] = fit(texts[place], max(_NARROWEST, length - excess))
    return _BETWEEN.join(fitted)


def status_content(left: Content, facts: Sequence[str], width: int, *, least: int = 0) -> Content:
    """A line with ``left`` and the right-aligned facts, which ``left`` never displaces.

    The facts get ``least`` cells if they need as many.
    """
    if not facts:
        return left
    right = beside(facts, max(least, width - left.cell_length - _GAP - 1))
    room = max(0, width - cell_len(right) - _GAP - 1)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    gap = " " * max(0, width - left.cell_length - cell_len(right) - 1)
    return Content.assemble(left, gap, toned(right, "muted"), " ")


class TwoEnds(OneLine):
    """A line with a left and a right text; the right one may take half of it."""

    def __init__(self, left: Content, right: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = left
        self._right = (right,) if right else ()

    def render(self) -> Content:
        """Both texts in the available width."""
        width = self.size.width
        return status_content(self._left, self._right, width, least=width // 2)


class StatusLine(OneLine):
    """The line above the footer."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._left = Content("")
        self._facts: HeaderFacts | None = None

    def show_status(self, left: Content, facts: HeaderFacts) -> None:
        """Show this text, and the facts that the header leaves out."""
        self._left, self._facts = left, facts
        self.show(status_content(left, left_out(facts, self.room), self.room))

    def on_resize(self) -> None:
        """Fit the line to the new width."""
        if self._facts is not None:
            self.show_status(self._left, self._facts)


@lru_cache(maxsize=8)
def footer_parts(actions: tuple[Action, ...], width: int) -> tuple[Part, ...]:
    """The hints that fit ``width`` cells; later ones are left out first."""
    hinted = [action for action in actions if action.footer and action.keys]
    room = width - 1
    kept: set[str] = set()
    for action in sorted(hinted, key=lambda action: action.id not in _ALWAYS):
        needed = _hint(action).cell_length
        if needed > room:
            break
        room -= needed
        kept.add(action.id)
    # Global keys come last, so that they are always at the same end.
    ordered = sorted(hinted, key=lambda action: action.scope == APP)
    hints = [Part(_hint(action), action.id) for action in ordered if action.id in kept]
    return (Part(Content(" ")), *hints)


def _hint(action: Action) -> Content:
    return Content.assemble(
        toned(shown(action.keys[0]), "accent", bold=True), " ", toned(action.title, "muted"), "  "
    )


class KeyFooter(PartsLine):
    """The footer line: the keys of the screen or the focused widget."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._actions: tuple[Action, ...] = ()

    def show_actions(self, actions: Sequence[Action]) -> None:
        """Show hints for these actions, in order of importance.

        If the focused widget takes keys first, its keys are shown instead.
        """
        self._actions = tuple(actions)
        self.fit()

    def on_resize(self) -> None:
        """Fit the hints to the new width."""
        self.fit()

    def fit(self) -> None:
        """Show the hints that fit the width, for the current focus."""
        keys = focus_keys(self.screen.focused)
        hints = [Part(toned(f" {keys}", "muted"))] if keys else None
        self.show_parts(hints or footer_parts(self._actions, self.room))
