"""Single lines of the activity screen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from gwtui.contract.activity import ActivityRow
from gwtui.domain import activity
from gwtui.resources.activity import totals
from gwtui.ui.commands import key_of
from gwtui.ui.tones import cell_content, toned
from gwtui.watch.feeds.activity import KeyActivity, UserActivity


def totals_line(rows: Sequence[ActivityRow], width: int) -> Content:
    """As many of the sums as there is room for."""
    line = Content("")
    for cell in totals(activity.tally(rows)):
        longer = Content(" · ").join([line, cell_content(cell)] if line else [cell_content(cell)])
        if longer.cell_length > width:
            break
        line = longer
    return line


def read_of_each(
    read: KeyActivity | UserActivity | None, part: str, *, failed: bool
) -> tuple[list[Content], list[Content]]:
    """What was left out of single keys or users, and how far the others are read."""
    noun, plural = ("key", "keys") if part == "key" else ("person", "people")
    if read is None:
        words = f"{plural} unreadable" if failed else f"reading {noun} by {noun}…"
        return [], [toned(words, "warn" if failed else "muted")]
    if not read.left_out:
        return [], []
    count = len(read.rows)
    which = "busiest" if part == "key" else "first"
    words = f"the {count:,} {which} of {count + read.left_out:,} {plural}"
    return [toned(f"{words}: {key_of('app.workspace')} narrows to a workspace", "warn")], []


def choice_line(
    title: str,
    words: Sequence[str],
    chosen: str,
    key: str,
    second: str | None = None,
    second_key: str = "",
) -> Content:
    """What can be chosen with a key, the present choice marked by its brackets.

    ``second`` is what is chosen besides with another key, marked by a plus.
    """
    marked = {second: f"+{second}", chosen: f"[{chosen}]"}
    shown = Content("  ").join(
        toned(marked[word], "accent", bold=True) if word in marked else toned(word, "muted")
        for word in words
    )
    keys = f"   {key} switches" + (f", {second_key} adds" if second_key else "")
    return Content.assemble(toned(f"{title}  ", "plain", bold=True), shown, toned(keys, "muted"))
