"""The words of a screen's states: connecting, loading, failed, stale, fresh."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from textual.content import Content

from gwtui.domain.times import age
from gwtui.resources.session import Link
from gwtui.ui.health import clock_time, next_try, trouble
from gwtui.ui.tones import toned
from gwtui.ui.widgets.state_panel import StatePanel
from gwtui.watch.feed import FeedState


def say_unconnected(panel: StatePanel, link: Link, now: datetime) -> None:
    """Say why there is no connection, and when the next try is."""
    if link.error is None:
        panel.say_connecting()
        return
    retry = next_try(link.retry_at, now, refreshing=False)
    panel.say("No connection", link.error, f"{retry} · r tries now · q quits", tone="bad")


def say_without_value(
    panel: StatePanel, heading: str, state: FeedState[Any], now: datetime
) -> bool:
    """Say that nothing came yet, or why; False when there is a value to show instead."""
    match state.phase(now):
        case "loading":
            panel.say(f"Loading {in_sentence(heading)}…")
            return True
        case "failed" if state.error is not None:
            retry = next_try(state.retry_at, now, refreshing=state.refreshing)
            panel.say(
                f"{heading} could not be read",
                trouble(state.error),
                f"{retry} · r tries now",
                tone="bad",
            )
            return True
        case _:
            return False


def freshness(state: FeedState[Any], now: datetime) -> Content:
    """The clock time while fresh, so that nothing ticks; the age once it matters."""
    seconds = state.age(now) or 0.0
    if state.error is not None:
        return toned(f"last good data {age(seconds)} old", "bad")
    if state.is_stale(now) or state.fetched_at is None:
        return toned(f"stale, {age(seconds)} old", "warn")
    return toned(f"updated {clock_time(state.fetched_at)}", "muted")


def in_sentence(title: str) -> str:
    """A title inside of a sentence: in small letters, but for abbreviations such as ZDR."""
    return " ".join(word if word.isupper() else word.lower() for word in title.split(" "))
