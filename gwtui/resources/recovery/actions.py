"""Actions on a write in doubt. None of them sends anything but reads.

``y`` copies here, as on every screen; it means yes only where a dialog asks a question.
"""

from __future__ import annotations

from gwtui.crud.action import Action

RESOURCE = "doubt"
"""One of them, with what was found."""

ACTIONS: tuple[Action, ...] = (
    Action(
        "doubt.happened",
        "It happened",
        "Settle it: it happened, and what is selected is what came of it",
        RESOURCE,
        ("h",),
        footer=True,
    ),
    Action(
        "doubt.did_not",
        "It did not happen",
        "Settle it: it did not happen",
        RESOURCE,
        ("n",),
        footer=True,
    ),
    Action(
        "doubt.further",
        "Look further",
        "Look for what was made an hour, then a day before and after",
        RESOURCE,
        ("f",),
        footer=True,
    ),
    Action(
        "doubt.show",
        "Show it",
        "Go to what is selected, or to what the write was about, without settling anything",
        RESOURCE,
        ("enter",),
        footer=True,
    ),
    Action(
        "doubt.later",
        "Leave it open",
        "Go back; it is offered again at the next start",
        RESOURCE,
        ("o",),
    ),
)
