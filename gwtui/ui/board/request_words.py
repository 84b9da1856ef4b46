"""The request budget in words: what goes out, what is expected, and what each reading costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.client.request_log import Recent
from gwtui.domain import times
from gwtui.domain.safe_text import safe_text
from gwtui.ui.tones import toned

if TYPE_CHECKING:
    from gwtui.resources.session import Session
    from gwtui.watch.feed import Feed

_NAME = 34
_EXPLANATION = (
    "A reading that takes many requests is repeated less often: one a second at most for each.",
    "While the terminal has no focus only the recorder of the history reads, at its own pace.",
    "A gateway that asks for fewer (429) is obeyed: it is asked again when it said, or later.",
)


def requests_part(session: Session) -> Content:
    """For a status line: the last minute; louder while the gateway asks for fewer."""
    recent = session.gateway.traffic.recent()
    if recent.limited:
        return toned(f"{_rate(recent)}, {recent.limited} refused (429)", "bad")
    return toned(_rate(recent), "muted")


def request_lines(session: Session) -> Sequence[Content]:
    """For reading: the last minute beside what is expected, then every feed that reads."""
    recent = session.gateway.traffic.recent()
    expected = session.hub.expected_per_minute
    lines = [
        _labelled("last minute", f"{recent.reads} reads, {recent.writes} writes"),
        _labelled("expected", f"about {expected:.0f} a minute as long as the same is shown"),
    ]
    if recent.limited:
        words = f"{recent.limited} answers asked for fewer requests (429)"
        lines.append(Content.assemble(_label("refused"), toned(words, "bad", bold=True)))
    lines += [
        Content(""),
        toned(f"  {'reading':<{_NAME}}{'every':>10}{'requests':>10}{'a minute':>10}", "muted"),
    ]
    for feed in session.hub.feeds:
        line = _feed_line(feed)
        if line is not None:
            lines.append(line)
    return [*lines, Content(""), *(toned(f"  {text}", "muted") for text in _EXPLANATION)]


def _feed_line(feed: Feed[object]) -> Content | None:
    load = feed.load
    if load is None or not load.requests:  # not read now, or from this machine
        return None
    by = "" if feed.watched else "  for the history"
    return Content.assemble(
        f"  {safe_text(feed.name, _NAME - 1):<{_NAME}}",
        f"{times.age(load.seconds):>10}{load.requests:>10}{load.per_minute:>10.1f}",
        toned(by, "muted"),
    )


def _rate(recent: Recent) -> str:
    return f"{recent.requests} requests/min"


def _labelled(label: str, words: str) -> Content:
    return Content.assemble(_label(label), toned(words))


def _label(label: str) -> Content:
    return toned(f"  {label:<14}", "muted")
