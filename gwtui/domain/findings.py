"""Findings: problems of the whole account that deserve attention, each by one rule.

The rules evaluate the data that was read. Those on the limit and the expiry of keys are alert
rules (``domain/alert_rules.py``) with the same thresholds. Unread or missing data is a finding of
severity "unknown", never the absence of one: a null that the gateway sent means "no limit", a
missing or malformed field is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, NamedTuple, get_args

from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey, is_expired
from gwtui.contract.workspaces import Budget, Workspace
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
"""The most severe first; an unknown may be a warning, so it comes before a notice."""

Remedy = Literal["", "limit", "guardrail", "disable", "rotate", "rename", "delete", "budget"]
"""The action that fixes a finding; empty if no write can."""

Part = Literal["keys", "guardrails", "assignments", "people", "budgets", "activity", "endpoints"]
"""A part of the account that is read separately and may fail separately."""

UNUSED_DAYS = 30
_DAY = timedelta(days=1)
_NAME = 60
_NAMED = 3


@dataclass(frozen=True, slots=True)
class AccountGuardrail:
    """A guardrail and its workspace.

    ``exists`` is False for a workspace default that has not been edited yet.
    """

    guardrail: Guardrail
    workspace_id: str | None
    is_default: bool = False
    exists: bool = True


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of the account that could not be read, and the reason.

    ``workspace`` is None for a part that does not belong to a workspace.
    """

    part: Part
    why: str
    workspace: Workspace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """The data of an account. Unread parts are missing or None, and listed in ``unread``.

    ``keys`` and ``budgets`` are by workspace id. ``key_guardrails`` and ``member_guardrails`` map
    key hashes and user ids to guardrail ids. ``endpoints`` is the number of endpoints of each
    recently used model, None if it could not be read.
    """

    workspaces: tuple[Workspace, ...] = ()
    keys: Mapping[str, tuple[ApiKey, ...]] = field(default_factory=dict)
    budgets: Mapping[str, tuple[Budget, ...]] = field(default_factory=dict)
    guardrails: tuple[AccountGuardrail, ...] | None = None
    key_guardrails: Mapping[str, str] | None = None
    member_guardrails: Mapping[str, str] | None = None
    people: frozenset[str] | None = None
    endpoints: Mapping[str, int | None] | None = None
    unread: tuple[UnreadPart, ...] = ()
    unused_days: int = UNUSED_DAYS
    """Days without a request after which a key counts as unused."""

    def workspace_name(self, identity: str | None) -> str:
        """The name of a workspace, or its id if the name is unknown."""
        names = (space.shown_name for space in self.workspaces if space.id == identity)
        return next(names, identity) or ""


@dataclass(frozen=True, slots=True)
class FindingSubject:
    """The subject of a finding: a row of the list ``resource``, or the account ("").

    ``name`` and ``workspace`` are unescaped text of the gateway.
    """

    resource: str = ""
    identity: str = ""
    name: str = ""
    workspace_id: str | None = None
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class AccountFinding:
    """One finding: ``message`` is the observation and ``advice`` the fix, as sentences."""

    rule: str
    title: str
    severity: FindingSeverity
    subject: FindingSubject
    message: str
    advice: str = ""
    remedy: Remedy = ""
    about: str = ""
    """Why the finding matters."""

    @property
    def identity(self) -> str:
        """The identifier, made of rule and subject: the same in each evaluation."""
        subject = self.subject
        return ":".join((self.rule, subject.resource, subject.identity or subject.name))


class FindingDraft(NamedTuple):
    """The result of a rule for one subject; see ``FindingRule.evaluate``.

    An empty message means that data is missing; ``severity`` None means that of the rule.
    """

    subject: FindingSubject
    message: str = ""
    severity: FindingSeverity | None = None


Evaluate = Callable[[AccountFacts, datetime], Iterable[FindingDraft]]


