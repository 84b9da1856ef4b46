"""Common tasks in the dashboard, key by key, with the maximum number of keys for each.

Each starts in the list of keys of a fresh demo. The journeys page of the manual, and the test that
types the journeys into the real command, are generated from these declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_PART = re.compile(r'"([^"]*)"|(\S+)')
_KEY_NAMES = frozenset({"Enter", "Tab", "Space", "Esc", "↑", "↓", "Ctrl+S"})
"""Keys without a character of their own."""


@dataclass(frozen=True)
class Stroke:
    """A single key or a typed text."""

    text: str
    is_text: bool = False
    """Whether it is a text of the user's own, such as a name: any other text would do as well."""

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.text,) if self.text in _KEY_NAMES else tuple(self.text)


@dataclass(frozen=True)
class Step:
    """Some keys, what they do, and what the screen shows afterwards.

    ``keys`` are separated by spaces: key names, characters, and quoted texts of the user's own.
    ``shows`` are regular expressions that must all match lines of the screen before the next step;
    {yesterday} is the day before today (UTC).
    """

    keys: str
    does: str
    shows: tuple[str, ...] = ()

    @cached_property
    def strokes(self) -> tuple[Stroke, ...]:
        return tuple(
            Stroke(word or is_text, is_text=not word) for is_text, word in _PART.findall(self.keys)
        )


@dataclass(frozen=True)
class CountedJourney:
    """A task, the steps to do it, and the maximum number of keys, without typed texts."""

    title: str
    bound: int
    steps: tuple[Step, ...]
    copies: str = ""
    """A regular expression for the clipboard at the end; empty for any content."""

    @cached_property
    def pressed(self) -> int:
        """The number of keys, without typed texts."""
        return sum(
            len(stroke.keys) for step in self.steps for stroke in step.strokes if not stroke.is_text
        )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The typed texts."""
        return tuple(
            stroke.text for step in self.steps for stroke in step.strokes if stroke.is_text
        )


_TWO_DISABLED = r"▼Used.*\n(.* disabled +(8\d|9\d|1\d\d)(\.\d)?% .*\n){2}"
_TWO_ENABLED = r"▼Used.*\n((?!.* disabled ).* (8\d|9\d|1\d\d)(\.\d)?% .*\n){2}"

COUNTED = (
    CountedJourney(
        "Who spent most yesterday, by key",
        4,
        (
            Step("7", "the activity of the last 30 days"),
            Step("K", "ranked by key"),
            Step(
                ",",
                "its last day: the first row is the answer",
                (r"^ only {yesterday} UTC", r"\[key\]", r"▼Spend.*\n▌ \S.* \$\d+\.\d\d +█"),
            ),
        ),
    ),
    CountedJourney(
        "The cheapest healthy endpoint with reasoning and 128k of context",
        25,
        (
            Step("3 E", "the endpoints of all models, cheapest first"),
            Step("/ s Tab h", "`status:h` matches healthy endpoints"),
            Step("Space pa Tab reas", "`parameter:reas`"),
            Step("Space co Tab >=128k", "`context>=128k`"),
            Step(
                "Enter",
                "back to the list: the first row is the answer",
                (
                    r"/ status:h parameter:reas context>=128k",
                    r"\d+ of \d+ endpoints · by blend \$/M ▲",
                    r"▲Blend.*\n▌ \S.* healthy +\$\d",
                ),
            ),
        ),
    ),
    CountedJourney(
        "Disable the two most used keys, then undo it",
        12,
        (
            Step('s "used" Enter', "sorted by `Used`, highest first"),
            Step("g", "to the first row", (r"▼Used.*\n▌",)),
            Step("Space Space", "both marked", (r"▼Used.*\n ●.*\n ●",)),
            Step("x", "the plan for both keys", (r"Disable 2 keys\?",)),
            Step("y", "confirms: both are disabled", (_TWO_DISABLED,)),
            Step("U", "the plan of the undo", (r"Undo: Disable 2 keys\?",)),
            Step("y", "confirms: both are as before", (_TWO_ENABLED, r"Undone")),
        ),
    ),
    CountedJourney(
        "Create a key with a limit in a workspace, and copy it",
        25,
        (
            Step("w prod Enter", "limits the lists to the workspace", (r"^ only Production · ",)),
            Step('n "nightly" Tab "25"', "a new key there, with a name and a limit in USD"),
            Step("Ctrl+S", "creates it and offers its value", (r"Key created: “nightly”",)),
            Step("y", "copies the value", (r"Copied ",)),
            Step(
                "Esc",
                "moves to the “I have stored this key” box",
                (r"To close this, tick “I have stored",),
            ),
            Step(
                "Enter Esc",
                "ticks the box and closes the dialog",
                (r"only Production · \d+ keys", r"▌ nightly +never used .* \$25\.00 "),
            ),
        ),
        copies=r"gw-v1-[0-9a-f]{64}",
    ),
    CountedJourney(
        "Switch to another profile",
        4,
        (
            Step("P", "the profiles"),
            Step("s", "limits them to `staging`"),
            Step("Enter", "opens its gateway", (r"\A.* staging\b", r"Switched to “staging”")),
        ),
    ),
)
