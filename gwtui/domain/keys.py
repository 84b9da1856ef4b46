"""State, spending and rotation of API keys.

Amounts are USD. The API does not report the spending of budgets, so it is summed from the present
keys. This is a lower bound, because deleted keys are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from gwtui.contract.keys import ApiKey, is_expired, limit_used_share
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.cell_values import Verdict
from gwtui.domain.money import percent
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import age, relative, utc

NEAR_LIMIT = Decimal("0.8")
"""The used share from which a key counts as near its limit."""
EXPIRING_SOON = timedelta(days=7)
"""The remaining time from which a key counts as expiring soon."""
_USAGE = {
    "daily": ("usage_daily", "byok_usage_daily"),
    "weekly": ("usage_weekly", "byok_usage_weekly"),
    "monthly": ("usage_monthly", "byok_usage_monthly"),
    "lifetime": ("usage", "byok_usage"),
}


def key_state(key: ApiKey, now: datetime) -> Verdict:
    """The most urgent state of a key: blocked, else soon blocked, else whether it is used."""
    return _stopped(key, now) or _threatened(key, now) or _in_use(key, now)


def _stopped(key: ApiKey, now: datetime) -> Verdict | None:
    if key.disabled:
        return Verdict("disabled", "muted", "requests are refused")
    if is_expired(key.expires_at, now):
        return Verdict("expired", "muted", f"stopped {relative(key.expires_at, now)}")
    if is_used_up(key):
        return Verdict("over limit", "bad", "the limit is used up")
    return None


def _threatened(key: ApiKey, now: datetime) -> Verdict | None:
    if key.expires_at is not None and key.expires_at - now <= EXPIRING_SOON:
        return Verdict("expiring soon", "warn", f"stops working {relative(key.expires_at, now)}")
    share = limit_used_share(key.limit, key.limit_remaining)
    if share is not None and share >= NEAR_LIMIT:
        return Verdict("near limit", "warn", f"{percent(share)} of the limit used")
    return None


def _in_use(key: ApiKey, now: datetime) -> Verdict:
    if key.disabled is None:
        return Verdict("unknown", "muted", "the response does not say")
    if is_never_used(key):
        return Verdict("never used", "muted", "no request so far")
    if key.last_used_at is not None:
        return Verdict("active", "good", f"last used {relative(key.last_used_at, now)}")
    return Verdict("active", "good", "works and has been used")


def is_used_up(key: ApiKey) -> bool:
    """Whether the limit of a key is used up; False for a key without a limit."""
    if key.limit == 0:
        return True
    limited = key.limit is not None or "limit" in key.gaps
    return limited and key.limit_remaining is not None and key.limit_remaining <= 0


def is_never_used(key: ApiKey) -> bool:
    """Whether the gateway reports that the key was never used; False if that is unknown."""
    if key.last_used_at is not None or key.usage is None:
        return False
    return key.usage == 0 and not key.byok_usage


def spent_by_interval(keys: Iterable[ApiKey], *, byok: bool) -> Mapping[str, Decimal | None]:
    """Budget interval -> usage of the keys in its current window, in USD, all keys added up.

    None if the usage of one key is unknown. ``byok`` includes BYOK usage.
    """
    listed, spent = tuple(keys), dict[str, Decimal | None]()
    for interval in BUDGET_INTERVALS:
        names = _USAGE[interval] if byok else _USAGE[interval][:1]
        amounts = [getattr(key, name) for key in listed for name in names]
        spent[interval] = None if None in amounts else sum(amounts, Decimal(0))
    return spent


@dataclass(frozen=True, slots=True)
class KeyCount:
    """The number of keys, and what is needed to count the active ones at any later time."""

    total: int
    lasting: int
    """The number of enabled keys without an expiry."""
    expiries: tuple[datetime, ...]
    """When the other enabled keys expire."""

    @classmethod
    def of(cls, keys: Iterable[ApiKey]) -> KeyCount:
        """Count these keys."""
        listed = tuple(keys)
        enabled = [key for key in listed if key.disabled is False]
        expiries = tuple(key.expires_at for key in enabled if key.expires_at is not None)
        return cls(len(listed), len(enabled) - len(expiries), expiries)

    def active(self, now: datetime) -> int:
        """The number of keys whose requests are accepted at ``now``."""
        return self.lasting + sum(not is_expired(moment, now) for moment in self.expiries)


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
"""The next step that gwtui can carry out, now or once it is due; "" if there is none."""

UNUSED_FOR = timedelta(hours=24)
"""Default time without usage after which the old key is disabled."""
KEPT_FOR = timedelta(days=7)
"""Default time after which the disabled old key is deleted."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The total usage of a key and its last request. Neither ever decreases."""

    usage: str
    byok_usage: str
    last_used: str

    @classmethod
    def of(cls, key: ApiKey) -> KeyFigures | None:
        """Copy usage and last request of a key, as text for the stored rotation.

        None if the gateway does not report the usage.
        """
        if key.usage is None:
            return None
        byok = "" if key.byok_usage is None else f"{key.byok_usage.normalize():f}"
        last = "" if key.last_used_at is None else key.last_used_at.isoformat()
        return cls(f"{key.usage.normalize():f}", byok, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotation:
    """The stored state of a rotation, without any secret.

    ``id`` is that of the plan that creates the successor. ``guardrail`` is the id of the guardrail
    of the old key, None without one. ``figures`` are those of the old key, unchanged since
    ``figures_at``. ``made_at`` is when the successor was first read. ``ended`` is the final stage,
    None until the rotation has ended.
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
"""The outcome of creating a successor; "nameless" if it was created but its hash is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationFacts:
    """The present state of both keys of a rotation.

    ``old`` and ``new`` are None if they are gone or could not be read. ``bound`` is the id of the
    successor's guardrail, None without one; ``bound_known`` is False if it could not be read.
    ``unconfirmed`` is True until somebody has confirmed storing the value of the successor. ``why``
    is the error of a failed read, else "".
    """

    making: CreationOutcome = "made"
    old: ApiKey | None = None
    old_gone: bool = False
    new: ApiKey | None = None
    new_gone: bool = False
    bound: str | None = None
    bound_known: bool = True
    unconfirmed: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class RotationStatus:
    """The stage of a rotation, and its next step.

    ``message`` explains the stage to the user, and ``next`` says what to do. ``due`` is when
    ``step`` is due, None for now. ``since`` is since when the old key has been unused, None in
    stages that do not depend on it.
    """

    stage: RotationStage
    message: str
    next: str
    step: RotationStep = ""
    due: datetime | None = None
    since: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether the next step can be carried out now; False without a step."""
        return bool(self.step) and (self.due is None or self.due <= now)


def status_of(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    """Compute the status of a rotation. A key with unknown usage is never "unused" or "in use"."""
    if rotation.ended is not None:
        return _ended(rotation, rotation.ended)
    if facts.making in _UNMADE:
        return _UNMADE[facts.making]
    unready = _successor(facts) or _handover(rotation, facts)
    return unready or _old_key(rotation, facts, now)


def _ended(rotation: KeyRotation, stage: RotationStage) -> RotationStatus:
    when = "" if rotation.ended_at is None else f", as seen {utc(rotation.ended_at)}"
    message = {
        "done": f"The old key is deleted{when}.",
        "not made": f"The successor was not created{when}.",
        "forgotten": "The rotation is forgotten; both keys stay as they are.",
    }
    return RotationStatus(stage, message.get(stage, ""), "nothing")


_UNMADE: Mapping[CreationOutcome, RotationStatus] = {
    "not made": RotationStatus("not made", "The successor was not created.", "start again"),
    "under way": RotationStatus("begun", "The successor is being created now.", "wait"),
    "nameless": RotationStatus(
        "unresolved",
        "The successor was created, but its hash is unknown.",
        "find it among the keys, then forget this rotation",
    ),
    "unresolved": RotationStatus(
        "unresolved",
        "The response to the creation of the successor was lost: it may or may not exist.",
        "resolve the change (:recovery); nothing is sent again automatically",
        "resolve",
    ),
}
"""The status while there is no successor."""


def _successor(facts: RotationFacts) -> RotationStatus | None:
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
    return None


def _handover(rotation: KeyRotation, facts: RotationFacts) -> RotationStatus | None:
    if rotation.guardrail is not None and not facts.bound_known:
        return RotationStatus(
            "unknown", f"The guardrail of the successor is unknown: {facts.why}", "try again later"
        )
    if rotation.guardrail is not None and facts.bound is None:
        return RotationStatus(
            "unbound",
            "The successor lacks the guardrail of the old key.",
            "assign the guardrail",
            "assign",
        )
    if facts.unconfirmed:
        return RotationStatus(
            "undelivered",
            "Nobody has confirmed storing the successor's value, which is not shown again.",
            "acknowledge it (:recovery), or delete the successor and rotate again",
            "show",
        )
    return None


def _old_key(rotation: KeyRotation, facts: RotationFacts, now: datetime) -> RotationStatus:
    if facts.old is None:
        return RotationStatus(
            "unknown", f"The old key could not be read: {facts.why}", "try again later"
        )
    if not facts.old.disabled:
        return _use(rotation, facts, facts.old, now)
    since = rotation.disabled_at or now
    due = since + rotation.kept_for
    wait = "delete it" if due <= now else f"delete it {relative(due, now)}; enable it if missed"
    return RotationStatus(
        "disabled", f"The old key has been disabled since {utc(since)}.", wait, "delete", due
    )


def _use(rotation: KeyRotation, facts: RotationFacts, old: ApiKey, now: datetime) -> RotationStatus:
    figures, last = KeyFigures.of(old), old.last_used_at
    if figures is None:
        return RotationStatus(
            "unknown",
            "The gateway does not report the usage of the old key, so it may be in use.",
            "try again later, or disable it yourself",
        )
    since = (rotation.figures_at if figures == rotation.figures else None) or now
    if last is not None and since <= rotation.began:  # unused since then: the last request counts
        since = min(since, last)
    due = since + rotation.unused_for
    taken = f"{_unseen(old)}{_takeover(rotation, facts)}"
    if due <= now:
        unused = age((now - since).total_seconds())
        message = f"The old key has been unused for {unused}, since {utc(since)}. {taken}"
        return RotationStatus("unused", message, "disable the old key", "disable", since=since)
    used = "" if last is None else f"last request {relative(last, now)}, "
    message = f"The old key may be in use: {used}unchanged since {utc(since)}. {taken}"
    return RotationStatus(
        "in use",
        message,
        f"counts as unused {relative(due, now)} if it gets no request; hand out the new key",
        "disable",
        due,
        since,
    )


def _unseen(old: ApiKey) -> str:
    """A warning if free requests of the old key would go unnoticed, else ""."""
    if "last_used_at" in old.raw:
        return ""
    return "The gateway does not report the last request, so free requests go unnoticed. "


def _takeover(rotation: KeyRotation, facts: RotationFacts) -> str:
    """Describe whether the successor is in use."""
    new = facts.new
    if new is not None and (new.last_used_at is not None or (new.usage or 0) > 0):
        return "The successor is in use."
    return f"“{safe_line(rotation.new_name, _NAME)}” is not in use yet."
