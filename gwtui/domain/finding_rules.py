"""The rules of findings, each written once, over what the gateway gave.

A null that the gateway sent itself means "no limit"; a field that it left out or garbled is
unknown, and the finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.keys import ApiKey, is_expired, limit_used_share
from gwtui.domain.finding_thresholds import FindingThresholds
from gwtui.domain.findings import (
    AccountFacts,
    FindingDraft,
    FindingRule,
    FindingSubject,
    FoundGuardrail,
)
from gwtui.domain.money import percent, usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc

_NAME = 60
_DAY = timedelta(days=1)
_HUNDRED = Decimal(100)


def _called(key: ApiKey) -> str:
    return key.name or key.label or key.hash or "without a name"


def _subject(facts: AccountFacts, key: ApiKey, workspace_id: str) -> FindingSubject:
    space = key.workspace_id or workspace_id
    return FindingSubject("keys", key.hash or "", _called(key), space, facts.workspace_name(space))


def _keys_in_use(
    facts: AccountFacts, now: datetime
) -> Iterator[tuple[ApiKey, str, FindingSubject]]:
    """Every key that is neither disabled nor expired; one that may be is in use, too."""
    for workspace_id, keys in facts.keys.items():
        for key in keys:
            if not key.disabled and not is_expired(key.expires_at, now):
                yield key, workspace_id, _subject(facts, key, workspace_id)


def _no_limit(
    facts: AccountFacts, _thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        if key.sent_null("limit"):
            yield FindingDraft(subject, "It can spend without a limit.")
        elif key.limit is None:
            yield FindingDraft(subject, known=False)


def _limit_used_up(
    facts: AccountFacts, _thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        share = limit_used_share(key.limit, key.limit_remaining)
        if share is not None and share >= 1:
            yield FindingDraft(
                subject,
                f"{percent(share)} of {usd(key.limit)} is used: its requests are refused.",
            )


def _near_limit(
    facts: AccountFacts, thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        share = limit_used_share(key.limit, key.limit_remaining)
        if share is None:
            if not key.sent_null("limit"):
                yield FindingDraft(subject, known=False)
            continue
        if share < 1 and share * _HUNDRED > thresholds.used_percent:
            said = f"{percent(share)} of {usd(key.limit)} is used."
            yield FindingDraft(subject, said)


def _unused(
    facts: AccountFacts, thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    since = now - thresholds.unused_days * _DAY
    for key, _, subject in _keys_in_use(facts, now):
        if key.last_used_at is not None:
            if key.last_used_at <= since:
                yield FindingDraft(subject, f"Its last request was {_day(key.last_used_at, now)}.")
            continue
        if not (key.sent_null("last_used_at") or _spent_nothing(key)):
            # Without the moment of the last request a key that was ever used may be in use.
            yield FindingDraft(subject, known=False)
        elif key.created_at is None:
            yield FindingDraft(subject, known=False)
        elif key.created_at <= since:
            yield FindingDraft(subject, f"Never used; it was made {_day(key.created_at, now)}.")


def _spent_nothing(key: ApiKey) -> bool:
    return key.usage == 0 and key.byok_usage == 0


def _day(moment: datetime, now: datetime) -> str:
    return f"{relative(moment, now)}, {utc(moment)}"


def _expiring(
    facts: AccountFacts, thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        if key.expires_at is None:
            if not key.sent_null("expires_at"):
                yield FindingDraft(subject, known=False)
            continue
        left = key.expires_at - now
        if left <= thresholds.expiring_days * _DAY:
            said = f"It stops working {_day(key.expires_at, now)}; that cannot be changed."
            yield FindingDraft(subject, said, "critical" if left <= _DAY else None)


def _owner_left(
    facts: AccountFacts, _thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    if facts.people is None:
        return
    for key, _, subject in _keys_in_use(facts, now):
        owner = key.creator_user_id
        if owner is None:
            if not key.sent_null("creator_user_id"):
                yield FindingDraft(subject, known=False)
        elif owner not in facts.people:
            who = safe_line(owner, _NAME)
            yield FindingDraft(subject, f"{who} made it and is not in the organization any more.")


def _no_guardrail(
    facts: AccountFacts, _thresholds: FindingThresholds, now: datetime
) -> Iterator[FindingDraft]:
    if facts.guardrails is None or facts.key_guardrails is None:
        return
    bound = {one.workspace_id for one in facts.guardrails if one.is_default and one.made}
    for key, workspace_id, subject in _keys_in_use(facts, now):
        if key.hash in facts.key_guardrails or (key.workspace_id or workspace_id) in bound:
            continue
        if facts.member_guardrails is None:
            yield FindingDraft(subject, known=False)
        elif key.creator_user_id not in facts.member_guardrails:
            said = "No guardrail binds it: neither its own, nor its maker's, nor its workspace's."
            yield FindingDraft(subject, said)


def _duplicate_names(
    facts: AccountFacts, _thresholds: FindingThresholds, _now: datetime
) -> Iterator[FindingDraft]:
    for workspace_id, keys in facts.keys.items():
        named: dict[str, list[ApiKey]] = {}
        for key in keys:
            if key.name:
                named.setdefault(key.name.strip().casefold(), []).append(key)
        for alike in named.values():
            # The oldest keeps its name; of an unknown age is what the gateway lists first.
            oldest = min(alike, key=_age)
            for key in alike:
                if key is not oldest:
                    other = safe_line(oldest.label or oldest.hash or "another key", _NAME)
                    said = f"{len(alike)} keys of its workspace are called so; {other} is older."
                    yield FindingDraft(_subject(facts, key, workspace_id), said)


def _age(key: ApiKey) -> float:
    return 0.0 if key.created_at is None else key.created_at.timestamp()


def _unassigned(
    facts: AccountFacts, _thresholds: FindingThresholds, _now: datetime
) -> Iterator[FindingDraft]:
    if facts.guardrails is None:
        return
    known = [facts.key_guardrails, facts.member_guardrails]
    assigned = {one for held in known if held is not None for one in held.values()}
    for one in facts.guardrails:
        if one.is_default or not one.made or one.guardrail.id in assigned:
            continue
        subject = _guardrail(facts, one)
        if None in known:
            yield FindingDraft(subject, known=False)
        else:
            yield FindingDraft(subject, "It is assigned to no key and no member: it does nothing.")


def _guardrail(facts: AccountFacts, one: FoundGuardrail) -> FindingSubject:
    name = one.guardrail.name or one.guardrail.id or "without a name"
    where = facts.workspace_name(one.workspace_id)
    return FindingSubject("guardrails", one.guardrail.id or "", name, one.workspace_id, where)


def _no_budget(
    facts: AccountFacts, _thresholds: FindingThresholds, _now: datetime
) -> Iterator[FindingDraft]:
    for space in facts.workspaces:
        if space.id and facts.budgets.get(space.id) == ():
            name = facts.workspace_name(space.id)
            yield FindingDraft(
                FindingSubject("workspaces", space.id, name, space.id, name),
                "No budget bounds what its keys spend together.",
            )


def _one_endpoint(
    facts: AccountFacts, _thresholds: FindingThresholds, _now: datetime
) -> Iterator[FindingDraft]:
    for model, count in (facts.endpoints or {}).items():
        subject = FindingSubject("models", model, model)
        if count is None:
            yield FindingDraft(subject, known=False)
        elif count == 0:
            said = "It was used in the last 30 days, and no endpoint offers it now."
            yield FindingDraft(subject, said, "warning")
        elif count == 1:
            said = "It was used in the last 30 days, and a single endpoint offers it."
            yield FindingDraft(subject, said)


RULES: tuple[FindingRule, ...] = (
    FindingRule(
        "owner-left",
        "Owner left",
        "critical",
        "Somebody who left may still hold a key that works.",
        "Disable it, or rotate it to somebody who is there.",
        "disable",
        ("keys", "people"),
        _owner_left,
    ),
    FindingRule(
        "limit-used-up",
        "Limit used up",
        "critical",
        "The gateway refuses its requests until the limit is raised or resets.",
        "Raise its limit, or find out what is spending so much.",
        "limit",
        ("keys",),
        _limit_used_up,
    ),
    FindingRule(
        "near-limit",
        "Near its limit",
        "warning",
        "Once the limit is used up, requests are refused.",
        "Raise its limit, or find out what is spending so much.",
        "limit",
        ("keys",),
        _near_limit,
    ),
    FindingRule(
        "expiring",
        "Expiring",
        "warning",
        "A key that expires refuses requests from one moment to the next.",
        "Rotate it: a successor with the same limits takes over.",
        "rotate",
        ("keys",),
        _expiring,
    ),
    FindingRule(
        "no-limit",
        "No limit",
        "warning",
        "A key that leaks can spend all credits.",
        "Set a limit, with a reset where it is used all the time.",
        "limit",
        ("keys",),
        _no_limit,
    ),
    FindingRule(
        "no-guardrail",
        "No guardrail",
        "warning",
        "Nothing restricts which models and providers see its prompts.",
        "Assign a guardrail, or set up the default one of its workspace.",
        "guardrail",
        ("keys", "guardrails", "assignments"),
        _no_guardrail,
    ),
    FindingRule(
        "no-budget",
        "No budget",
        "warning",
        "The keys of a workspace may together spend more than anybody expects.",
        "Set a budget for a day, a week or a month.",
        "budget",
        ("budgets",),
        _no_budget,
    ),
    FindingRule(
        "unused",
        "Unused",
        "notice",
        "A key that nobody needs is only a risk.",
        "Disable it; that can be undone where it is missed.",
        "disable",
        ("keys",),
        _unused,
    ),
    FindingRule(
        "duplicate-name",
        "Duplicate name",
        "notice",
        "Whoever changes one of them by its name may mean the other.",
        "Give it a name of its own.",
        "rename",
        ("keys",),
        _duplicate_names,
    ),
    FindingRule(
        "assigned-to-nothing",
        "Assigned to nothing",
        "notice",
        "A guardrail without keys and members looks like a protection and is none.",
        "Assign it, or delete it.",
        "delete",
        ("guardrails", "assignments"),
        _unassigned,
    ),
    FindingRule(
        "one-endpoint",
        "One endpoint",
        "notice",
        "When its only endpoint fails, nothing takes over.",
        "Nothing at the gateway mends it: name a second model in requests, or use another one.",
        "",
        ("activity", "endpoints"),
        _one_endpoint,
    ),
)
"""Every rule, in the order in which they are explained."""
