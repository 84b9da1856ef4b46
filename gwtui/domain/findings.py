"""Findings: what a person should look at across the whole account, each found by one rule.

Pure: the rules (``domain/finding_rules.py``) get what was read and say what they found. What could
not be read, or was not given, is a finding of severity "unknown", never the absence of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from gwtui.contract.budgets import Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Workspace
from gwtui.domain.finding_thresholds import FindingThresholds
from gwtui.domain.safe_text import safe_line

FindingSeverity = Literal["critical", "warning", "unknown", "notice"]
SEVERITIES: tuple[FindingSeverity, ...] = get_args(FindingSeverity)
"""The gravest first: what is not known may be a warning, so it stands before a notice."""

Remedy = Literal["", "limit", "guardrail", "disable", "rotate", "rename", "delete", "budget"]
"""What mends it; empty where nothing that can be sent to the gateway does."""

Part = Literal["keys", "guardrails", "assignments", "people", "budgets", "activity", "endpoints"]
"""A part of the account that is read by itself, and may fail by itself."""

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

    def workspace_name(self, identity: str | None) -> str:
        """The workspace by its name, else by its id."""
        for space in self.workspaces:
            if space.id == identity:
                return space.name or space.slug or identity or ""
        return identity or ""


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


Judge = Callable[[AccountFacts, FindingThresholds, datetime], Iterable[FindingDraft]]


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


def find(
    rules: Sequence[FindingRule],
    facts: AccountFacts,
    thresholds: FindingThresholds,
    now: datetime,
) -> tuple[AccountFinding, ...]:
    """Everything that the rules find, the gravest first, and what they could not look at."""
    found = [
        finding for rule in rules for finding in _of_rule(rule, rule.judge(facts, thresholds, now))
    ]
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
