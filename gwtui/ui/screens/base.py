"""The base of all full-screen views: frame, feeds, and the states without data."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input

from gwtui.crud.action import APP, COPY
from gwtui.crud.resource import ResourceSpec
from gwtui.domain.safe_text import in_sentence, safe_line, safe_text
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.commands import offered, with_keys
from gwtui.ui.connection_health import (
    StatePanel,
    freshness,
    say_unconnected,
    say_without_value,
    skew_text,
)
from gwtui.ui.subscriptions import FeedChanged, FeedUse, Subscriptions
from gwtui.ui.text import toned
from gwtui.ui.unresolved_changes import banner_text
from gwtui.ui.widgets.frame import (
    HeaderFacts,
    crumbs_line,
    footer_parts,
    header_facts,
    header_parts,
    status_line,
)
from gwtui.ui.widgets.lifetime import RunsWhileOpen, TerminalSized
from gwtui.ui.widgets.lines import OneLine, PartsLine
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.resources.copying import CopySource
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.hub import FeedHub


class GatewayScreen(RunsWhileOpen, TerminalSized[None]):
    """Header, banner, body, status line and footer around one view of the gateway.

    A subclass calls ``super().__init__("credits", title="Credits")`` and overrides the hooks below.
    For a screen that was opened from a row, ``parent`` is the identity of the row, ``parent_name``
    its name, and ``opener`` its resource. Actions of the registry with the scope APP, ``resource``
    or one of ``extra_scopes`` automatically get their keys, hints and menu entries.

    ``feeds(hub)`` returns the feeds to watch, with a callback for each:
    ``[(feed, self._show_credits), ...]``. It is called whenever the screen is shown and when the
    workspace scope changes. While the first feed has no value, "loading" or an error replaces the
    body; later errors appear in the banner above the last good data. Callbacks run in the message
    loop of the screen, only while it is shown; ``state.value`` may be None.

    ``tick(now)`` is called once per second while the screen is shown, and after a resize. It must
    not repaint unchanged text; ``OneLine.show`` and ``LinesView.show`` ensure that. With
    ``ticks_unfocused`` it is also called while the terminal has no focus.
    """

    AUTO_FOCUS = ""
    ticks_unfocused = False
    focused = Reactive[Widget | None](None, repaint=False)
    """The focused widget. Unlike in Textual, a change does not repaint the whole screen."""

    def __init__(  # noqa: PLR0913 - all by name
        self,
        resource: str,
        *,
        title: str,
        extra_scopes: Sequence[str] = (),
        spec: ResourceSpec[Any] | None = None,
        parent: str | None = None,
        parent_name: str = "",
        opener: ResourceSpec[Any] | None = None,
    ) -> None:
        super().__init__()
        self.resource = resource
        self.heading = title
        self.spec = spec
        self.parent_row = parent
        self.parent_name = parent_name or safe_text(parent or "", 60)
        self.opener = opener
        self.tab = resource if opener is None else opener.id
        """Id of the tab to highlight in the header."""
        self.expected_gone: set[str] = set()
        """Identities of rows that gwtui removed itself, so they may disappear without a notice."""
        self.scopes = (resource, *extra_scopes, APP)
        self._subscriptions = Subscriptions(self.post_message)

    # Hooks ----------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Yield the widgets of the body."""
        yield from ()

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """Return the feeds to watch while the screen is shown.

        The state of the first feed decides whether the body is shown (``deciding_state``).
        """
        raise NotImplementedError

    def empty_text(self) -> str | None:
        """Return the text for a screen without rows; None if there are rows."""
        return None

    def empty_title(self) -> str:
        """Return the title above ``empty_text``."""
        return f"No {in_sentence(self.heading)} here"

    def status_parts(self) -> Sequence[Content]:
        """Return the parts at the left of the status line."""
        return ()

    def tick(self, now: datetime) -> None:
        """Update texts that depend on the time; called once per second."""

    def target(self) -> Any | None:
        """Return the object that actions apply to; None if there is none."""
        return None

    def identity(self) -> str | None:
        """Return the identity of ``target``."""
        return None

    def copy_source(self) -> CopySource[Any] | None:
        """Return the source for copying rows; None if the screen has no rows to copy."""
        return None

    def expect_gone(self, identities: Iterable[str]) -> None:
        """Show no notice when these rows disappear, because gwtui removed them itself."""
        self.expected_gone.update(identities)

    def focus_body(self) -> None:
        """Focus the main widget of the body."""

    def go_back(self) -> bool:
        """Close an open part of the screen, such as a filter; return False if there was none."""
        return False

    def show_row(self, identity: str, *, detail: bool = True) -> None:
        """Select a row as soon as it appears, and with ``detail`` open its detail pane."""

    def resolve_path(self, path: str, child: str | None = None) -> None:  # noqa: ARG002 - the hook's
        """Show the row that ``path`` names, or report that there is none.

        ``child`` is the id of a list to open from the row.
        """
        self.gwtui.say(f"{self.heading} has no “{safe_line(path, 60)}”", severity="warning")

    def crumbs(self) -> Sequence[str]:
        """Return the breadcrumbs of a screen that was opened from a row; empty otherwise."""
        if self.opener is None:
            return ()
        return (self.opener.title, self.parent_name, self.heading)

    def notice(self) -> Content | None:
        """Return a text for the banner; None if the banner is to show the errors of the feeds."""
        return None

    def deciding_state(self) -> FeedState[Any] | None:
        """Return the feed state that decides whether the body is shown; by default the first."""
        return self.states[0] if self.states else None

    @property
    def is_loading(self) -> bool:
        """Whether the feed that actions depend on has not answered yet."""
        state = self.deciding_state()
        return state is not None and state.unanswered

    def needs_rows(self, event: events.Event) -> bool:
        """Whether ``event`` is a key of an action on rows; text input and navigation are not."""
        if isinstance(self.focused, Input) or not isinstance(event, events.Key):
            return False
        action = next(
            (candidate for candidate in offered(self.scopes) if event.key in candidate.keys), None
        )
        return action is None or action.target or action.scope == COPY

    # The frame ------------------------------------------------------------------------------

    @property
    def gwtui(self) -> GwtuiApp:
        """The app, typed as ``GwtuiApp``."""
        return cast("GwtuiApp", self.app)

    @property
    def now(self) -> datetime:
        """The current time, UTC."""
        return self.gwtui.clock.now()

    @property
    def states(self) -> tuple[FeedState[Any], ...]:
        """The latest states of the watched feeds."""
        return self._subscriptions.states

    def compose(self) -> ComposeResult:
        yield PartsLine(id="header")
        yield OneLine(id="banner")
        yield OneLine(id="crumbs")
        yield StatePanel(id="panel")
        with Vertical(id="body"):
            yield from self.compose_body()
        yield from self.compose_bars()
        yield OneLine(id="status")
        yield PartsLine(id="footer")

    def compose_bars(self) -> ComposeResult:
        """Yield the widgets between the body and the status line."""
        yield from ()

    def capture(self) -> ActionContext:
        """Return the context for an action that starts now."""
        return ActionContext(self.gwtui, self.spec, self.target(), self.identity(), self)

    def refeed(self) -> None:
        """Watch the feeds again: the screen was shown, or the workspace scope changed."""
        session = self.gwtui.session
        if session is not None and self.is_current:
            self._subscriptions.open(self.feeds(session.hub))
        self.refresh_frame()

    async def reread(self) -> None:
        """Refresh every watched feed, and wait for the results."""
        await asyncio.gather(*(feed.refresh() for feed in self._subscriptions.feeds))

    def on_screen_resume(self) -> None:
        self.refeed()
        if self.focused is None:
            self.focus_body()

    def on_screen_suspend(self) -> None:
        if self.is_open:  # the action that opened another screen has stopped waiting
            self._show_status(self.now, header_facts(self.gwtui, self.tab))
        self._subscriptions.close()

    def on_feed_changed(self, message: FeedChanged) -> None:
        if self.is_open and self._subscriptions.handle(message):
            self.refresh_frame()
            session, state = self.gwtui.session, self.deciding_state()
            has_answer = state is None or state.shown is not None or state.error is not None
            if session is not None and not session.completed.is_set() and has_answer:
                self.call_after_refresh(self.gwtui.connection_manager.open_rest)

    async def on_parts_line_clicked(self, message: PartsLine.Clicked) -> None:
        await self.gwtui.perform(by_id(message.action), self.capture())

    @on(events.Resize)
    def tick_and_refresh(self) -> None:
        """Call ``tick`` and refresh the frame: once per second while shown, and after a resize."""
        if self.is_open:
            guarded(f"tick of {self.resource}", self.tick, None)(self.now)
            self.refresh_frame()

    def refresh_frame(self) -> None:
        """Update header, banner, panel, status line and footer; only what has changed is repainted.

        Under a dialog no feed is watched, so panel and status line keep their last state.
        """
        if not self.is_open:
            return
        now, facts = self.now, header_facts(self.gwtui, self.tab)
        parts = header_parts(facts, self.app.size.width)
        self.query_one("#header", PartsLine).show_parts(parts)
        self._show_banner(now)
        self._show_crumbs()
        if self.is_active or self.gwtui.session is None:
            self._show_panel(now)
            self._show_status(now, facts)
        self._show_footer()

    def _show_banner(self, now: datetime) -> None:
        banner = self.query_one("#banner", OneLine)
        notice = self.notice()
        if notice is not None:
            banner.display = True
            banner.show(notice)
            return
        named = [(feed.name, feed.state) for feed in self._subscriptions.feeds]
        session = self.gwtui.session
        text = self._subscriptions.broken_text or self.gwtui.health.banner(named, now)
        if not text and session is not None:
            text = skew_text(session.gateway.skew)
        text = " · ".join(part for part in (banner_text(session, self.resource), text) if part)
        banner.display = bool(text)
        banner.show(Content(f" ! {text}"))

    def _show_crumbs(self) -> None:
        crumbs = self.crumbs()
        line = self.query_one("#crumbs", OneLine)
        line.display = bool(crumbs)
        if crumbs:
            line.show(crumbs_line(crumbs, self.app.size.width))

    def _show_panel(self, now: datetime) -> None:
        panel, body = self.query_one("#panel", StatePanel), self.query_one("#body")
        if self.gwtui.session is None:
            say_unconnected(panel, self.gwtui.link, now)
            covered = True
        else:
            covered = self._say_state(panel, now)
        if panel.display != covered:
            panel.display = covered
            body.display = not covered
            if not covered and self.is_current and self.focused is None:
                self.focus_body()

    def _say_state(self, panel: StatePanel, now: datetime) -> bool:
        """Show a panel instead of the body if there is no data; return whether it does."""
        if self._subscriptions.never_shown:
            title = f"{BROKEN} {self.heading} cannot be shown"
            panel.say(title, "This is a bug in gwtui; see its log.", tone="bad")
            return True
        deciding = self.deciding_state()
        if deciding is not None and say_without_value(panel, self.heading, deciding, now):
            return True
        if not self.states:
            return False
        empty = self.empty_text()
        if empty is not None:
            panel.say(self.empty_title(), with_keys(empty, self.gwtui.hold_reason_of))
        return empty is not None

    def _show_status(self, now: datetime, facts: HeaderFacts) -> None:
        instead = (toned(BROKEN, "bad"),)
        parts = list(guarded(f"status of {self.resource}", self.status_parts, instead)())
        if waits := self.gwtui.waits.text:
            parts.insert(0, toned(waits, "accent"))
        if self.states and self.states[0].fetched_at is not None:
            session = self.gwtui.session
            silent = session is not None and session.gateway.traffic.silent
            parts.append(freshness(self.states[0], now, silent=silent))
        left = Content.assemble(" ", Content(" · ").join(parts))
        self.query_one("#status", OneLine).show(status_line(left, facts, self.app.size.width))

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_footer(self) -> None:
        if self.is_open:
            hints = self.gwtui.footer_actions(self.scopes)
            parts = footer_parts(hints, self.app.size.width, self.focused)
            self.query_one("#footer", PartsLine).show_parts(parts)


class TableScreen(GatewayScreen):
    """A screen whose actions apply to the selected row of its ``table``.

    ``opens`` is the id of the action that Enter or a click on the selected row runs.
    """

    table: ResourceTable[Any]
    opens: ClassVar[str] = ""

    def target(self) -> Any | None:
        return self.table.selected

    def identity(self) -> str | None:
        return self.table.selected_identity

    def focus_body(self) -> None:
        self.set_focus(self.table)

    @on(Opened)
    async def _row_opened(self, event: Opened) -> None:
        event.stop()
        context = self.capture()
        if context.identity == event.identity:
            await self.open_selected(context)

    async def open_selected(self, context: ActionContext) -> None:
        """Run the action ``opens`` on the selected row."""
        await self.gwtui.perform(by_id(self.opens), context)
