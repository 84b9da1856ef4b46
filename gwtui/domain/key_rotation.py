"""The status of a key rotation and its next step.

A successor with the same limits and guardrail replaces an old key. Once it is delivered and the
old key is unused, it is disabled and later deleted. Each step is a plan that a person confirms. The
stage depends on the present state of the gateway, so lost answers need no bookkeeping.
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
    "unresolved",
    "successor gone",
    "unbound",
    "undelivered",
    "unknown",
    "in use",
    "unused",
    "disabled",
    "done",
    "not made",
    "forgotten",
]
RotationStep = Literal["", "resolve", "assign", "show", "disable", "delete"]
"""The next step; empty means to wait, or none."""

ENDED: frozenset[RotationStage] = frozenset({"done", "not made", "forgotten"})
UNUSED_FOR = timedelta(hours=24)
"""How long the old key must be unused before it is disabled, by default."""
KEPT_FOR = timedelta(days=7)
"""How long the old key stays disabled before it is deleted, by default."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The total usage of a key and its last request, all of which only grow."""

    usage: str
    byok_usage: str
    last_used: str

    @classmethod
    def of(cls, key: ApiKey) -> KeyFigures | None:
        """The figures as text; None if the gateway does not report the usage."""
        if key.usage is None:
            return None
        byok = "" if key.byok_usage is None else f"{key.byok_usage.normalize():f}"
        last = "" if key.last_used_at is None else key.last_used_at.isoformat()
        return cls(f"{key.usage.normalize():f}", byok, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotation:
    """The stored state of a rotation, without any secret.

    ``id`` is the plan that creates the successor. ``guardrail`` is the one assigned to the old key,
    None for none. ``figures`` are those of the old key, unchanged since ``figures_at``. ``made_at``
    is when the successor was known to exist. ``ended`` is the final stage.
    """

    id: str
    gateway: str
    began: datetime
    old_hash: str
    old_name: str
    new_name: str
    unused_for: timedelta = UNUSED_FOR
    kept_for: timedelta = KEPT_FOR
    guardrail: str | None = None
    new_hash: str | None = None
    made_at: datetime | None = None
    figures: KeyFigures | None = None
    figures_at: datetime | None = None
    disabled_at: datetime | None = None
    ended: RotationStage | None = None
    ended_at: datetime | None = None


CreationOutcome = Literal["made", "under way", "unresolved", "nameless", "not made"]
"""The outcome of the creation of a successor; "nameless": created, but its hash is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationFacts:
    """The present state of both keys of a rotation.

    ``old`` and ``new`` are None if they could not be read, or are gone. ``bound`` is the guardrail
    of the successor; ``bound_known`` is False if it could not be read.
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
    """The stage with its explanation, what to do next, and the step that does it.

    ``due`` is when the step is due, None means now. ``since`` is when the old key was last used,
    None if unknown or irrelevant.
    """

    stage: RotationStage
    message: str
    next: str
    step: RotationStep = ""
    due: datetime | None = None
    since: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether the step is due now."""
        return bool(self.step) and (self.due is None or self.due <= now)


def status_of(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    """The status of a rotation. An unknown figure is neither silence nor delivery."""
    if rotation.ended is not None:
        return _ended(rotation, rotation.ended)
    for stage in (_making, _successor, _handing_over, _old_key):
        found = stage(rotation, facts, now)
        if found is not None:
            return found
    return _use(rotation, facts, now)


def _ended(rotation: KeyRotation, stage: RotationStage) -> RotationStatus:
    when = "" if rotation.ended_at is None else f", as seen {utc(rotation.ended_at)}"
    message = {
        "done": f"The old key is deleted{when}.",
        "not made": f"The successor was not created{when}.",
        "forgotten": "The rotation is forgotten; both keys stay as they are.",
    }
    return RotationStatus(stage, message.get(stage, ""), "nothing")


def _making(_rotation: KeyRotation, facts: RotationFacts, _now: datetime) -> RotationStatus | None:
    if facts.making == "not made":
        return RotationStatus("not made", "The successor was not created.", "start again")
    if facts.making == "under way":
        return RotationStatus("begun", "The successor is being created now.", "wait")
    if facts.making == "nameless":
        return RotationStatus(
            "unresolved",
            "The successor was created, but its hash is unknown.",
            "find it among the keys, then forget this rotation",
        )
    if facts.making == "unresolved":
        return RotationStatus(
            "unresolved",
            "The response to the creation of the successor was lost: it may or may not exist.",
            "resolve the change (:recovery); nothing is sent again automatically",
            "resolve",
        )
    return None


def _successor(
    rotation: KeyRotation, facts: RotationFacts, _now: datetime
) -> RotationStatus | None:
    if facts.new_gone:
        return RotationStatus(
            "successor gone",
            "The successor no longer exists, so nothing replaces the old key.",
            "forget this rotation and start again",
        )
    if facts.old_gone:
        return RotationStatus("done", "The old key is deleted.", "nothing")
    if facts.new is None:
        return RotationStatus(
            "unknown", f"The successor could not be read: {facts.why}", "try again later"
        )
    if facts.new.disabled:
        return RotationStatus(
            "successor gone",
            "The successor is disabled, so nothing replaces the old key.",
            "enable it, or forget this rotation and start again",
        )
    return _binding(rotation, facts)


def _binding(rotation: KeyRotation, facts: RotationFacts) -> RotationStatus | None:
    if rotation.guardrail is None:
        return None
    if not facts.bound_known:
        return RotationStatus(
            "unknown", f"The guardrail of the successor is unknown: {facts.why}", "try again later"
        )
    if facts.bound is None:
        return RotationStatus(
            "unbound",
            "The successor lacks the guardrail of the old key.",
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
            "Nobody has confirmed storing the successor's value, which is not shown again.",
            "acknowledge it (:recovery), or delete the successor and rotate again",
            "show",
        )
    return None


def _old_key(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus | None:
    if facts.old is None:
        return RotationStatus(
            "unknown", f"The old key could not be read: {facts.why}", "try again later"
        )
    if not facts.old.disabled:
        return None
    since = rotation.disabled_at or now
    due = since + rotation.kept_for
    wait = "delete it" if due <= now else f"delete it {relative(due, now)}; enable it if missed"
    return RotationStatus(
        "disabled", f"The old key has been disabled since {utc(since)}.", wait, "delete", due
    )


def _use(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    figures = None if facts.old is None else KeyFigures.of(facts.old)
    if figures is None:
        return RotationStatus(
            "unknown",
            "The gateway does not report the usage of the old key, so it may be in use.",
            "try again later, or disable it yourself",
        )
    last = None if facts.old is None else facts.old.last_used_at
    since = (rotation.figures_at if figures == rotation.figures else None) or now
    if last is not None and since <= rotation.began:  # unused since then: the last request counts
        since = min(since, last)
    due = since + rotation.unused_for
    taken = f"{_unseen(facts)}{_takeover(rotation, facts)}"
    if due <= now:
        unused = age((now - since).total_seconds())
        message = f"The old key has been unused for {unused}, since {utc(since)}. {taken}"
        return RotationStatus("unused", message, "disable the old key", "disable", since=since)
    used = "" if last is None else f"last request {relative(last, now)}, "
    message = f"The old key may be in use: {used}unchanged since {utc(since)}. {taken}"
    return RotationStatus(
        "in use",
        message,
        f"unused {relative(due, now)} if unchanged; hand out the new key",
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
    """Whether the successor is in use."""
    new = facts.new
    if new is not None and (new.last_used_at is not None or (new.usage or 0) > 0):
        return "The successor is in use."
    return f"“{safe_line(rotation.new_name, _NAME)}” is not in use yet."
