"""Activity grouped by one or several of day, model, provider, workspace, key and user.

The gateway tells days, models, providers and workspaces in one answer (extended contract section
8). Keys and users it tells apart only when asked for each by itself; of the rows of a key the user
is the one who made it. What none of them did is a rest that cannot be told further.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gwtui.contract.usage import ActivityRow
from gwtui.domain import activity
from gwtui.domain.activity import ActivitySummary, Grouping
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.activity import Activity, KeyActivity, UserActivity

Part = Grouping | Literal["day"]
"""What rows can be told apart by."""
PARTS: tuple[Part, ...] = ("day", *activity.GROUPINGS)

OTHERS = "\0others"
"""In place of a key or user: what no listed one did."""
NOT_SAID = "not said"
_NAME = 80
_ASKED_FOR = frozenset({"key", "user"})
"""What is only told when each is asked for by itself."""


@dataclass(frozen=True, slots=True)
class Use:
    """A row of activity, and whose it is as far as that was asked for."""

    row: ActivityRow
    key: str | None = None
    user: str | None = None

    def part(self, part: Part) -> str:
        """What it belongs to; "" when that is not said."""
        row = self.row
        match part:
            case "day":
                day = activity.day_of(row)
                found = row.date if day is None else day.isoformat()
            case "model":
                found = row.model or row.model_permaslug
            case "provider":
                found = row.provider_name
            case "workspace":
                found = row.workspace_id
            case "key":
                found = self.key
            case "user":
                found = self.user
        return found or ""


@dataclass(frozen=True, slots=True)
class Uses:
    """Rows to be grouped, and names by what they name; ``rest`` is what else was done is called."""

    uses: tuple[Use, ...]
    names: Mapping[Part, Mapping[str, str]] = field(default_factory=dict)
    rest: str = ""

    def name(self, part: Part, identity: str) -> str:
        """What one is called, fit to be shown."""
        if identity == OTHERS:
            return self.rest
        known = self.names.get(part, {}).get(identity)
        return known or safe_line(identity, _NAME) or NOT_SAID


@dataclass(frozen=True, slots=True)
class ActivityGroup:
    """Rows that have the same parts, and their sums."""

    parts: tuple[str, ...]
    tally: ActivitySummary
    rows: tuple[ActivityRow, ...] = field(default=(), compare=False, repr=False)


def of_account(found: Activity) -> Uses:
    """Rows without keys and users."""
    return Uses(tuple(map(Use, found.rows)), {"workspace": found.workspaces})


def of_keys(keys: KeyActivity, found: Activity) -> Uses:
    """Rows by key, and by who made it."""
    uses = (
        Use(row, key, keys.makers.get(key) or None)
        for key, rows in keys.rows.items()
        for row in rows
    )
    rest = "deleted keys"
    if keys.left_out:
        rest += f" and {keys.left_out} that were not read"
    names: dict[Part, Mapping[str, str]] = {
        "workspace": found.workspaces,
        "key": keys.names,
        "user": keys.people,
    }
    return Uses(tuple(uses), names, rest)


def of_users(users: UserActivity, found: Activity) -> Uses:
    """Rows by the user who made the key."""
    uses = (Use(row, None, user) for user, rows in users.rows.items() for row in rows)
    rest = "keys of nobody here"
    if users.left_out:
        rest += f" and {users.left_out} people who were not read"
    return Uses(tuple(uses), {"workspace": found.workspaces, "user": users.names}, rest)


def grouped(
    uses: Uses, whole: Sequence[ActivityRow], by: Sequence[Part]
) -> tuple[ActivityGroup, ...]:
    """The groups on the days of ``whole``, which is all that was done, and the rest of it.

    The rest is what no listed key or person did, told apart by the other parts.
    """
    days = {activity.day_of(row) for row in whole}
    found = _by_parts((use for use in uses.uses if activity.day_of(use.row) in days), by)
    groups = [
        ActivityGroup(parts, activity.tally(rows), tuple(rows)) for parts, rows in found.items()
    ]
    if uses.rest:
        told: dict[tuple[str, ...], list[ActivitySummary]] = defaultdict(list)
        for group in groups:
            told[_rest_of(group.parts, by)].append(group.tally)
        for parts, rows in _by_parts(map(Use, whole), by).items():
            rest = _rest_of(parts, by)
            others = activity.rest(activity.tally(rows), told[rest])
            if others.requests or others.spend or others.byok:
                groups.append(ActivityGroup(rest, others))
    return tuple(groups)


def _by_parts(
    uses: Iterable[Use], by: Sequence[Part]
) -> Mapping[tuple[str, ...], list[ActivityRow]]:
    found: dict[tuple[str, ...], list[ActivityRow]] = defaultdict(list)
    for use in uses:
        found[tuple(use.part(part) for part in by)].append(use.row)
    return found


def _rest_of(parts: Sequence[str], by: Sequence[Part]) -> tuple[str, ...]:
    """The same parts without the key and the user."""
    pairs = zip(parts, by, strict=True)
    return tuple(OTHERS if part in _ASKED_FOR else identity for identity, part in pairs)
