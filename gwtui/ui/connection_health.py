"""Describes the connection in the banner, the status line and the panel without data."""

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
    (ForbiddenError, "No permission to read this (403); use a management key"),
    (RateLimitedError, "Rate limited by the gateway (429)"),
    (ConnectFailedError, "Gateway unreachable"),
    (NoAnswerError, "No answer from the gateway"),
    (UnreadableAnswerError, "The gateway sent an unreadable answer"),
)

_UNIT_FROM = 2
"""The fewest minutes or hours in which a clock difference is shown."""


def error_text(error: GatewayError) -> str:
    """Describe the error in a few words."""
    for kind, words in _WORDS:
        if isinstance(error, kind):
            return words
    if isinstance(error, ServerError):
        return f"Gateway error ({error.status})"
    if isinstance(error, StatusError):
        return f"The gateway refused this ({error.status}): {safe_text(error.message, 120)}"
    return safe_text(error.message, 160)


def retry_text(retry_at: datetime | None, now: datetime, *, refreshing: bool) -> str:
    """When the next attempt starts."""
    if refreshing:
        return "retrying now"
    if retry_at is None:
        return ""
    seconds = (retry_at - now).total_seconds()
    return "retrying now" if seconds < 1 else f"retrying in {age(seconds)}"


def clock_time(moment: datetime) -> str:
    """A moment of today, to the second."""
    return f"{moment:%H:%M:%S} UTC"


def missing_text(states: Sequence[FeedState[Any]]) -> str:
    """A warning about unreadable rows or a truncated list; empty if the data is complete."""
    unreadable = sum(state.lacks.unreadable for state in states)
    rows, are = ("row", "is") if unreadable == 1 else ("rows", "are")
    parts = [
        f"{unreadable:,} {rows} could not be read and {are} left out" if unreadable else "",
        # Each reading of the account meets the same ones.
        "the list may be incomplete" if any(state.lacks.cut for state in states) else "",
    ]
    return " · ".join(part for part in parts if part)


def skew_text(skew: ClockSkew) -> str:
    """What a difference of the clocks means for what is shown; empty while there is none to tell.

    Rounded, so that the words stay the same from answer to answer.
    """
    if not skew.is_notable:
        return ""
    where = "ahead" if skew.seconds > 0 else "behind"
    by = _span(abs(skew.seconds))
    return f"The gateway's clock is {by} {where}: ages and expiries here are off by that"


def _span(seconds: float) -> str:
    """A clock difference in whole seconds, minutes or hours."""
    if seconds < _UNIT_FROM * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _UNIT_FROM * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:,.0f} h"


@dataclass(slots=True)
class ConnectionHealth:
    """Remembers since when each feed fails."""

    _since: dict[str, datetime] = field(default_factory=dict)

    def banner(self, states: Sequence[tuple[str, FeedState[Any]]], now: datetime) -> str:
        """The banner's text for these feeds by name; empty while all is well."""
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
    """A title and a few lines that explain a state and what to do. Static, without a spinner."""

    DEFAULT_CSS = """
    StatePanel { width: 1fr; height: 1fr; content-align: center middle; text-align: center;
                 padding: 1 2; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def say(self, title: str, *lines: str, tone: Tone = "plain") -> None:
        """Show a title and lines; sends nothing when they are shown already."""
        content = Content("\n").join(
            [toned(title, tone, bold=True), *(toned(line, "muted") for line in lines if line)]
        )
        if not content.is_same(self._shown):
            self._shown = content
            self.update(content, layout=False)

    def say_connecting(self) -> None:
        """Say that the connection is on its way."""
        self.say("Connecting…", "The dashboard loads as soon as the gateway answers.")

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return self._shown.plain


def say_unconnected(panel: StatePanel, link: Link, now: datetime) -> None:
    """Say why there is no connection, and when the next attempt starts."""
    if link.error is None:
        panel.say_connecting()
        return
    retry = retry_text(link.retry_at, now, refreshing=False)
    keys = with_keys("{app.refresh} retries now · {app.quit} quits")
    panel.say("No connection", link.error, f"{retry} · {keys}", tone="bad")


def say_without_value(
    panel: StatePanel, heading: str, state: FeedState[Any], now: datetime
) -> bool:
    """Say that nothing came yet, or why; False when there is a value to show instead."""
    match state.phase(now):
        case "loading":
            panel.say(f"Loading {in_sentence(heading)}…")
            return True
        case "failed" if state.error is not None:
            retry = retry_text(state.retry_at, now, refreshing=state.refreshing)
            panel.say(
                f"{heading} could not be read",
                error_text(state.error),
                with_keys(f"{retry} · {{app.refresh}} retries now"),
                tone="bad",
            )
            return True
        case _:
            return False


def freshness(state: FeedState[Any], now: datetime, *, silent: bool = False) -> Content:
    """The clock time while fresh, so that nothing ticks; the age once it matters.

    It matters when the gateway is ``silent``.
    """
    seconds = state.age(now) or 0.0
    if state.error is not None or silent:
        return toned(f"last good data {age(seconds)} old", "bad")
    if state.is_stale(now) or state.fetched_at is None:
        return toned(f"stale, {age(seconds)} old", "warn")
    return toned(f"updated {clock_time(state.fetched_at)}", "muted")
