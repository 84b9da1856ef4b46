"""Findings: what a person should look at across the whole account, each found by one rule.

Pure: the rules get what was read and say what they found. Those on the limit and the expiry of
keys are the alert rules (``domain/alert_rules.py``), by the same bounds. What could not be read, or
was not given, is a finding of severity "unknown", never the absence of one: a null that the gateway
sent itself means "no limit", a field that it left out or garbled is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, get_args

from gwtui.contract.budgets import Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey, is_expired
from gwtui.contract.workspaces import Workspace
from gwtui.domain.alert_rules import (
    AlertRule,
    ConditionRule,
    KeyExpiryRule,
    KeyLimitRule,
    key_reading,
)
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc

FindingSeverity = Literal["critical", "warning", "unknown", "notice"]
SEVERITIES: tuple[FindingSeverity, ...] = get_args(FindingSeverity)
"""The gravest first: what is not known may be a warning, so it stands before a notice."""

Remedy = Literal["", "limit", "guardrail", "disable", "rotate", "rename", "delete", "budget"]
"""What mends it; empty where nothing that can be sent to the gateway does."""

Part = Literal["keys", "guardrails", "assignments", "people", "budgets", "activity", "endpoints"]
"""A part of the account that is read by itself, and may fail by itself."""

UNUSED_DAYS = 30
_DAY = timedelta(days=1)
_NAME = 60
_NAMED = 3


@dataclass(frozen=True, slots=True)
class FoundGuardrail:
    """A guardrail, its workspace, whether it is the workspace's default, and whether it exists.

    A default guardrail that nobody changed yet is not ``made`` and restricts nothing.
    """

    guardrail: Guardrail
    workspace_id: str | None
    is_default: bool = False
    made: bool = True


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part that could not be read, and why; ``where`` is the workspace's name, if it is of one.

    ``workspace_id`` is None for what is read of the whole account.
    """

    part: Part
    why: str
    where: str = ""
    workspace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """What was read of an account. What could not be read is missing or None, and in ``unread``.

    ``keys`` and ``budgets`` are by workspace id. ``key_guardrails`` and ``member_guardrails`` say
    which guardrail a key (by hash) and a member (by user id) holds. ``endpoints`` is the number of
    endpoints of each model that was used lately; None of one that could not be read.
    """

    workspaces: tuple[Workspace, ...] = ()
    keys: Mapping[str, tuple[ApiKey, ...]] = field(default_factory=dict)
    budgets: Mapping[str, tuple[Budget, ...]] = field(default_factory=dict)
    guardrails: tuple[FoundGuardrail, ...] | None = None
    key_guardrails: Mapping[str, str] | None = None
    member_guardrails: Mapping[str, str] | None = None
    people: frozenset[str] | None = None
    endpoints: Mapping[str, int | None] | None = None
    unread: tuple[UnreadPart, ...] = ()
    unused_days: int = UNUSED_DAYS
    """Days without a request after which a key counts as unused."""

    def workspace_name(self, identity: str | None) -> str:
        """The workspace by its name, else by its id."""
        names = (space.shown_name for space in self.workspaces if space.id == identity)
        return next(names, identity) or ""


@dataclass(frozen=True, slots=True)
class FindingSubject:
    """What a finding is about: a row of the list ``resource``, or nothing single ("").

    ``name`` and ``workspace`` are as the gateway gave them: they are made fit where they are shown.
    """

    resource: str = ""
    identity: str = ""
    name: str = ""
    workspace_id: str | None = None
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class AccountFinding:
    """One finding: ``said`` is the observation, ``advice`` what to do, as sentences."""

    rule: str
    title: str
    severity: FindingSeverity
    subject: FindingSubject
    said: str
    advice: str = ""
    remedy: Remedy = ""
    about: str = ""
    """Why it matters."""
    number: int = 1
    """Which of several that nothing else tells apart: of keys without a hash, for one."""

    @property
    def identity(self) -> str:
        """The rule and what it is about: the same as long as the finding is the same."""
        one = self.subject
        again = () if self.number == 1 else (str(self.number),)
        return ":".join((self.rule, one.resource, one.identity or one.name, *again))


@dataclass(frozen=True, slots=True)
class FindingDraft:
    """What a rule found about something. ``known`` False: the answer lacks what decides it."""

    subject: FindingSubject
    said: str = ""
    severity: FindingSeverity | None = None
    known: bool = True


Judge = Callable[[AccountFacts, datetime], Iterable[FindingDraft]]


@dataclass(frozen=True, slots=True)
class FindingRule:
    """One rule. ``about`` is why it matters, ``advice`` what to do; ``needs`` are what it reads."""

    id: str
    title: str
    severity: FindingSeverity
    about: str
    advice: str
    remedy: Remedy
    needs: tuple[Part, ...]
    judge: Judge


# Rules ------------------------------------------------------------------------------------------


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