@dataclass(frozen=True, slots=True)
class FindingRule:
    """A rule: ``about`` is why it matters, ``advice`` the fix, ``needs`` the parts that it reads.

    ``evaluate`` yields a draft for each subject with the problem, or with missing data.
    """

    id: str
    title: str
    severity: FindingSeverity
    about: str
    advice: str
    remedy: Remedy
    needs: tuple[Part, ...]
    evaluate: Evaluate


# Rules ------------------------------------------------------------------------------------------


def _called(key: ApiKey) -> str:
    return key.name or key.label or key.hash or "without a name"


def _subject(facts: AccountFacts, key: ApiKey, workspace_id: str) -> FindingSubject:
    space = key.workspace_id or workspace_id
    return FindingSubject("keys", key.hash or "", _called(key), space, facts.workspace_name(space))


def _keys_in_use(
    facts: AccountFacts, now: datetime
) -> Iterator[tuple[ApiKey, str, FindingSubject]]:
    """Yield key, workspace id and subject of all keys not known to be disabled or expired."""
    for workspace_id, keys in facts.keys.items():
        for key in keys:
            if not key.disabled and not is_expired(key.expires_at, now):
                yield key, workspace_id, _subject(facts, key, workspace_id)


def _no_limit(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
    for key, _, subject in _keys_in_use(facts, now):
        if key.sent_null("limit"):
            yield FindingDraft(subject, "The key has no spending limit.")
        elif key.limit is None:
            yield FindingDraft(subject)


def _unused(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
    since = now - facts.unused_days * _DAY
    for key, _, subject in _keys_in_use(facts, now):
        if key.last_used_at is not None:
            if key.last_used_at <= since:
                yield FindingDraft(subject, f"Last request {_day(key.last_used_at, now)}.")
            continue
        if not (key.sent_null("last_used_at") or _spent_nothing(key)):
            # A key with usage but without the time of its last request may be in use.
            yield FindingDraft(subject)
        elif key.created_at is None:
            yield FindingDraft(subject)
        elif key.created_at <= since:
            yield FindingDraft(subject, f"Never used; created {_day(key.created_at, now)}.")


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
                yield FindingDraft(subject)
        elif owner not in facts.people:
            who = safe_line(owner, _NAME)
            yield FindingDraft(subject, f"Created by {who}, who has left the organization.")


def _no_guardrail(facts: AccountFacts, now: datetime) -> Iterator[FindingDraft]:
    if facts.guardrails is None or facts.key_guardrails is None:
        return
    bound = {
        guardrail.workspace_id
        for guardrail in facts.guardrails
        if guardrail.is_default and guardrail.exists
    }
    for key, workspace_id, subject in _keys_in_use(facts, now):
        if key.hash in facts.key_guardrails or (key.workspace_id or workspace_id) in bound:
            continue
        if facts.member_guardrails is None:
            yield FindingDraft(subject)
        elif key.creator_user_id not in facts.member_guardrails:
            message = (
                "No guardrail applies: neither its own, its creator's nor the workspace default."
            )
            yield FindingDraft(subject, message)


def _duplicate_names(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
    for workspace_id, keys in facts.keys.items():
        named: dict[str, list[ApiKey]] = {}
        for key in keys:
            if key.name:
                named.setdefault(key.name.strip().casefold(), []).append(key)
        for alike in named.values():
            # The oldest keeps its name; a key of unknown age counts as the oldest.
            oldest = min(alike, key=_age)
            for key in alike:
                if key is not oldest:
                    other = safe_line(oldest.label or oldest.hash or "another key", _NAME)
                    message = (
                        f"{len(alike)} keys of the workspace have this name; {other} is older."
                    )
                    yield FindingDraft(_subject(facts, key, workspace_id), message)


def _age(key: ApiKey) -> float:
    return 0.0 if key.created_at is None else key.created_at.timestamp()


def _unassigned(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
    if facts.guardrails is None:
        return
    known = [facts.key_guardrails, facts.member_guardrails]
    assigned = {guardrail for held in known if held is not None for guardrail in held.values()}
    for guardrail in facts.guardrails:
        if guardrail.is_default or not guardrail.exists or guardrail.guardrail.id in assigned:
            continue
        subject = _guardrail(facts, guardrail)
        if None in known:
            yield FindingDraft(subject)
        else:
            yield FindingDraft(subject, "Not assigned to any key or member, so it has no effect.")


def _guardrail(facts: AccountFacts, guardrail: AccountGuardrail) -> FindingSubject:
    name = guardrail.guardrail.name or guardrail.guardrail.id or "without a name"
    where = facts.workspace_name(guardrail.workspace_id)
    return FindingSubject(
        "guardrails", guardrail.guardrail.id or "", name, guardrail.workspace_id, where
    )


def _no_budget(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
    for space in facts.workspaces:
        if space.id and facts.budgets.get(space.id) == ():
            name = facts.workspace_name(space.id)
            yield FindingDraft(
                FindingSubject("workspaces", space.id, name, space.id, name),
                "The workspace has no budget.",
            )


def _one_endpoint(facts: AccountFacts, _now: datetime) -> Iterator[FindingDraft]:
    for model, count in (facts.endpoints or {}).items():
        subject = FindingSubject("models", model, model)
        if count is None:
            yield FindingDraft(subject)
        elif count == 0:
            message = "Used in the last 30 days, but no endpoint offers it now."
            yield FindingDraft(subject, message, "warning")
        elif count == 1:
            message = "Used in the last 30 days; only one endpoint offers it."
            yield FindingDraft(subject, message)


RULES: tuple[FindingRule, ...] = (
    FindingRule(
        "owner-left",
        "Owner left",
        "critical",
        "A person who left may still hold a working key.",
        "Disable the key, or rotate it to a current member.",
        "disable",
        ("keys", "people"),
        _owner_left,
    ),
    FindingRule(
        "no-limit",
        "No limit",
        "warning",
        "If the key leaks, it can spend all credits.",
        "Set a limit, with a reset if the key is in constant use.",
        "limit",
        ("keys",),
        _no_limit,
    ),
    FindingRule(
        "no-guardrail",
        "No guardrail",
        "warning",
        "Nothing restricts which models and providers see its prompts.",
        "Assign a guardrail, or set up the workspace default.",
        "guardrail",
        ("keys", "guardrails", "assignments"),
        _no_guardrail,
    ),
    FindingRule(
        "no-budget",
        "No budget",
        "warning",
        "Nothing caps what the keys of the workspace spend together.",
        "Set a daily, weekly or monthly budget.",
        "budget",
        ("budgets",),
        _no_budget,
    ),
    FindingRule(
        "unused",
        "Unused",
        "notice",
        "An unused key is only a risk.",
        "Disable the key. You can enable it again if it is missed.",
        "disable",
        ("keys",),
        _unused,
    ),
    FindingRule(
        "duplicate-name",
        "Duplicate name",
        "notice",
        "A change by name may hit the wrong key.",
        "Rename the key.",
        "rename",
        ("keys",),
        _duplicate_names,
    ),
    FindingRule(
        "assigned-to-nothing",
        "Unassigned guardrail",
        "notice",
        "It looks like protection, but restricts nothing.",
        "Assign it, or delete it.",
        "delete",
        ("guardrails", "assignments"),
        _unassigned,
    ),
    FindingRule(
        "one-endpoint",
        "Single endpoint",
        "notice",
        "If the only endpoint fails, no other one takes over.",
        "Add a fallback model to requests, or use another model.",
        "",
        ("activity", "endpoints"),
        _one_endpoint,
    ),
)
"""All rules except the alert rules on keys."""


# Rules on single keys ---------------------------------------------------------------------------


def _key_rules(alert_rules: Mapping[str, AlertRule]) -> Iterator[FindingRule]:
    """Convert the enabled alert rules on keys to rules for findings."""
    on_keys = {
        identity: rule
        for identity, rule in alert_rules.items()
        if rule.enabled and isinstance(rule, KeyLimitRule | KeyExpiryRule)
    }
    for identity, rule in on_keys.items():
        overriding = [other for other in on_keys.values() if other.overrides(rule)]
        yield FindingRule(
            identity,
            rule.name,
            rule.severity,
            _sentence(rule.kind.about),
            rule.kind.advice,
            "limit" if isinstance(rule, KeyLimitRule) else "rotate",
            ("keys",),
            partial(_by_alert_rule, rule, overriding),
        )


def _by_alert_rule(
    rule: KeyLimitRule | KeyExpiryRule,
    overriding: Sequence[ConditionRule],
    facts: AccountFacts,
    now: datetime,
) -> Iterator[FindingDraft]:
    """Yield drafts for the keys on which ``rule`` fires and none of ``overriding`` does."""
    field = "limit" if isinstance(rule, KeyLimitRule) else "expires_at"
    for key, _, subject in _keys_in_use(facts, now):
        reading, name = key_reading(key, subject.workspace_id, now), ("key", key.hash or "")
        others = [other for other in overriding if other.watches(name, reading.facts)]
        value = rule.measure(reading)
        if not rule.watches(name, reading.facts) or any(other.is_bad(reading) for other in others):
            continue
        if value is None or (getattr(key, field) is None and not key.sent_null(field)):
            if not others:  # else an overriding rule says so
                yield FindingDraft(subject)
        elif rule.is_bad(reading):
            yield FindingDraft(subject, _sentence(rule.message(value, reading)))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


# Finding ----------------------------------------------------------------------------------------


def find(
    facts: AccountFacts, alert_rules: Mapping[str, AlertRule], now: datetime
) -> tuple[AccountFinding, ...]:
    """Evaluate all rules; returns the findings, most severe first."""
    rules = (*RULES, *_key_rules(alert_rules))
    findings = [finding for rule in rules for finding in _of_rule(rule, rule.evaluate(facts, now))]
    findings += [_unread(entry, rules) for entry in facts.unread]
    # Keys without a hash that have the same name are one finding.
    distinct = {entry.identity: entry for entry in findings}.values()
    return tuple(
        sorted(
            distinct,
            key=lambda entry: (
                SEVERITIES.index(entry.severity),
                entry.title,
                entry.subject.name.casefold(),
            ),
        )
    )


def _of_rule(rule: FindingRule, drafts: Iterable[FindingDraft]) -> Iterable[AccountFinding]:
    unknown: dict[str | None, list[FindingSubject]] = {}
    for draft in drafts:
        if not draft.message:
            unknown.setdefault(draft.subject.workspace_id, []).append(draft.subject)
            continue
        yield AccountFinding(
            rule.id,
            rule.title,
            draft.severity or rule.severity,
            draft.subject,
            draft.message,
            rule.advice,
            rule.remedy,
            rule.about,
        )
    for workspace_id, subjects in unknown.items():
        yield _not_given(rule, workspace_id, subjects)


def _not_given(
    rule: FindingRule, workspace_id: str | None, subjects: Sequence[FindingSubject]
) -> AccountFinding:
    names = [safe_line(subject.name, _NAME) for subject in subjects]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    first = subjects[0]
    return AccountFinding(
        rule.id,
        rule.title,
        "unknown",
        FindingSubject("", workspace_id or "", first.workspace, workspace_id, first.workspace),
        f"Unknown for {', '.join(names[:_NAMED])}{more}: the gateway does not report it.",
        "This may or may not be a problem.",
    )


def _unread(part: UnreadPart, rules: Sequence[FindingRule]) -> AccountFinding:
    skipped = [rule.title.lower() for rule in rules if part.part in rule.needs]
    name = "" if part.workspace is None else part.workspace.shown_name or ""
    identity = None if part.workspace is None else part.workspace.id
    where = f" of {safe_line(name, _NAME)}" if name else ""
    return AccountFinding(
        f"unread-{part.part}",
        "Unreadable",
        "unknown",
        FindingSubject("", identity or "", name, identity, name),
        f"The {part.part}{where} could not be read: {safe_line(part.why, 200)}",
        f"Not checked: {', '.join(skipped)}." if skipped else "",
    )
