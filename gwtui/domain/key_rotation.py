"""The status of a key rotation and its next step: pure, from what is remembered and read.

A successor takes over from an old key: made with the same limits, bound by the same guardrail,
delivered, watched until the old one falls silent; then the old one is disabled and later deleted.
Each step is a plan of its own that a person agrees to. What the gateway has now decides the stage,
so that a step whose answer was lost needs no bookkeeping of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from gwtui.contract.keys import ApiKey
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import age, relative, utc

RotationStage = Literal[
    "begun",
    "in doubt",
    "successor gone",
    "unbound",
    "undelivered",
    "unknown",
    "in use",
    "silent",
    "disabled",
    "done",
    "not made",
    "forgotten",
]
RotationStep = Literal["", "settle", "assign", "show", "disable", "delete"]
"""What comes next; empty is to wait, or nothing."""

ENDED: frozenset[RotationStage] = frozenset({"done", "not made", "forgotten"})
SILENT_FOR = timedelta(hours=24)
"""How long the figures of the old key stay the same before it counts as silent, unless chosen."""
KEPT_FOR = timedelta(days=7)
"""How long the old key stays disabled before it is to be deleted, unless chosen."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """What the gateway counted of a key since it was made, and its last request; all only grow."""

    usage: str
    byok_usage: str
    last_used: str

    @classmethod
    def of(cls, key: ApiKey) -> KeyFigures | None:
        """The figures as text; None where the gateway does not tell what was used."""
        if key.usage is None:
            return None
        byok = "" if key.byok_usage is None else f"{key.byok_usage.normalize():f}"
        last = "" if key.last_used_at is None else key.last_used_at.isoformat()
        return cls(f"{key.usage.normalize():f}", byok, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotation:
    """What is remembered of one rotation; it holds no secret.

    ``id`` is the plan that makes the successor. ``guardrail`` is the one that the old key held
    itself, None for none. ``figures`` are those of the old key at ``figures_at``, the moment at
    which they were first seen so. ``made_at`` is when the successor was known to exist,
    ``delivered_at`` when somebody said to have stored its value. ``ended`` is the stage that it
    ended in.
    """

    id: str
    gateway: str
    began: datetime
    old_hash: str
    old_name: str
    new_name: str
    silent_for: timedelta = SILENT_FOR
    kept_for: timedelta = KEPT_FOR
    guardrail: str | None = None
    new_hash: str | None = None
    made_at: datetime | None = None
    delivered_at: datetime | None = None
    figures: KeyFigures | None = None
    figures_at: datetime | None = None
    disabled_at: datetime | None = None
    ended: RotationStage | None = None
    ended_at: datetime | None = None


CreationOutcome = Literal["made", "under way", "in doubt", "nameless", "not made"]
"""The outcome of the creation of a successor; "nameless": made, but nobody knows its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationFacts:
    """What was read for a rotation just now.

    ``old`` and ``new`` are None where they could not be read, or are gone. ``bound`` is the
    guardrail that the successor holds; ``bound_known`` False where that could not be read.
    ``waits``: nobody has acknowledged the successor's value. ``why``: the error of a failed read.
    """

    making: CreationOutcome = "made"
    old: ApiKey | None = None
    old_gone: bool = False
    new: ApiKey | None = None
    new_gone: bool = False
    bound: str | None = None
    bound_known: bool = True
    waits: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class RotationStatus:
    """The stage, what it means in a sentence, what to do, and the step that does it.

    ``due`` is from when on the step is meant to be done, None for at once. ``since`` is from when
    the figures of the old key stand still, None where that does not matter or is not known.
    """

    stage: RotationStage
    said: str
    next: str
    step: RotationStep = ""
    due: datetime | None = None
    since: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether the step is to be done now."""
        return bool(self.step) and (self.due is None or self.due <= now)


def status_of(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    """The status of a rotation. An unknown figure counts neither as silence nor as delivery."""
    if rotation.ended is not None:
        return _ended(rotation, rotation.ended)
    for stage in (_making, _successor, _handing_over, _old_key):
        found = stage(rotation, facts, now)
        if found is not None:
            return found
    return _use(rotation, facts, now)


def _ended(rotation: KeyRotation, stage: RotationStage) -> RotationStatus:
    when = "" if rotation.ended_at is None else f" {utc(rotation.ended_at)}"
    said = {
        "done": f"The old key is gone; that was known{when}.",
        "not made": f"The successor was not made; that was known{when}.",
        "forgotten": f"It is followed no more since{when}; both keys stay as they were.",
    }
    return RotationStatus(stage, said.get(stage, ""), "nothing")


def _making(_rotation: KeyRotation, facts: RotationFacts, _now: datetime) -> RotationStatus | None:
    if facts.making == "not made":
        return RotationStatus("not made", "The successor was not made.", "begin again")
    if facts.making == "under way":
        return RotationStatus("begun", "The successor is being made at this moment.", "wait")
    if facts.making == "nameless":
        return RotationStatus(
            "in doubt",
            "The successor was made, but which key it is nobody said.",
            "look for it among the keys, then forget this rotation",
        )
    if facts.making == "in doubt":
        return RotationStatus(
            "in doubt",
            "The answer to the successor's creation was lost: it may exist or not.",
            "settle it among the writes in doubt; nothing is sent again by itself",
            "settle",
        )
    return None


def _successor(
    rotation: KeyRotation, facts: RotationFacts, _now: datetime
) -> RotationStatus | None:
    if facts.new_gone:
        return RotationStatus(
            "successor gone",
            "The successor no longer exists: nothing takes over from the old key.",
            "forget this rotation and begin again",
        )
    if facts.old_gone:
        return RotationStatus("done", "The old key is gone.", "nothing")
    if facts.new is None:
        return RotationStatus(
            "unknown", f"The successor could not be read: {facts.why}", "look again later"
        )
    if facts.new.disabled:
        return RotationStatus(
            "successor gone",
            "The successor is disabled: nothing takes over from the old key.",
            "enable it, or forget this rotation and begin again",
        )
    return _binding(rotation, facts)


def _binding(rotation: KeyRotation, facts: RotationFacts) -> RotationStatus | None:
    if rotation.guardrail is None:
        return None
    if not facts.bound_known:
        return RotationStatus(
            "unknown", f"Not known which guardrail binds the successor: {facts.why}", "look again"
        )
    if facts.bound is None:
        return RotationStatus(
            "unbound",
            "The successor works without the guardrail that the old key holds.",
            "assign the guardrail",
            "assign",
        )
    return None


def _handing_over(
    _rotation: KeyRotation, facts: RotationFacts, _now: datetime
) -> RotationStatus | None:
    if facts.waits:
        return RotationStatus(
            "undelivered",
            "Nobody has said that the successor's value is stored, and it cannot be shown again.",
            "acknowledge it among the writes in doubt, or delete the successor and rotate again",
            "show",
        )
    return None


def _old_key(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus | None:
    if facts.old is None:
        return RotationStatus(
            "unknown", f"The old key could not be read: {facts.why}", "look again later"
        )
    if not facts.old.disabled:
        return None
    since = rotation.disabled_at or now
    due = since + rotation.kept_for
    wait = "delete it" if due <= now else f"delete it {relative(due, now)}; enable it if missed"
    return RotationStatus(
        "disabled", f"The old key is disabled, known since {utc(since)}.", wait, "delete", due
    )


def _use(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    figures = None if facts.old is None else KeyFigures.of(facts.old)
    if figures is None:
        return RotationStatus(
            "unknown",
            "The gateway does not tell what the old key uses: that is no silence.",
            "look again later, or disable it by force",
        )
    last = None if facts.old is None else facts.old.last_used_at
    since = (rotation.figures_at if figures == rotation.figures else None) or now
    if last is not None and since <= rotation.began:  # unused since then: the last request counts
        since = min(since, last)
    due = since + rotation.silent_for
    taken = f"{_unseen(facts)}{_takeover(rotation, facts)}"
    if due <= now:
        silent = age((now - since).total_seconds())
        said = f"The old key has been silent for {silent}, since {utc(since)}. {taken}"
        return RotationStatus("silent", said, "disable the old key", "disable", since=since)
    used = "" if last is None else f"last request {relative(last, now)}, "
    said = f"The old key may be in use: {used}unchanged since {utc(since)}. {taken}"
    return RotationStatus(
        "in use",
        said,
        f"silent {relative(due, now)} if unchanged; hand out the new key",
        "disable",
        due,
        since,
    )


def _unseen(facts: RotationFacts) -> str:
    """Why free requests of the old key would go unnoticed; empty where they would not."""
    if facts.old is None or "last_used_at" in facts.old.raw:
        return ""
    return "The gateway does not report the last request, so free requests go unnoticed. "


def _takeover(rotation: KeyRotation, facts: RotationFacts) -> str:
    """Whether the successor is used, and whether its value is known to be stored."""
    new = facts.new
    if new is not None and (new.last_used_at is not None or (new.usage or 0) > 0):
        return "The successor is in use."
    name = safe_line(rotation.new_name, _NAME)
    if rotation.delivered_at is None:
        return f"Not known whether anybody stored the value of “{name}”; it was not used yet."
    return f"“{name}” was not used yet."
