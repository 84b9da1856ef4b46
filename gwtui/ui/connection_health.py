"""Texts about the state of the connection: banner, status line, and the panel without data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.widgets import Static

from gwtui.client.errors import (
    ConnectFailedError,
    ForbiddenError,
    GatewayError,
    NoAnswerError,
    RateLimitedError,
    ServerError,
    StatusError,
    UnauthorizedError,
    UnreadableAnswerError,
)
from gwtui.domain.cell_values import Tone
from gwtui.domain.safe_text import in_sentence, safe_text
from gwtui.domain.times import HOUR, MINUTE, age
from gwtui.resources.session import Link
from gwtui.ui.commands import with_keys
from gwtui.ui.text import toned
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.client.request_log import ClockSkew


_WORDS: tuple[tuple[type[GatewayError], str], ...] = (
    (UnauthorizedError, "The gateway rejected this key (401)"),
    (ForbiddenError, "No permission (403): a management key is needed"),
    (RateLimitedError, "Rate limited by the gateway (429)"),
    (ConnectFailedError, "Gateway unreachable"),
    (NoAnswerError, "No response from the gateway"),
    (UnreadableAnswerError, "The gateway sent an unreadable response"),
)

_UNIT_FROM = 2
"""Minimum number of minutes or hours to show a clock difference in that unit."""


def error_text(error: GatewayError) -> str:
    """A short description of the error."""
    for kind, words in _WORDS:
        if isinstance(error, kind):
            return words
    if isinstance(error, ServerError):
        return f"Gateway error ({error.status})"
    if isinstance(error, StatusError):
        return f"The gateway refused this ({error.status}): {safe_text(error.message, 120)}"
    return safe_text(error.message, 160)


def retry_text(retry_at: datetime | None, now: datetime, *, refreshing: bool) -> str:
    """When the next attempt starts: "retrying in 5 s"; empty if none is planned."""
    if refreshing:
        return "retrying now"
    if retry_at is None:
        return ""
    seconds = (retry_at - now).total_seconds()
    return "retrying now" if seconds < 1 else f"retrying in {age(seconds)}"


def clock_time(moment: datetime) -> str:
    """The time of day with seconds, such as 14:03:05 UTC."""
    return f"{moment:%H:%M:%S} UTC"


def missing_text(states: Sequence[FeedState[Any]]) -> str:
    """A warning about unreadable rows or a truncated list; empty if the data is complete."""
    unreadable = sum(state.list_gaps.unreadable_rows for state in states)
    rows, are = ("row", "is") if unreadable == 1 else ("rows", "are")
    parts = [
        f"{unreadable:,} {rows} could not be read and {are} left out" if unreadable else "",
        # Every read of the account hits the same limit.
        "the list may be incomplete"
        if any(state.list_gaps.incomplete_lists for state in states)
        else "",
    ]
    return " · ".join(part for part in parts if part)


def skew_text(skew: ClockSkew) -> str:
    """A warning that the clocks differ; empty if the difference is too small.

    The difference is rounded, so that the text stays the same from response to response.
    """
    if not skew.is_notable:
        return ""
    where = "ahead" if skew.seconds > 0 else "behind"
    by = _span(abs(skew.seconds))
    return f"The gateway's clock is {by} {where}: ages and expiries here are off by that"


def _span(seconds: float) -> str:
    if seconds < _UNIT_FROM * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _UNIT_FROM * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:,.0f} h"


@dataclass(slots=True)
class ConnectionHealth:
    """Remembers when each feed began to fail."""

    _since: dict[str, datetime] = field(default_factory=dict)

    def banner(self, states: Sequence[tuple[str, FeedState[Any]]], now: datetime) -> str:
        """The banner text for these feeds: the longest failure, else missing rows, else empty.

        ``states`` are pairs of a feed's name and state.
        """
        worst: tuple[datetime, GatewayError, FeedState[Any]] | None = None
        for name, state in states:
            if state.error is None:
                self._since.pop(name, None)
                continue
            since = self._since.setdefault(name, now)
            if worst is None or since < worst[0]:
                worst = (since, state.error, state)
        if worst is None:
            return missing_text([state for _name, state in states])
        since, error, state = worst
        parts = [
            error_text(error),
            retry_text(state.retry_at, now, refreshing=state.refreshing),
            f"failing since {clock_time(since)}",
            "" if state.value is not None else "no data yet",
        ]
        return " · ".join(part for part in parts if part)


class StatePanel(Static):
    """A title and a few lines that explain a state and the next step."""

    DEFAULT_CSS = """
    StatePanel { width: 1fr; height: 1fr; content-align: center middle; text-align: center;
                 padding: 1 2; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def say(self, title: str, *lines: str, tone: Tone = "plain") -> None:
        """Show a title and lines; does nothing if the panel already shows them."""
        content = Content("\n").join(
            [toned(title, tone, bold=True), *(toned(line, "muted") for line in lines if line)]
        )
        if not content.is_same(self._shown):
            self._shown = content
            self.update(content, layout=False)

    def say_connecting(self) -> None:
        """Show that the connection is being opened."""
        self.say("Connecting…", "The dashboard loads as soon as the gateway responds.")

    @property
    def text(self) -> str:
        """The visible text without styles."""
        return self._shown.plain


def say_unconnected(panel: StatePanel, link: Link, now: datetime) -> None:
    """Show why there is no connection, and when the next attempt starts."""
    if link.error is None:
        panel.say_connecting()
        return
    retry = retry_text(link.retry_at, now, refreshing=False)
    keys = with_keys("{app.refresh} retries now · {app.quit} quits")
    panel.say("Not connected", link.error, f"{retry} · {keys}", tone="bad")


def say_without_value(
    panel: StatePanel, heading: str, state: FeedState[Any], now: datetime
) -> bool:
    """Show that a feed is loading or has failed; returns False if it has a value to show.

    ``heading`` names the data, such as "Keys".
    """
    match state.phase(now):
        case "loading":
            panel.say(f"Loading {in_sentence(heading)}…")
            return True
        case "failed" if state.error is not None:
            retry = retry_text(state.retry_at, now, refreshing=state.refreshing)
            panel.say(
                f"{heading} could not be read",
                error_text(state.error),
                with_keys(f"{retry} · {{app.refresh}} retries now") if retry else "",
                tone="bad",
            )
            return True
        case _:
            return False


def freshness(state: FeedState[Any], now: datetime, *, silent: bool = False) -> Content:
    """The time of the last update; its age instead if the data is stale or the last read failed.

    ``silent``: the gateway has stopped answering, so the age is shown too.
    """
    seconds = state.age(now) or 0.0
    if state.error is not None or silent:
        return toned(f"last read {age(seconds)} ago", "bad")
    if state.is_stale(now) or state.fetched_at is None:
        return toned(f"stale, {age(seconds)} old", "warn")
    return toned(f"updated {clock_time(state.fetched_at)}", "muted")