def _no_limit(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        if key.sent_null("limit"):
            yield FindingDraft(subject, "It can spend without a limit.")
        elif key.limit is None:
            yield FindingDraft(subject, known=False)


def _unused(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
    since = now - facts.unused_days * _DAY
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


def _owner_left(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
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


def _no_guardrail(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
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


def _duplicate_names(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
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


def _unassigned(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
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


def _no_budget(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
    for space in facts.workspaces:
        if space.id and facts.budgets.get(space.id) == ():
            name = facts.workspace_name(space.id)
            yield FindingDraft(
                FindingSubject("workspaces", space.id, name, space.id, name),
                "No budget bounds what its keys spend together.",
            )


def _one_endpoint(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
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
"""The rules on the account as it is; those on single keys are alert rules, too."""


# Rules on single keys ---------------------------------------------------------------------------


def _key_rules(alert_rules: Mapping[str, AlertRule]) -> Iterator[FindingRule]:
    """The alert rules on keys that one look at the account can judge."""
    for identity, rule in alert_rules.items():
        if not rule.enabled or not isinstance(rule, KeyLimitRule | KeyExpiryRule):
            continue
        graver = [
            other
            for other in alert_rules.values()
            if isinstance(other, ConditionRule) and other.is_graver(rule)
        ]
        yield FindingRule(
            identity,
            rule.name,
            rule.severity,
            f"{rule.kind.about[0].upper()}{rule.kind.about[1:]}.",
            rule.kind.advice,
            "limit" if isinstance(rule, KeyLimitRule) else "rotate",
            ("keys",),
            partial(_by_alert_rule, rule, graver),
        )


def _by_alert_rule(
    rule: KeyLimitRule | KeyExpiryRule,
    graver: Sequence[ConditionRule],
    facts: AccountFacts,
    now: datetime,
) -> Iterator[FindingDraft]:
    """The keys on which a rule fires and no graver one does."""
    field = "limit" if isinstance(rule, KeyLimitRule) else "expires_at"
    for key, _, subject in _keys_in_use(facts, now):
        reading = key_reading(key, subject.workspace_id, now)
        watching = [
            one for one in (rule, *graver) if one.watches(("key", key.hash or ""), reading.facts)
        ]
        if rule not in watching:
            continue
        value = rule.measure(reading)
        if value is None or (getattr(key, field) is None and not key.sent_null(field)):
            if watching == [rule]:  # a graver one says so, too
                yield FindingDraft(subject, known=False)
        elif [one for one in watching if one.is_bad(reading)] == [rule]:
            said = rule.said(value, reading)
            yield FindingDraft(subject, f"{said[0].upper()}{said[1:]}.")


# Finding ----------------------------------------------------------------------------------------


def find(
    facts: AccountFacts, alert_rules: Mapping[str, AlertRule], now: datetime
) -> tuple[AccountFinding, ...]:
    """Everything that the rules find, the gravest first, and what they could not look at."""
    rules = (*RULES, *_key_rules(alert_rules))
    found = [finding for rule in rules for finding in _of_rule(rule, rule.judge(facts, now))]
    found += [_unread(one, rules) for one in facts.unread]
    return tuple(
        sorted(
            _told_apart(found),
            key=lambda one: (
                SEVERITIES.index(one.severity),
                one.title,
                one.subject.name.casefold(),
            ),
        )
    )


def _told_apart(findings: Iterable[AccountFinding]) -> Iterator[AccountFinding]:
    """No two with the same identity."""
    met: Counter[str] = Counter()
    for one in findings:
        met[one.identity] += 1
        yield replace(one, number=met[one.identity])


def _of_rule(rule: FindingRule, drafts: Iterable[FindingDraft]) -> Iterable[AccountFinding]:
    unknown: dict[str | None, list[FindingSubject]] = {}
    for draft in drafts:
        if not draft.known:
            unknown.setdefault(draft.subject.workspace_id, []).append(draft.subject)
            continue
        yield AccountFinding(
            rule.id,
            rule.title,
            draft.severity or rule.severity,
            draft.subject,
            draft.said,
            rule.advice,
            rule.remedy,
            rule.about,
        )
    for workspace_id, subjects in unknown.items():
        yield _not_given(rule, workspace_id, subjects)


def _not_given(
    rule: FindingRule, workspace_id: str | None, subjects: Sequence[FindingSubject]
) -> AccountFinding:
    names = [safe_line(one.name, _NAME) for one in subjects]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    first = subjects[0]
    return AccountFinding(
        rule.id,
        rule.title,
        "unknown",
        FindingSubject("", workspace_id or "", first.workspace, workspace_id, first.workspace),
        f"Not known of {', '.join(names[:_NAMED])}{more}: the gateway does not say.",
        "Nothing can be concluded: neither that it is well nor that it is not.",
    )


def _unread(one: UnreadPart, rules: Sequence[FindingRule]) -> AccountFinding:
    blind = [rule.title.lower() for rule in rules if one.part in rule.needs]
    where = f" of {safe_line(one.where, _NAME)}" if one.where else ""
    return AccountFinding(
        f"unread-{one.part}",
        "Could not be read",
        "unknown",
        FindingSubject("", one.workspace_id or "", one.where, one.workspace_id, one.where),
        f"The {one.part}{where} could not be read: {safe_line(one.why, 200)}",
        f"Not looked for there: {', '.join(blind)}." if blind else "",
    )
